"""FlexBuffers, as far as custom ops need them: a map of an op's attributes. Every value takes as many bytes as the widest."""

from __future__ import annotations

import struct

_INT, _FLOAT, _STRING, _MAP, _BOOL = 1, 3, 5, 9, 26
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
        if isinstance(value, bool):
            out.extend(struct.pack("<" + code, value))
        elif isinstance(value, int):
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
