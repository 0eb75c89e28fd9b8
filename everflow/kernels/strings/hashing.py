"""Hashes of byte strings whose values models depend on: FarmHash's 64-bit fingerprint, SipHash-2-4."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

_M = (1 << 64) - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F

_Word = TypeVar("_Word", int, np.ndarray)  # 64 bits, or an array of them


def _u64(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _u32(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")


def _rotate(x: _Word, right: int) -> _Word:
    x = x & _M
    return x >> right | x << 64 - right & _M


def _shift_mix(x: int) -> int:
    x &= _M
    return x ^ x >> 47


def _pair(u: int, v: int, multiplier: int) -> int:
    a = _shift_mix((u ^ v) * multiplier)
    return _shift_mix((v ^ a) * multiplier) * multiplier & _M


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n >= 8:
        m = _K2 + n * 2
        a, b = _u64(s, 0) + _K2 & _M, _u64(s, n - 8)
        return _pair(_rotate(b, 37) * m + a & _M, (_rotate(a, 25) + b) * m & _M, m)
    if n >= 4:
        return _pair(n + (_u32(s, 0) << 3), _u32(s, n - 4), _K2 + n * 2)
    if n:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return _shift_mix(y * _K2 & _M ^ z * _K0 & _M) * _K2 & _M
    return _K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    m = _K2 + n * 2
    a, b, c, d = _u64(s, 0) * _K1 & _M, _u64(s, 8), _u64(s, n - 8) * m & _M, _u64(s, n - 16) * _K2 & _M
    return _pair(_rotate(a + b, 43) + _rotate(c, 30) + d & _M, a + _rotate(b + _K2, 18) + c & _M, m)


def _up_to_64(s: bytes) -> int:
    n = len(s)
    m = _K2 + n * 2
    a, b, c, d = _u64(s, 0) * _K2 & _M, _u64(s, 8), _u64(s, n - 8) * m & _M, _u64(s, n - 16) * _K2 & _M
    y = _rotate(a + b, 43) + _rotate(c, 30) + d & _M
    z = _pair(y, a + _rotate(b + _K2, 18) + c & _M, m)
    e, f = _u64(s, 16) * m & _M, _u64(s, 24)
    g, h = (y + _u64(s, n - 32)) * m & _M, (z + _u64(s, n - 24)) * m & _M
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h & _M, e + _rotate(f + a, 18) + g & _M, m)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = struct.unpack_from("<4Q", s, at)
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return a + z & _M, b + c & _M


def fingerprint64(s: bytes) -> int:
    """FarmHash's 64-bit fingerprint, which never changes."""
    return _fingerprint_short(s) if len(s) <= 64 else _fingerprint_long(s)


@lru_cache(maxsize=1 << 16)  # categories come again and again
def _fingerprint_short(s: bytes) -> int:
    n = len(s)
    return _up_to_16(s) if n <= 16 else _up_to_32(s) if n <= 32 else _up_to_64(s)


def _fingerprint_long(s: bytes) -> int:
    n = len(s)
    seed = 81
    x, y = seed, seed * _K1 + 113 & _M
    z = _shift_mix(y * _K2 + 113) * _K2 & _M
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _u64(s, 0) & _M
    end = (n - 1) // 64 * 64

    def step(at: int, k: int, nine: int) -> None:
        nonlocal x, y, z, v, w
        x = _rotate(x + y + v[0] + _u64(s, at + 8), 37) * k & _M
        y = _rotate(y + v[1] + _u64(s, at + 48), 42) * k & _M
        x ^= w[1] * nine & _M
        y = y + v[0] * nine + _u64(s, at + 40) & _M
        z = _rotate(z + w[0], 33) * k & _M
        v = _weak(s, at, v[1] * k, x + w[0])
        w = _weak(s, at + 32, z + w[1], y + _u64(s, at + 16))
        z, x = x, z

    for at in range(0, end, 64):
        step(at, _K1, 1)
    m = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + (n - 1 & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0] & _M, w[1])
    v = (v[0] & _M, v[1])
    step(n - 64, m, 9)
    return _pair(_pair(v[0], w[0], m) + _shift_mix(y) * _K0 + z & _M, _pair(v[1], w[1], m) + x & _M, m)


def fingerprint128(s: bytes) -> tuple[int, int]:
    """FarmHash's 128-bit fingerprint: its low and its high half."""
    if len(s) >= 16:
        return _with_seed(s[16:], _u64(s, 0), _u64(s, 8) + _K0 & _M)
    return _with_seed(s, _K0, _K1)


def _of_two(u: int, v: int) -> int:
    return _pair(u, v, 0x9DDFEA08EB382D69)


def _with_seed(s: bytes, low: int, high: int) -> tuple[int, int]:
    return _short_with_seed(s, low, high) if len(s) < 128 else _long_with_seed(s, low, high)


def _short_with_seed(s: bytes, a: int, b: int) -> tuple[int, int]:
    n = len(s)
    if n <= 16:
        a = _shift_mix(a * _K1) * _K1 & _M
        c = b * _K1 + _up_to_16(s) & _M
        d = _shift_mix(a + (_u64(s, 0) if n >= 8 else c))
    else:
        c = _of_two(_u64(s, n - 8) + _K1 & _M, a)
        d = _of_two(b + n & _M, c + _u64(s, n - 16) & _M)
        a = a + d & _M
        for at in range(0, n - 16, 16):
            a = (a ^ _shift_mix(_u64(s, at) * _K1) * _K1 & _M) * _K1 & _M
            b ^= a
            c = (c ^ _shift_mix(_u64(s, at + 8) * _K1) * _K1 & _M) * _K1 & _M
            d ^= c
    a, b = _of_two(a, c), _of_two(d, b)
    return a ^ b, _of_two(b, a)


def _long_with_seed(s: bytes, x: int, y: int) -> tuple[int, int]:
    n = len(s)
    z = n * _K1 & _M
    first = _rotate(y ^ _K1, 49) * _K1 + _u64(s, 0) & _M
    v = (first, _rotate(first, 42) * _K1 + _u64(s, 8) & _M)
    w = (_rotate(y + z, 35) * _K1 + x & _M, _rotate(x + _u64(s, 88), 53) * _K1 & _M)
    whole = n // 128 * 128
    for at in range(0, whole, 64):
        x = _rotate(x + y + v[0] + _u64(s, at + 8), 37) * _K1 & _M
        y = _rotate(y + v[1] + _u64(s, at + 48), 42) * _K1 & _M
        x ^= w[1]
        y = y + v[0] + _u64(s, at + 40) & _M
        z = _rotate(z + w[0], 33) * _K1 & _M
        v = _weak(s, at, v[1] * _K1, x + w[0])
        w = _weak(s, at + 32, z + w[1], y + _u64(s, at + 16))
        z, x = x, z
    x = x + _rotate(v[0] + z, 49) * _K0 & _M
    y = y * _K0 + _rotate(w[1], 37) & _M
    z = z * _K0 + _rotate(w[0], 27) & _M
    v, w = (v[0] * _K0 & _M, v[1]), (w[0] * 9 & _M, w[1])
    # What is left is hashed from the end, in pieces of 32 bytes that may reach back.
    for at in range(n - 32, whole - 32, -32):
        y = _rotate(x + y, 42) * _K0 + v[1] & _M
        w = (w[0] + _u64(s, at + 16) & _M, w[1])
        x = x * _K0 + w[0] & _M
        z = z + w[1] + _u64(s, at) & _M
        w = (w[0], w[1] + v[0] & _M)
        v = _weak(s, at, v[0] + z, v[1])
        v = (v[0] * _K0 & _M, v[1])
    x = _of_two(x, v[0])
    y = _of_two(y + z & _M, w[0])
    return _of_two(x + v[1] & _M, w[1]) + y & _M, _of_two(x + w[1] & _M, y + v[1] & _M)


def siphash(s: bytes, key: Sequence[int]) -> int:
    """SipHash-2-4 under a 128-bit key."""
    return _siphash(struct.unpack(f"<{len(s) // 8 + 1}Q", _sip_blocks(s)), key)


def siphashes(strings: Sequence[bytes], key: Sequence[int]) -> np.ndarray:
    """SipHash-2-4 of each string, as uint64. Strings of equally many blocks go through the rounds together."""
    groups: dict[int, list[int]] = {}
    for at, s in enumerate(strings):
        groups.setdefault(len(s) // 8, []).append(at)
    hashes = np.empty(len(strings), np.uint64)
    for whole, positions in groups.items():
        members = [strings[at] for at in positions]
        if len(members) < _WORTH_A_BATCH:
            hashes[positions] = np.array([siphash(s, key) for s in members], np.uint64)
        else:
            words = np.frombuffer(b"".join(map(_sip_blocks, members)), "<u8").astype(np.uint64).reshape(-1, whole + 1)
            hashes[positions] = _siphash(words.T.copy(), key)
    return hashes


# A numpy operation on few values takes about as long as one of Python's on so many numbers.
_WORTH_A_BATCH = 24


def _sip_blocks(s: bytes) -> bytes:
    """The string filled up to whole blocks of 8 bytes, the last of which ends with its length."""
    return s.ljust(len(s) // 8 * 8 + 7, b"\0") + bytes([len(s) & 0xFF])


def _siphash(blocks: Iterable[_Word], key: Sequence[int]) -> _Word:
    """A string's blocks as numbers, or those of many strings as arrays: all steps are the same for both."""
    k0, k1 = (k & _M for k in key)
    # Arrays from the first block on, where the blocks are.
    v0: Any = k0 ^ 0x736F6D6570736575
    v1: Any = k1 ^ 0x646F72616E646F6D
    v2: Any = k0 ^ 0x6C7967656E657261
    v3: Any = k1 ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = v0 + v1 & _M
            v1 = _rotate(v1, 51) ^ v0
            v0 = _rotate(v0, 32)
            v2 = v2 + v3 & _M
            v3 = _rotate(v3, 48) ^ v2
            v0 = v0 + v3 & _M
            v3 = _rotate(v3, 43) ^ v0
            v2 = v2 + v1 & _M
            v1 = _rotate(v1, 47) ^ v2
            v2 = _rotate(v2, 32)

    for block in blocks:
        v3 = v3 ^ block
        rounds(2)
        v0 = v0 ^ block
    v2 = v2 ^ 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3
