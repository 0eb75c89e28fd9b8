"""FlexBuffers, as far as custom ops need them: a map of an op's attributes, and a vector of strings."""

from __future__ import annotations

import struct

from flatbuffers import flexbuffers


class _Bytes(bytes):
    """Any bytes as a string: the builder takes text, of which it asks only that it can be encoded."""

    def encode(self, encoding):
        return bytes(self)


def encode_attributes(attributes: dict) -> bytes:
    """The plain attributes of an op (numbers, truths and strings) as a map."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in attributes.items():
            if isinstance(value, bytes):
                builder.String(key, _Bytes(value))
            elif isinstance(value, bool | int | float):
                builder.Key(key)
                builder.Add(value)
    return bytes(builder.Finish())


def encode_strings(values: list[bytes]) -> bytes:
    """A vector of byte strings."""
    builder = flexbuffers.Builder()
    with builder.Vector():
        for value in values:
            builder.String(_Bytes(value))
    return bytes(builder.Finish())


def decode_strings(data: bytes) -> list[bytes]:
    """What `encode_strings` encoded; ValueError where it is something else."""
    try:
        found = flexbuffers.GetRoot(data).AsVector
        return [found[i].AsStringBytes for i in range(len(found))]
    except (IndexError, TypeError, ValueError, struct.error) as e:
        raise ValueError(f"custom options are not a vector of strings: {e}") from e
