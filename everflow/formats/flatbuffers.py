"""FlatBuffers: tables of fields at offsets, as TensorFlow Lite's model files are made of.

A schema is a text with a line for each table: `Name: field type, field type=default, ...`. Types are the scalars below, `string`, another table,
`[type]` for a vector of one of those, and `union NAME` for a field that holds one of several tables; a union's own line is `NAME = Table Table ...`.
What is read from a file is checked against its size before it is used.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

SCALARS = {"bool": "?", "byte": "b", "ubyte": "B", "short": "<h", "int": "<i", "uint": "<I", "float": "<f", "long": "<q", "ulong": "<Q"}
_NUMPY = {name: np.dtype(code) for name, code in SCALARS.items()}


class FlatbufferError(ValueError):
    """The bytes are not what the schema says."""


class Field:
    """One field of a table: where it stands, what it holds, and its value where it was left out."""

    def __init__(self, slot: int, name: str, kind: str, default: Any) -> None:
        self.slot, self.name, self.kind, self.default = slot, name, kind, default


class Schema:
    """The tables and unions of a format, from their text."""

    def __init__(self, text: str) -> None:
        self.tables: dict[str, list[Field]] = {}
        self.unions: dict[str, list[str]] = {}
        for line in text.strip().replace("\n    ", " ").splitlines():  # a line that is set in goes on with the one before
            name, colon, rest = line.partition(":")
            if colon:
                self.tables[name.strip()] = _fields(rest)
            else:
                name, _, rest = line.partition("=")
                self.unions[name.strip()] = ["", *rest.split()]

    def new(self, table: str, **values: Any) -> SimpleNamespace:
        """A table with these values, and defaults for the rest."""
        made = SimpleNamespace(_table=table, **{f.name: f.default for f in self.tables[table]})
        for name, value in values.items():
            if name not in made.__dict__:
                raise AttributeError(f"{table} has no field {name}")
            setattr(made, name, value)
        return made


def _fields(text: str) -> list[Field]:
    fields: list[Field] = []
    slot = 0
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, kind = item.split(" ", 1)
        kind, _, default = kind.partition("=")
        if kind.startswith("union "):
            slot += 1  # a union's tag takes the slot before it
        fields.append(Field(slot, name, kind, _default(kind, default)))
        slot += 1
    return fields


def _default(kind: str, text: str) -> float | None:
    if kind in SCALARS:
        number = float(text or 0) if kind == "float" else int(text or 0)
        return bool(number) if kind == "bool" else number
    return None


class _Reader:
    def __init__(self, data: bytes, schema: Schema) -> None:
        self.data, self.schema = data, schema
        self.budget = len(data)  # tables can be shared: a small file must not unfold into a large one

    def number(self, code: str, at: int) -> Any:
        if at < 0 or at + struct.calcsize(code) > len(self.data):
            raise FlatbufferError(f"an offset leads to byte {at} of {len(self.data)}")
        return struct.unpack_from(code, self.data, at)[0]

    def follow(self, at: int) -> int:
        return at + self.number("<I", at)

    def table(self, name: str, at: int) -> SimpleNamespace:
        self.budget -= 1
        if self.budget < 0:
            raise FlatbufferError("the file has more tables than bytes")
        layout = at - self.number("<i", at)
        size = self.number("<H", layout)
        made = self.schema.new(name)
        for field in self.schema.tables[name]:
            place = 4 + 2 * field.slot
            offset = self.number("<H", layout + place) if place + 2 <= size else 0
            if not offset:
                continue
            if field.kind.startswith("union "):
                tag_offset = self.number("<H", layout + place - 2)
                tag = self.number("B", at + tag_offset) if tag_offset else 0
                tables = self.schema.unions[field.kind[6:]]
                if 0 < tag < len(tables):  # a later version's table is not understood, and its op will say so
                    setattr(made, field.name, self.table(tables[tag], self.follow(at + offset)))
            else:
                setattr(made, field.name, self.value(field.kind, at + offset))
        return made

    def value(self, kind: str, at: int) -> Any:
        if kind in SCALARS:
            return self.number(SCALARS[kind], at)
        start = self.follow(at)
        if kind == "string":
            return self.vector(_NUMPY["ubyte"], start).tobytes().decode("utf-8", "replace")
        if not kind.startswith("["):
            return self.table(kind, start)
        inner = kind[1:-1]
        if inner in SCALARS:
            return self.vector(_NUMPY[inner], start)
        count = self.vector(_NUMPY["uint"], start).size
        return [self.value(inner, start + 4 + 4 * i) for i in range(count)]

    def vector(self, dtype: np.dtype, at: int) -> np.ndarray:
        count = self.number("<I", at)
        if count * dtype.itemsize > len(self.data) - at - 4:
            raise FlatbufferError(f"a vector of {count} items at byte {at} ends after the file's {len(self.data)} bytes")
        return np.frombuffer(self.data, dtype, count, at + 4)


def read(data: bytes, schema: Schema, root: str, identifier: bytes) -> SimpleNamespace:
    """The root table of a file, with everything in it."""
    if len(data) < 8 or data[4:8] != identifier:
        raise FlatbufferError(f"the identifier {identifier.decode()!r} is not at the beginning; these are other data")
    reader = _Reader(bytes(data), schema)
    return reader.table(root, reader.follow(0))


class _Entry(NamedTuple):
    """A field of a table that is written: its bytes, or what an offset leads to."""

    slot: int
    packed: bytes | None
    size: int
    kind: str = ""
    content: Any = None


class _Writer:
    """Writes front to back: a table first, then what it points to, whose place is then filled in."""

    def __init__(self, schema: Schema) -> None:
        self.out = bytearray()
        self.schema = schema
        self.layouts: dict[bytes, int] = {}  # tables with the same fields share the note of where these lie

    def align(self, size: int, ahead: int = 0) -> None:
        self.out.extend(bytes(-(len(self.out) + ahead) % size))

    def table(self, value: SimpleNamespace) -> int:
        entries: list[_Entry] = []
        for field in self.schema.tables[value._table]:
            content = getattr(value, field.name)
            if content is None or field.kind in SCALARS and content == field.default:
                continue
            if field.kind in SCALARS:
                packed = struct.pack(SCALARS[field.kind], content)
                entries.append(_Entry(field.slot, packed, len(packed)))
            elif field.kind.startswith("union "):
                tag = self.schema.unions[field.kind[6:]].index(content._table)
                entries.append(_Entry(field.slot - 1, bytes([tag]), 1))
                entries.append(_Entry(field.slot, None, 4, content._table, content))
            else:
                entries.append(_Entry(field.slot, None, 4, field.kind, content))
        slots = 1 + max((entry.slot for entry in entries), default=-1)
        offsets, end = [0] * slots, 4
        for slot, _, size, _, _ in sorted(entries, key=lambda entry: -entry.size):
            end += -end % size
            offsets[slot] = end
            end += size
        layout = struct.pack(f"<{2 + slots}H", 4 + 2 * slots, end, *offsets)
        if layout not in self.layouts:
            self.align(2)
            self.layouts[layout] = len(self.out)
            self.out.extend(layout)
        self.align(max([4, *(entry.size for entry in entries)]))
        at = len(self.out)
        self.out.extend(struct.pack("<i", at - self.layouts[layout]).ljust(end, b"\0"))
        for entry in entries:
            place = at + offsets[entry.slot]
            if entry.packed is not None:
                self.out[place : place + entry.size] = entry.packed
            else:
                self.point(place, self.object(entry.kind, entry.content))
        return at

    def point(self, place: int, target: int) -> None:
        struct.pack_into("<I", self.out, place, target - place)

    def object(self, kind: str, content: Any) -> int:
        if kind == "string":
            at = self.vector(np.frombuffer(content.encode(), np.uint8), 4)
            self.out.append(0)
            return at
        if not kind.startswith("["):
            return self.table(content)
        inner = kind[1:-1]
        if inner in SCALARS:
            # Weights are used where they lie in a file, by instructions that want them aligned.
            return self.vector(np.ascontiguousarray(content, _NUMPY[inner]), 16 if inner == "ubyte" else _NUMPY[inner].itemsize)
        at = self.vector(np.zeros(len(content), "<u4"), 4)
        for i, item in enumerate(content):
            self.point(at + 4 + 4 * i, self.object(inner, item))
        return at

    def vector(self, items: np.ndarray, alignment: int) -> int:
        self.align(max(4, alignment), 4)
        at = len(self.out)
        self.out.extend(struct.pack("<I", items.size))
        self.out.extend(items.tobytes())
        return at


def write(root: SimpleNamespace, schema: Schema, identifier: bytes) -> bytes:
    """The bytes of a file whose root is this table."""
    writer = _Writer(schema)
    writer.out.extend(bytes(4) + identifier)
    writer.point(0, writer.table(root))
    writer.align(4)
    return bytes(writer.out)
