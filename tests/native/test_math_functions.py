"""The functions that native code is written with: how near they come, what they give at the edges, and what becomes of
them on several processors.
"""

from __future__ import annotations

import functools
import math
import platform
import re

import mpmath as mp
import numpy as np
import pytest

from everflow.native import polynomials
from everflow.native.math_functions import AS_TENSORFLOW, FUNCTIONS, SINGLE_PRECISION_ONLY
from tests.native import fit_polynomials, references
from tests.native.vector_loops import OF_TWO, TYPES, assembly, calls, compile_loop, compiled, machine

FLOAT, DOUBLE = np.float32, np.float64
BY_TYPE = [
    (name, dtype) for name in sorted(FUNCTIONS) for dtype in (FLOAT, DOUBLE) if (name, dtype) not in {
        (name, DOUBLE) for name in SINGLE_PRECISION_ONLY
    }
]  # fmt: skip
OF_ONE = [(name, dtype) for name, dtype in BY_TYPE if name not in OF_TWO]
MOST = {name: references.MOST.get(name, 2.0) for name in FUNCTIONS}


def samples(dtype: type, count: int, seed: int = 0) -> np.ndarray:
    """Any bit patterns, and values where functions bend, end or overflow."""
    random = np.random.RandomState(seed)
    greatest = 104.0 if dtype == FLOAT else 746.0
    info = np.finfo(dtype)
    edges = [
        0.0,
        0.5,
        0.625,
        1.0,
        1.5,
        2.0,
        greatest,
        info.tiny,
        info.smallest_subnormal,
        info.max,
        info.eps,
        1 - info.eps,
    ]
    parts = [
        np.frombuffer(random.bytes(count * np.dtype(dtype).itemsize), dtype),
        random.uniform(-greatest, greatest, count),
        random.uniform(-20, 20, count),
        random.uniform(-1.5, 1.5, count),
        random.uniform(0.99, 1.01, count),
        np.exp(random.uniform(-30, 5, count)) * random.choice([-1, 1], count),
        edges,
        np.negative(edges),
    ]
    x = np.concatenate([np.asarray(part, dtype) for part in parts])
    return x[np.isfinite(x)]


@pytest.mark.parametrize(
    "name", [name for name, dtype in OF_ONE if dtype == FLOAT and name not in SINGLE_PRECISION_ONLY]
)
def test_single_precision_against_double_precision(name):
    x = samples(FLOAT, 50_000)
    with np.errstate(all="ignore"):
        true = references.DOUBLE[name](x.astype(DOUBLE))
    off = references.units_off(compiled(name, FLOAT)(x), true)
    assert off.max() <= MOST[name] + 1e-6, x[off.argmax()]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, t) for n, t in OF_ONE if (t == DOUBLE or n in SINGLE_PRECISION_ONLY) and n not in references.ROUNDINGS],
)
def test_against_many_digits(name, dtype):
    x = samples(dtype, 300)
    if name in SINGLE_PRECISION_ONLY:
        near = np.random.RandomState(1).uniform(-10, 3, 1500).astype(dtype)
        x = np.concatenate([x[abs(x) < 1e5], near])
        x = x[(x > 0) | (x != np.floor(x))]
    if name == "erfinv":
        x = np.concatenate([x[abs(x) < 1], 1 - 2.0 ** -np.arange(1.0, 53.0)])
    if name == "rsqrt":
        x = x[x != 0]  # mpmath knows no signs of zeros
    if name in ("erf", "erfc"):
        x = x[abs(x) < 40]  # it takes mpmath long to find nothing
    got, true = compiled(name, dtype)(x), references.exact(name, x)
    off = references.units_off_exact(got, true)
    if name in SINGLE_PRECISION_ONLY:  # near a zero the error is not that small in proportion
        off[np.abs(got - np.array(true, float)) < 2e-14] = 0
    assert off.max() <= MOST[name], x[off.argmax()]


@pytest.mark.parametrize("name", references.ROUNDINGS)
def test_rounding_of_doubles(name):
    x = np.concatenate([samples(DOUBLE, 2000), np.arange(-4, 4, 0.25)])
    wanted = references.DOUBLE[name](x)
    np.testing.assert_array_equal(compiled(name, DOUBLE)(x).view(np.int64), wanted.view(np.int64))


@functools.cache
def nearest_to_quarter_turns(dtype: type) -> np.ndarray:
    """Of every third exponent the number that is nearest to a multiple of a quarter turn: by the continued fraction of a unit in
    its last place over a quarter turn.
    """
    info = np.finfo(dtype)
    found = []
    with mp.workdps(400):
        for exponent in range(-info.nmant, info.maxexp - info.nmant - 1, 3):  # the nearest of all among them
            rest = mp.ldexp(1, exponent) / (mp.pi / 2)
            before, denominator = 0, 1
            while True:
                rest = 1 / (rest - mp.floor(rest))
                before, denominator = denominator, int(mp.floor(rest)) * denominator + before
                if denominator >= 1 << (info.nmant + 1):
                    break
            found.append(math.ldexp(before, exponent))
    return np.array(found, dtype)


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_arguments_near_a_multiple_of_a_quarter_turn(name, dtype):
    """Of their reduction nothing but the last bits is left."""
    x = nearest_to_quarter_turns(dtype)
    off = references.units_off_exact(compiled(name, dtype)(x), references.exact(name, x))
    assert off.max() <= 2, x[off.argmax()]


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_powers(dtype):
    random = np.random.RandomState(0)
    x = np.exp(random.uniform(-1, 1, 3000) * random.choice([1e-3, 1, 80], 3000)).astype(dtype)
    y = (random.uniform(-1, 1, 3000) * random.choice([1, 10, 500, 1e5], 3000)).astype(dtype)
    subnormal = np.finfo(dtype).smallest_subnormal * np.arange(1, 50, dtype=dtype)
    x, y = np.concatenate([x, subnormal]), np.concatenate([y, random.uniform(-0.9, 0.9, 49).astype(dtype)])
    off = references.units_off_exact(compiled("pow", dtype)(x, y), references.exact("pow", x, y))
    assert off.max() <= 2, (x[off.argmax()], y[off.argmax()])


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_angles(dtype):
    random = np.random.RandomState(0)
    info = np.finfo(dtype)
    sizes = np.array([1, 1e3, info.tiny, info.max / 4, info.smallest_subnormal * 40], dtype)
    y, x = (random.randn(4000).astype(dtype) * random.choice(sizes, 4000) for _ in range(2))
    y, x = y[y != 0], x[y != 0]
    off = references.units_off_exact(compiled("atan2", dtype)(y, x), references.exact("atan2", y, x))
    assert off.max() <= 2, (y[off.argmax()], x[off.argmax()])


nan, inf = float("nan"), float("inf")
EDGES = [0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, -2.0]
# What TensorFlow 1.15.5 gives there, None for a usual number. Only its single precision root differs, which is an
# approximation that takes infinity for NaN and loses the sign of zero.
AT_EDGES = {
    "acos": [None, None, nan, nan, nan, 0.0, None, nan, nan],
    "acosh": [nan, nan, inf, nan, nan, 0.0, nan, None, nan],
    "asin": [0.0, -0.0, nan, nan, nan, None, None, nan, nan],
    "asinh": [0.0, -0.0, inf, -inf, nan, None, None, None, None],
    "atan": [0.0, -0.0, None, None, nan, None, None, None, None],
    "atanh": [0.0, -0.0, nan, nan, nan, inf, -inf, nan, nan],
    "ceil": EDGES,
    "cos": [1.0, 1.0, nan, nan, nan, None, None, None, None],
    "cosh": [1.0, 1.0, inf, inf, nan, None, None, None, None],
    "digamma": [inf, inf, inf, inf, nan, None, inf, None, inf],
    "erf": [0.0, -0.0, 1.0, -1.0, nan, None, None, None, None],
    "erfc": [1.0, 1.0, 0.0, 2.0, nan, None, None, None, None],
    "erfinv": [0.0, -0.0, nan, nan, nan, inf, -inf, nan, nan],
    "exp": [1.0, 1.0, inf, 0.0, nan, None, None, None, None],
    "expm1": [0.0, -0.0, inf, -1.0, nan, None, None, None, None],
    "floor": EDGES,
    "lgamma": [inf, inf, inf, inf, nan, 0.0, inf, 0.0, inf],
    "log": [-inf, -inf, inf, nan, nan, 0.0, nan, None, nan],
    "log1p": [0.0, -0.0, inf, nan, nan, None, -inf, None, nan],
    "rint": EDGES,
    "round": EDGES,
    "rsqrt": [inf, -inf, 0.0, nan, nan, 1.0, nan, None, nan],
    "sigmoid": [0.5, 0.5, 1.0, 0.0, nan, None, None, None, None],
    "sin": [0.0, -0.0, nan, nan, nan, None, None, None, None],
    "sinh": [0.0, -0.0, inf, -inf, nan, None, None, None, None],
    "softplus": [None, None, inf, 0.0, nan, None, None, None, None],
    "sqrt": [0.0, -0.0, inf, nan, nan, 1.0, nan, None, nan],
    "tan": [0.0, -0.0, nan, nan, nan, None, None, None, None],
    "tanh": [0.0, -0.0, 1.0, -1.0, nan, None, None, None, None],
}


@pytest.mark.parametrize(("name", "dtype"), OF_ONE)
def test_edges(name, dtype):
    results = compiled(name, dtype)(np.array(EDGES, dtype))
    for x, got, wanted in zip(EDGES, results, AT_EDGES[name], strict=True):
        if wanted is None:
            assert np.isfinite(got) and got != 0, x
        else:
            np.testing.assert_array_equal(got, dtype(wanted), err_msg=str(x))
            assert np.isnan(wanted) or np.signbit(got) == np.signbit(wanted), x


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
def test_edges_of_powers_and_angles(dtype):
    """As C has them, and TensorFlow."""
    edges = np.array([*EDGES, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30], dtype)
    first, second = (grid.ravel() for grid in np.meshgrid(edges, edges))
    with np.errstate(all="ignore"):
        for name, wanted in (("pow", np.power(first, second)), ("atan2", np.arctan2(first, second))):
            got = compiled(name, dtype)(first, second)
            np.testing.assert_allclose(got, wanted, rtol=4 * np.finfo(dtype).eps)
            number = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(wanted[number]))


PROCESSORS = {
    "haswell": ("x86_64-unknown-linux-gnu", r"\bymm"),
    "skylake-avx512": ("x86_64-unknown-linux-gnu", r"\b[yz]mm"),
    "neoverse-n1": ("aarch64-unknown-linux-gnu", r"\bv\d+\.(4s|2d)"),
}


@pytest.mark.parametrize("cpu", PROCESSORS)
def test_vectors_and_no_calls(cpu):
    """Nor is a product contracted with a sum."""
    triple, vector = PROCESSORS[cpu]
    target = machine(cpu, triple)
    for name, dtype in BY_TYPE:
        text = assembly(name, dtype, target)
        assert not calls(text), (name, dtype)
        assert re.search(vector, text), (name, dtype)
        assert not re.search(r"\bvfn?m(add|sub)|\bfml[as]\b|\bfn?m(add|sub)\b", text), (name, dtype)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs several processors in one")
@pytest.mark.parametrize(("name", "dtype"), BY_TYPE)
def test_same_bits_on_every_processor(name, dtype):
    x = samples(dtype, 2000)
    arguments = (x, x[::-1].copy()) if name in OF_TWO else (x,)
    here, old = (compiled(name, dtype, cpu)(*arguments) for cpu in ("", "x86-64"))
    same = (here.view(f"i{here.itemsize}") == old.view(f"i{old.itemsize}")) | (np.isnan(here) & np.isnan(old))
    assert same.all(), x[~same][:3]


AT = [-30, -17.5, -9, -4.5, -3, -1.25, -0.7, -0.1, -1e-3, 1e-3, 0.3, 0.625, 1, 1.7, 2.2, 3.3, 5.5, 7.75, 8.5, 16, 40]
# What TensorFlow 1.15.5 gives there, of the logarithms for the absolute values; its vectors of eight take part.
BITS_OF_TENSORFLOW = {
    "exp": "29d2b706 32d7b174 39016791 3c360282 3d4bed86 3e92b0c2 3efe406e 3f67a36d 3f7fbe7f 3f8020c9 3facc82c 3fef22af "
    "402df854 40af2a94 41106675 41d8e6ae 4374b122 45111928 45999627 4b07975f 5c51106a",
    "log": "4059ad38 40372e4d 400c9f54 3fc0859c 3f8c9f54 3e647fbe beb69e1a c0135d8e c0dd0c55 c0dd0c55 bf9a1bc8 bef0a451 "
    "00000000 3f07d741 3f49d858 3f98d273 3fda3530 40030d66 4008f6d8 40317218 406c169a",
    "expm1": "bf800000 bf800000 bf7ff7ea bf7d27f6 bf734128 bf36a79f bf00dfc9 bdc2e49a ba8301a9 3a832337 3eb320b3 3f5e455e "
    "3fdbf0a8 408f2a94 41006675 41d0e6ae 4373b122 45110928 45998e27 4b07975e 5c51106a",
    "log1p": "405bc672 403abcc1 40135d8e 3fda3530 3fb17218 3f4f991f 3f07d740 3dc331fc 3a8301ab 3a8301ab 3e86549d 3ef8947b "
    "3f317218 3f7e45c1 3f94e220 3fbab3e5 3fef9737 400ad1c7 4010152a 4035535e 406dab2a",
    "sigmoid": "00000000 00000000 39016800 3c340280 3d4241a0 3e640b82 3ea9e34c 3ef335ee 3effdf3b 3f001062 3f130eaa "
    "3f26bf31 3f3b26a8 3f5874f7 3f6676c2 3f76e4cf 3f7ef543 3f7fe3c8 3f7ff2ab 3f7fffff 3f800000",
    "softplus": "29d2b706 32d7b174 39015df5 3c350198 3d470382 3e80fcd8 3ece6e68 3f24f72e 3f315156 3f3192de 3f5ab706 "
    "3f86dfaa 3fa818f5 3fef139d 4013867c 4055849d 40b02169 40f80387 410800d5 41800000 42200000",
    "tanh": "bf800000 bf800000 bf800000 bf7fefd4 bf7ebbe8 bf59291f bf1ab7d9 bdcc1ebb ba83126b 3a83126b 3e9526ed 3f0dfa3f "
    "3f42f7d6 3f6f76f7 3f79ca4f 3f7f4def 3f7ffdd2 3f7ffffb 3f800000 3f800000 3f800000",
}


@pytest.mark.parametrize("name", BITS_OF_TENSORFLOW)
def test_bits_of_tensorflow(name):
    lower = AS_TENSORFLOW.get(name, FUNCTIONS[name])
    x = np.array(AT, FLOAT)
    got = compile_loop(lower, TYPES[x.dtype], 1)(abs(x) if name.startswith("log") else x)
    assert " ".join(f"{bits:08x}" for bits in got.view(np.uint32)) == BITS_OF_TENSORFLOW[name]


@pytest.mark.parametrize("name", AS_TENSORFLOW)
def test_forms_of_tensorflow_at_edges(name):
    x = np.array([0.0, -0.0, inf, -inf, nan, 1e-40, -1e-40], FLOAT)
    got = compile_loop(AS_TENSORFLOW[name], TYPES[x.dtype], 1)(x)
    with np.errstate(invalid="ignore"):
        wanted = references.DOUBLE[name](x.astype(DOUBLE))
    # Where a product on the way is subnormal, tanh has no more digits than that.
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-42)


def test_single_precision_only():
    for lower in (FUNCTIONS["lgamma"], AS_TENSORFLOW["tanh"]):
        with pytest.raises(TypeError, match="single precision only"):
            compile_loop(lower, TYPES[np.dtype(DOUBLE)], 1)


def test_every_function_is_tested():
    assert set(FUNCTIONS) == {*references.ONE_ARGUMENT, *OF_TWO} == {*AT_EDGES, *OF_TWO}
    assert set(references.SINGLE_ONLY) == SINGLE_PRECISION_ONLY


@pytest.mark.parametrize("name", ["EXP", "LOG", "SIN", "COS", "ATAN", "LOG_ERFC"])
def test_coefficients_are_those_of_the_fit(name):
    for bits, terms in getattr(polynomials, name).items():
        found, _ = fit_polynomials.remez(fit_polynomials.FITS[name], bits)
        np.testing.assert_allclose(np.array(found, float), terms, rtol=1e-11)
