"""FlexBuffers, as far as custom ops need them: a map of an op's attributes, and a vector of strings. Every value takes as many bytes as the widest."""

from __future__ import annotations

import struct

_INT, _FLOAT, _STRING, _MAP, _VECTOR, _BOOL = 1, 3, 5, 9, 10, 26
_WIDTHS = {1: ("b", 0), 4: ("i", 2), 8: ("q", 3)}


def encode_attributes(attributes: dict) -> bytes:
    """The plain attributes of an op (numbers, truths and strings) as a map."""
    return encode_map({k: v for k, v in attributes.items() if isinstance(v, bool | int | float | bytes)})


def encode_map(values: dict) -> bytes:
    """A map from strings to numbers, truths and bytes."""
    width = 1 if all(isinstance(v, bool) for v in values.values()) else 8
    code, bits = _WIDTHS[width]
    out = bytearray()
    keys, strings = {}, {}
    for key, value in values.items():
        keys[key] = len(out)
        out.extend(key.encode() + b"\0")
        if isinstance(value, bytes):
            _align(out, width)
            out.extend(struct.pack("<" + code, len(value)))
            strings[key] = len(out)
            out.extend(value + b"\0")
    names = sorted(values)

    def offset(target):
        out.extend(struct.pack("<" + code, len(out) - target))

    _align(out, width)
    out.extend(struct.pack("<" + code, len(names)))
    at_keys = len(out)
    for name in names:
        offset(keys[name])
    offset(at_keys)
    out.extend(struct.pack(f"<2{code}", width, len(names)))
    root, types = len(out), bytearray()
    for name in names:
        value = values[name]
        if isinstance(value, int):
            out.extend(struct.pack("<" + code, value))
        elif isinstance(value, float):
            out.extend(struct.pack("<d", value))
        else:
            offset(strings[name])
        kind = _BOOL if isinstance(value, bool) else _INT if isinstance(value, int) else _FLOAT if isinstance(value, float) else _STRING
        types.append(kind << 2 | bits)
    out.extend(types)
    out.append(len(out) - root)
    out.extend([_MAP << 2 | bits, 1])
    return bytes(out)


def _align(out: bytearray, width: int) -> None:
    out.extend(bytes(-len(out) % width))


def encode_strings(values: list[bytes]) -> bytes:
    """A vector of byte strings."""
    width = next(w for w in (1, 2, 4) if sum(map(len, values)) + 16 * (len(values) + 2) < 1 << 8 * w)
    out, starts = bytearray(), []
    for value in values:
        _align(out, width)
        out.extend(len(value).to_bytes(width, "little"))
        starts.append(len(out))
        out.extend(value + b"\0")
    _align(out, width)
    out.extend(len(values).to_bytes(width, "little"))
    root = len(out)
    for start in starts:
        out.extend((len(out) - start).to_bytes(width, "little"))
    bits = width.bit_length() - 1
    out.extend([_STRING << 2 | bits] * len(values))
    out.extend((len(out) - root).to_bytes(width, "little"))
    out.extend([_VECTOR << 2 | bits, width])
    return bytes(out)


def decode_strings(data: bytes) -> list[bytes]:
    """What `encode_strings` encoded; ValueError where it is something else."""

    def number(at, width):
        if width not in (1, 2, 4, 8) or at < 0 or at + width > len(data):
            raise ValueError("custom options point outside themselves")
        return int.from_bytes(data[at : at + width], "little")

    if len(data) < 3 or data[-2] >> 2 != _VECTOR:
        raise ValueError("custom options are not a vector of strings")
    end = len(data) - 2 - data[-1]
    root, width = end - number(end, data[-1]), 1 << (data[-2] & 3)
    count = number(root - width, width)
    if count > len(data):
        raise ValueError("custom options are cut off")
    found = []
    for i in range(count):
        at = root + i * width
        start = at - number(at, width)
        kind = number(root + count * width + i, 1)
        size = number(start - (1 << (kind & 3)), 1 << (kind & 3))
        if kind >> 2 != _STRING or start < 0 or start + size > len(data):
            raise ValueError("custom options are not a vector of strings")
        found.append(bytes(data[start : start + size]))
    return found
