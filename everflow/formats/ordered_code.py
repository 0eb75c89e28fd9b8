"""Names of slices of variables as table keys: numbers and strings as bytes whose order is theirs."""

from __future__ import annotations

from collections.abc import Sequence


def encode_string(text: bytes) -> bytes:
    """A string, with zeros and 0xff escaped, and an end that sorts before any continuation."""
    out = bytearray()
    for byte in text:
        out += {0x00: b"\x00\xff", 0xFF: b"\xff\x00"}.get(byte) or bytes([byte])
    return bytes(out) + b"\x00\x01"


def encode_number(value: int) -> bytes:
    """A non-negative number: its length in bytes, then the bytes, high ones first."""
    body = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(body)]) + body


def encode_signed(value: int) -> bytes:
    """A signed 64-bit number in as few bytes as keep the order."""
    magnitude = ~value if value < 0 else value
    if magnitude < 64:
        return bytes([(0x80 ^ value) & 0xFF])
    # One bit of each byte goes to a prefix that tells the length; the sign's bits fill the rest.
    length = 1
    while magnitude >> (7 * length - 1):
        length += 1
    data = bytearray((value & ((1 << 80) - 1)).to_bytes(10, "big")[10 - length :])
    header = {
        1: (0x80, 0),
        2: (0xC0, 0),
        3: (0xE0, 0),
        4: (0xF0, 0),
        5: (0xF8, 0),
        6: (0xFC, 0),
        7: (0xFE, 0),
        8: (0xFF, 0),
        9: (0xFF, 0x80),
        10: (0xFF, 0xC0),
    }[length]
    data[0] ^= header[0]
    if length > 1:
        data[1] ^= header[1]
    return bytes(data)


def slice_key(name: str, starts_and_lengths: Sequence[tuple[int, int]]) -> bytes:
    """The key of a slice; a full dimension has start 0 and length -1."""
    key = encode_number(0) + encode_string(name.encode()) + encode_number(len(starts_and_lengths))
    for start, length in starts_and_lengths:
        key += encode_signed(start) + encode_signed(length)
    return key
