"""Murmur's 64-bit hash of byte strings: what functions are named by, and what the oldest bucketing op gives."""

from __future__ import annotations

import struct

_M = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995
SEED = 0xDECAFCAFFE


def murmur64(s: bytes, seed: int = SEED) -> int:
    """MurmurHash64A, under the seed that hashes start from where nothing else is said."""
    n = len(s)
    h = seed ^ n * _FACTOR & _M
    whole = n // 8 * 8
    for (k,) in struct.iter_unpack("<Q", s[:whole]):
        k = k * _FACTOR & _M
        k = (k ^ k >> 47) * _FACTOR & _M
        h = (h ^ k) * _FACTOR & _M
    if whole < n:
        h = (h ^ int.from_bytes(s[whole:], "little")) * _FACTOR & _M
    h = (h ^ h >> 47) * _FACTOR & _M
    return h ^ h >> 47


def combined(a: int, b: int) -> int:
    """The hash of what two hashes stand for, in this order."""
    return a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4)) & _M
