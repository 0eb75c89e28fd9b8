"""FlatBuffers by a schema, as TensorFlow Lite's model files are made of; the package flatbuffers knows the bytes.

A schema is a text with a line for each table: `Name: field type, field type=default, ...`. Types are the scalars below,
`string`, another table, `[type]` for a vector of one of those, and `union NAME` for a field that holds one of several
tables; a union's own line is `NAME = Table Table ...`. A file that points outside itself is an error.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import flatbuffers
import numpy as np
from flatbuffers import number_types as numbers

SCALARS = {
    "bool": numbers.BoolFlags,
    "byte": numbers.Int8Flags,
    "ubyte": numbers.Uint8Flags,
    "short": numbers.Int16Flags,
    "int": numbers.Int32Flags,
    "uint": numbers.Uint32Flags,
    "float": numbers.Float32Flags,
    "long": numbers.Int64Flags,
    "ulong": numbers.Uint64Flags,
}


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
        # A line that is set in goes on with the one before.
        for line in text.strip().replace("\n    ", " ").splitlines():
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


def _default(kind: str, text: str) -> Any:
    if kind in SCALARS:
        number = float(text or 0) if kind == "float" else int(text or 0)
        return bool(number) if kind == "bool" else number
    return None


def read(data: bytes, schema: Schema, root: str, identifier: bytes) -> SimpleNamespace:
    """The root table of a file, with everything in it."""
    if len(data) < 8 or data[4:8] != identifier:
        raise FlatbufferError(f"the identifier {identifier.decode()!r} is not at the beginning; these are other data")
    reader = _Reader(bytes(data), schema)
    try:
        return reader.table(root, reader.file.Indirect(0))
    except (struct.error, TypeError, ValueError) as e:  # of offsets that lead out of the file
        raise FlatbufferError(f"the file is damaged: {e}") from e


class _Reader:
    def __init__(self, data: bytes, schema: Schema) -> None:
        self.schema = schema
        self.file = flatbuffers.Table(data, 0)  # places are counted from the file's beginning
        self.budget = len(data)  # tables can be shared: a small file must not unfold into a large one

    def table(self, name: str, at: int) -> SimpleNamespace:
        self.budget -= 1
        if self.budget < 0:
            raise FlatbufferError("the file has more tables than bytes")
        found, made = flatbuffers.Table(self.file.Bytes, at), self.schema.new(name)
        for field in self.schema.tables[name]:
            entry = 4 + 2 * field.slot
            place = found.Offset(entry)
            if not place:
                continue
            kind = field.kind
            if kind.startswith("union "):
                tables, tag = self.schema.unions[kind[6:]], found.GetSlot(entry - 2, 0, numbers.Uint8Flags)
                if not 0 < tag < len(tables):  # a later version's table is not understood, and its op will say so
                    continue
                kind = tables[tag]
            setattr(made, field.name, self.value(kind, at + place))
        return made

    def value(self, kind: str, at: int) -> Any:
        if kind in SCALARS:
            return self.file.Get(SCALARS[kind], at)
        if kind == "string":
            return self.file.GetVectorAsNumpy(numbers.Uint8Flags, at).tobytes().decode("utf-8", "replace")
        if not kind.startswith("["):
            return self.table(kind, self.file.Indirect(at))
        inner = kind[1:-1]
        if inner in SCALARS:
            return self.file.GetVectorAsNumpy(SCALARS[inner], at)
        first = self.file.Vector(at)
        return [self.value(inner, first + 4 * i) for i in range(self.file.VectorLen(at))]


def write(root: SimpleNamespace, schema: Schema, identifier: bytes) -> bytes:
    """The bytes of a file whose root is this table."""
    builder = flatbuffers.Builder()
    builder.Finish(_written(builder, schema, root._table, root), file_identifier=identifier)
    return bytes(builder.Output())


def _written(builder: flatbuffers.Builder, schema: Schema, kind: str, content: Any) -> int:
    """Where a string, vector or table lies, once it and all it points to are written."""
    if kind == "string":
        return builder.CreateString(content)
    if not kind.startswith("["):
        return _written_table(builder, schema, content)
    inner = kind[1:-1]
    if inner in SCALARS:
        items = np.ravel(np.asarray(content, numbers.to_numpy_type(SCALARS[inner])))
        if inner == "ubyte":
            # Weights are used where they lie in a file, by instructions that want them aligned.
            builder.Prep(16, items.size)
        return builder.CreateNumpyVector(items)
    places = [_written(builder, schema, inner, item) for item in content]
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    return builder.EndVector()


def _written_table(builder: flatbuffers.Builder, schema: Schema, table: SimpleNamespace) -> int:
    fields, places = schema.tables[table._table], {}
    for field in fields:
        content = getattr(table, field.name)
        if content is not None and field.kind not in SCALARS:
            kind = content._table if field.kind.startswith("union ") else field.kind
            places[field.slot] = _written(builder, schema, kind, content)
    builder.StartObject(fields[-1].slot + 1 if fields else 0)
    for field in fields:
        content = getattr(table, field.name)
        if field.kind in SCALARS:
            if content is not None:
                builder.PrependSlot(SCALARS[field.kind], field.slot, content, field.default)
        elif content is not None:
            if field.kind.startswith("union "):
                builder.PrependUint8Slot(field.slot - 1, schema.unions[field.kind[6:]].index(content._table), 0)
            builder.PrependUOffsetTRelativeSlot(field.slot, places[field.slot], 0)
    return builder.EndObject()
