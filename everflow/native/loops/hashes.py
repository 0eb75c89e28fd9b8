"""Hashes of byte strings: FarmHash's 64-bit fingerprint, Murmur's 64-bit hash, SipHash-2-4.

`kernels/strings/hashing.py` has the same for Python.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER, cells, is_bytes, size, text
from everflow.native.loops.words import I64, P8, P32, P64, PU64, U64, stack

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F
_SEED = 81
_MURMUR_SEED = 0xDECAFCAFFE
_MURMUR = 0xC6A4A7935BD1E995
_SIP0, _SIP1, _SIP2, _SIP3 = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573


def word(s: P8, at: I64) -> U64:
    return PU64(s + at)[0]


def half(s: P8, at: I64) -> U64:
    return U64(P32(s + at)[0])


def rotate(x: U64, right: U64) -> U64:
    return x >> right | x << (64 - right)


def shift_mix(x: U64) -> U64:
    return x ^ x >> 47


def pair(u: U64, v: U64, multiplier: U64) -> U64:
    a = shift_mix((u ^ v) * multiplier)
    return shift_mix((v ^ a) * multiplier) * multiplier


def up_to_16(s: P8, n: I64) -> U64:
    m = U64(n) * 2 + _K2
    if n >= 8:
        a = word(s, 0) + _K2
        b = word(s, n - 8)
        return pair(rotate(b, 37) * m + a, (rotate(a, 25) + b) * m, m)
    if n >= 4:
        return pair(U64(n) + (half(s, 0) << 3), half(s, n - 4), m)
    if n > 0:
        y = U64(s[0] + (s[n >> 1] << 8))
        z = U64(n + (s[n - 1] << 2))
        return shift_mix(y * _K2 ^ z * _K0) * _K2
    return _K2


def up_to_32(s: P8, n: I64) -> U64:
    m = U64(n) * 2 + _K2
    a = word(s, 0) * _K1
    b = word(s, 8)
    c = word(s, n - 8) * m
    d = word(s, n - 16) * _K2
    return pair(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + _K2, 18) + c, m)


def up_to_64(s: P8, n: I64) -> U64:
    m = U64(n) * 2 + _K2
    a = word(s, 0) * _K2
    b = word(s, 8)
    c = word(s, n - 8) * m
    d = word(s, n - 16) * _K2
    y = rotate(a + b, 43) + rotate(c, 30) + d
    z = pair(y, a + rotate(b + _K2, 18) + c, m)
    e = word(s, 16) * m
    f = word(s, 24)
    g = (y + word(s, n - 32)) * m
    h = (z + word(s, n - 24)) * m
    return pair(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, m)


def weak_first(s: P8, at: I64, a: U64) -> U64:
    return a + word(s, at) + word(s, at + 8) + word(s, at + 16) + word(s, at + 24)


def weak_second(s: P8, at: I64, a: U64, b: U64) -> U64:
    c = a + word(s, at)
    turned = rotate(b + c + word(s, at + 24), 21)
    return turned + rotate(c + word(s, at + 8) + word(s, at + 16), 44) + c


def fingerprint(s: P8, n: I64) -> U64:
    """FarmHash's 64-bit fingerprint."""
    if n <= 16:
        return up_to_16(s, n)
    if n <= 32:
        return up_to_32(s, n)
    if n <= 64:
        return up_to_64(s, n)
    x = U64(_SEED)
    y = U64(_SEED) * _K1 + 113
    z = shift_mix(y * _K2 + 113) * _K2
    v0 = U64(0)
    v1 = U64(0)
    w0 = U64(0)
    w1 = U64(0)
    x = x * _K2 + word(s, 0)
    k = U64(_K1)
    nine = U64(1)
    at = 0
    end = (n - 1) // 64 * 64
    while True:
        if at == end:  # the last 64 bytes, some of them for the second time, go through a round of their own
            k = _K1 + ((z & 0xFF) << 1)
            nine = U64(9)
            w0 = w0 + U64((n - 1) & 63)
            v0 = v0 + w0
            w0 = w0 + v0
            at = n - 64
            end = -1
        x = rotate(x + y + v0 + word(s, at + 8), 37) * k
        y = rotate(y + v1 + word(s, at + 48), 42) * k
        x = x ^ w1 * nine
        y = y + v0 * nine + word(s, at + 40)
        z = rotate(z + w0, 33) * k
        a = v1 * k
        b = x + w0
        v0 = weak_first(s, at, a)
        v1 = weak_second(s, at, a, b)
        a = z + w1
        b = y + word(s, at + 16)
        w0 = weak_first(s, at + 32, a)
        w1 = weak_second(s, at + 32, a, b)
        swapped = z
        z = x
        x = swapped
        if end < 0:
            break
        at += 64
    return pair(pair(v0, w0, k) + shift_mix(y) * _K0 + z, pair(v1, w1, k) + x, k)


def murmur(s: P8, n: I64) -> U64:
    """MurmurHash64A with the seed of the oldest bucketing op."""
    h = _MURMUR_SEED ^ U64(n) * _MURMUR
    at = 0
    while at + 8 <= n:
        h = (h ^ shift_mix(word(s, at) * _MURMUR) * _MURMUR) * _MURMUR
        at += 8
    if at < n:
        h = (h ^ last_bytes(s + at, n - at)) * _MURMUR
    return shift_mix(shift_mix(h) * _MURMUR)


def last_bytes(s: P8, n: I64) -> U64:
    """Fewer than eight bytes as a number."""
    found = U64(0)
    while n > 0:
        n -= 1
        found = found << 8 | U64(s[n])
    return found


def sip_rounds(v: PU64, count: I64) -> None:
    for _ in range(count):
        v[0] = v[0] + v[1]
        v[1] = rotate(v[1], 51) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = v[2] + v[3]
        v[3] = rotate(v[3], 48) ^ v[2]
        v[0] = v[0] + v[3]
        v[3] = rotate(v[3], 43) ^ v[0]
        v[2] = v[2] + v[1]
        v[1] = rotate(v[1], 47) ^ v[2]
        v[2] = rotate(v[2], 32)


def sip_block(v: PU64, block: U64) -> None:
    v[3] = v[3] ^ block
    sip_rounds(v, 2)
    v[0] = v[0] ^ block


def siphash(v: PU64, s: P8, n: I64, k0: U64, k1: U64) -> U64:
    """SipHash-2-4 under a 128-bit key; `v` is room for its state."""
    v[0] = k0 ^ _SIP0
    v[1] = k1 ^ _SIP1
    v[2] = k0 ^ _SIP2
    v[3] = k1 ^ _SIP3
    at = 0
    while at + 8 <= n:
        sip_block(v, word(s, at))
        at += 8
    sip_block(v, last_bytes(s + at, n - at) | U64(n) << 56)
    v[2] = v[2] ^ 0xFF
    sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# --- over arrays: the hash of each string modulo the number of buckets; 0 buckets give the hashes themselves.


def bucket(hash: U64, buckets: U64) -> I64:
    return I64(hash) if buckets == 0 else I64(hash % buckets)


def fingerprints(array: P8, count: I64, out: P64, buckets: U64) -> I64:
    given = cells(array)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        out[i] = bucket(fingerprint(text(s), size(s)), buckets)
    return 0


def murmurs(array: P8, count: I64, out: P64, buckets: U64) -> I64:
    given = cells(array)
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        out[i] = bucket(murmur(text(s), size(s)), buckets)
    return 0


def siphashes(array: P8, count: I64, out: P64, buckets: U64, k0: U64, k1: U64) -> I64:
    given = cells(array)
    v = PU64(stack(32))
    for i in range(count):
        s = given[i]
        if is_bytes(s) == 0:
            return OTHER
        out[i] = bucket(siphash(v, text(s), size(s), k0, k1), buckets)
    return 0


EXPORTED = [fingerprints, murmurs, siphashes]
