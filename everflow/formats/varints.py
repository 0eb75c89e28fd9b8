"""Numbers of variable length, seven bits a byte, low bits first; lists of strings, whose lengths are such numbers."""

from __future__ import annotations

from collections.abc import Sequence

from everflow.framework.errors import DataLossError


def encode(value: int) -> bytes:
    """A non-negative number as a varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """(number, position after it); DataLossError where the bytes end or the number has over 64 bits."""
    result = shift = 0
    while shift < 70:
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
    raise DataLossError(None, None, f"a number of variable length is cut off or too long at byte {position}")


def encode_strings(strings: Sequence[bytes]) -> bytes:
    """Strings as a tensor's content has them: all their lengths, then all their bytes."""
    return b"".join([*(encode(len(s)) for s in strings), *strings])


def decode_strings(data: bytes, count: int) -> list[bytes]:
    """So many strings; DataLossError where the bytes are not those of just these."""
    lengths, at, strings = [], 0, []
    for _ in range(count):
        length, at = decode(data, at)
        lengths.append(length)
    for length in lengths:
        strings.append(data[at : at + length])
        at += length
    if at != len(data):
        raise DataLossError(None, None, f"{count} strings end at byte {at} of {len(data)}")
    return strings
