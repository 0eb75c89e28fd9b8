"""The language of compiled loops: what its statements do, and what is refused."""

from __future__ import annotations

import ctypes
import math

import pytest

from everflow.native.loops import compiling, translation
from everflow.native.loops.words import (
    F32,
    F64,
    I64,
    P8,
    P32,
    P64,
    PF64,
    U64,
    bits_of,
    copy,
    float_of,
    leading_zeros,
    stack,
    upper_product,
)

TABLE = (3, -1, 4, 1 << 62)
TEXT = b"text"
LARGE = 0xFFFFFFFFFFFFFFFF


def arithmetic(a: I64, b: I64) -> I64:
    """Signed numbers are those of the machine."""
    return (a + b * 3 - 1) ^ (a & b) | (a >> 1) + (b << 2) + a // 7 + a % 7


def unsigned(a: U64, b: U64) -> U64:
    return a // b + (a >> 3) + a % b + U64(a > b)


def loops(n: I64) -> I64:
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        for j in range(i, 2 * i):
            if j > 20:
                break
            total += j
    while total > 1000:
        total -= 1 if total % 2 == 0 else 7
    return total


def conditions(a: I64, p: P64) -> I64:
    """The second part is looked at only where the first holds."""
    if a >= 0 and p[a] > 2 or a == -5:
        return 1
    if not (a < 0) and 0 <= a < 2:
        return 2
    return 3


def tables(i: I64) -> I64:
    return TABLE[i] + TEXT[i]


def memory(out: P8) -> I64:
    room = stack(16)
    P32(room)[1] = -1
    room[0] = 300
    copy(out, room, 8)
    return P32(room)[1] + (room + 4)[0]


def floats(x: F64, out: PF64) -> F64:
    out[0] = F64(F32(x))
    out[1] = float_of(bits_of(x) ^ 1)
    out[2] = F64(I64(x)) / 3.0
    return -x * 2.0 if x < 10.0 else x


def machine(a: U64, b: U64) -> U64:
    return upper_product(a, b) + U64(leading_zeros(a))


def wrapped(a: I64) -> U64:
    return U64(a) + LARGE


FUNCTIONS = [arithmetic, unsigned, loops, conditions, tables, memory, floats, machine, wrapped]


@pytest.fixture(scope="module")
def made():
    return compiling.compiled(FUNCTIONS)


def test_whole_numbers(made):
    for a, b in ((5, 9), (1000, 3), (0, 0), (12345678, 1 << 40)):
        assert made.arithmetic(a, b) == arithmetic(a, b)
        assert made.unsigned(a, b + 1) == a // (b + 1) + (a >> 3) + a % (b + 1) + (a > b + 1)
    # What comes back is a number with a sign.
    assert made.unsigned((1 << 64) - 1, 2) % (1 << 64) == ((1 << 64) - 1) // 2 + (((1 << 64) - 1) >> 3) + 2
    assert made.arithmetic(-7, 2) == (-7 + 6 - 1) ^ (-7 & 2) | (-4 + 8 - 1 + 0)
    assert made.wrapped(5) == 4
    assert made.machine(1 << 60, 1 << 10) == (1 << 6) + 3


def test_control_flow(made):
    assert [made.loops(n) for n in (0, 5, 40, 400)] == [loops(n) for n in (0, 5, 40, 400)]
    places = (ctypes.c_int64 * 4)(1, 9, 0, 3)
    assert [made.conditions(a, ctypes.addressof(places)) for a in (-5, -1, 0, 1, 2, 3)] == [1, 3, 2, 1, 3, 1]


def test_memory(made):
    assert [made.tables(i) for i in range(4)] == [tables(i) for i in range(4)]
    out = (ctypes.c_uint8 * 8)()
    assert made.memory(ctypes.addressof(out)) == 0xFFFFFFFF + 255
    assert out[0] == 300 - 256 and bytes(out[4:]) == b"\xff" * 4


def test_floats(made):
    out = (ctypes.c_double * 3)()
    assert made.floats(0.1, ctypes.addressof(out)) == -0.2
    assert out[0] == ctypes.c_float(0.1).value and out[2] == 0.0
    assert out[1] in (math.nextafter(0.1, 0), math.nextafter(0.1, 1))
    assert made.floats(20.5, ctypes.addressof(out)) == 20.5 and out[2] == 20 / 3.0


def mixed(a: I64, b: U64) -> I64:
    return a + b


def changed_type(a: I64) -> I64:
    b = a
    b = float_of(U64(a))
    return b


def unknown(a: I64) -> I64:
    return nowhere(a)  # noqa: F821


def number_as_truth(a: I64) -> I64:
    return 1 if a else 0


def too_few(a: I64) -> U64:
    return upper_product(U64(a))


def with_list(a: I64) -> I64:
    return [a][0]


def with_try(a: I64) -> I64:
    try:
        return a
    finally:
        pass


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (mixed, "I64 and U64"),
        (changed_type, "b is I64 and can't be F64"),
        (unknown, "no such function"),
        (number_as_truth, "a comparison is wanted"),
        (too_few, "2 arguments are wanted"),
        (with_list, "no such expression"),
        (with_try, "no such statement"),
    ],
)
def test_what_is_not_in_the_language(function, message):
    with pytest.raises(translation.TranslationError, match=message):
        translation.Module([function])
