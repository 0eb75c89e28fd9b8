"""Blocks of record files: which records lie in one, with their checksums looked at."""

from __future__ import annotations

from everflow.native.loops.hashes import word
from everflow.native.loops.words import I64, P8, P32, P64, U64, crc32c_of_word

_AROUND = 16  # bytes around a record: its length, the checksums of that and of the record
_START = 12  # where it begins
_ONES = 0xFFFFFFFF
_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8


def _of_byte(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_of_byte, range(256)))


def masked_crc32c(s: P8, n: I64) -> I64:
    """The checksum of bytes, as files hold it."""
    crc = U64(_ONES)
    at = 0
    while at + 8 <= n:
        crc = crc32c_of_word(crc, word(s, at))
        at += 8
    while at < n:
        crc = U64(_TABLE[I64(crc & 0xFF) ^ s[at]]) ^ crc >> 8
        at += 1
    crc = crc ^ _ONES
    return I64(((crc >> 15 | crc << 17) + _MASK) & _ONES)


def scan(block: P8, n: I64, spans: P64, most: I64) -> I64:
    """The (start, size) of each record that is whole and right, up to `most` of them; gives how many.

    Then comes what is not whole, or wrong, or the end.
    """
    at = 0
    found = 0
    while found < most and at + _AROUND <= n:
        length = P64(block + at)[0]
        if length < 0 or length > n - at - _AROUND or masked_crc32c(block + at, 8) != P32(block + at + 8)[0]:
            break
        record = block + at + _START
        if masked_crc32c(record, length) != P32(record + length)[0]:
            break
        spans[2 * found] = at + _START
        spans[2 * found + 1] = length
        found += 1
        at += length + _AROUND
    return found


EXPORTED = [scan]
