"""Compiled regions beside numpy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from everflow.native import toolchain
from everflow.native.codegen import CHUNK, SHARED_WORK, Writer
from everflow.native.values import apply, const, input_value, select
from tests.native.expressions import Drawn, compare, compiled, evaluated

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_random_regions_have_the_bits_of_numpy(start):
    for seed in range(start, start + 10):
        compare(seed)


@pytest.mark.parametrize("shape", [(1,), (7,), (100, 3), (3, 1000), (CHUNK * 3 + 5,), (70_000, 2), (2, 70_000)])
@pytest.mark.parametrize("axes", [[0], [-1], None])
def test_sums_of_all_lengths_whatever_the_threads(shape, axes):
    x = RANDOM.randint(-9, 10, shape).astype("f4")
    value = input_value(0, "f4", shape)
    total = (value * value).reduce("sum", range(len(shape)) if axes is None else axes)
    [expected] = [evaluated(total, [x])]
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(compiled([total], [x], threads)[0], expected)


def test_threads_share_long_passes_and_change_no_bit():
    x = RANDOM.randn(SHARED_WORK // 20).astype("f4")
    value = input_value(0, "f4", x.shape)
    outputs = [apply("tanh", value * 1.5), apply("exp", value).reduce("sum", [0])]
    one, many = compiled(outputs, [x], 1), compiled(outputs, [x], 4)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[0], np.tanh(x * np.float32(1.5)), rtol=1e-6)


def test_regions_of_one_module_share_loops_and_keep_their_sizes():
    """Two passes that differ in their length only are one function; each is called with its own length."""
    writer = Writer()
    sizes = [SHARED_WORK, SHARED_WORK // 2, 5]
    entries = [writer.add([input_value(0, "f4", [n]) * 2.0 + 1.0], 1) for n in sizes]
    assert len(writer.functions) < len(sizes)
    file = toolchain.Loaded(toolchain.object_code(writer.text()), [e.name for e in entries])
    for size, entry in zip(sizes, entries, strict=True):
        x = np.arange(size, dtype="f4")
        guarded = np.full(size + 64, 77, "f4")
        file.function(entry.name)(x.ctypes.data, guarded.ctypes.data, 0, 2)
        np.testing.assert_array_equal(guarded[:size], x * 2 + 1)
        assert (guarded[size:] == 77).all()


def test_products_and_sums_round_one_by_one():
    x, y, z = (RANDOM.randn(1000).astype("f4") for _ in range(3))
    a, b, c = (input_value(i, "f4", [1000]) for i in range(3))
    np.testing.assert_array_equal(compiled([a * b + c], [x, y, z])[0], x * y + z)


@pytest.mark.parametrize("how, expected", [("max", [np.nan, 3, -np.inf, 2]), ("min", [np.nan, -1, -np.inf, 2])])
def test_extremes_pass_over_nan_unless_there_is_nothing_else(how, expected):
    x = np.array([[np.nan] * 3, [3, np.nan, -1], [-np.inf] * 3, [2, np.nan, np.nan]], "f4")
    value = input_value(0, "f4", x.shape)
    np.testing.assert_array_equal(compiled([value.reduce(how, [1])], [x])[0], np.array(expected, "f4"))


def test_comparisons_with_nan():
    x = np.array([np.nan, 1.0, np.nan], "f4")
    y = np.array([1.0, np.nan, np.nan], "f4")
    a, b = input_value(0, "f4", [3]), input_value(1, "f4", [3])
    outputs = [a < b, a.equals(b), a.differs(b), apply("maximum", a, b), apply("is_nan", a), apply("is_finite", a)]
    less, equal, differs, larger, nan, finite = compiled(outputs, [x, y])
    assert not less.any() and not equal.any() and differs.all()
    np.testing.assert_array_equal(larger, x)  # the first where they can't be compared
    assert nan.tolist() == [True, False, True] and finite.tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_numbers_of_all_types(dtype):
    x, y = (RANDOM.randint(0, 100, 33).astype(dtype) for _ in range(2))
    a, b = input_value(0, dtype, [33]), input_value(1, dtype, [33])
    outputs = [a + b, a - b, a * b, select(a > b, a, b), apply("minimum", a, b), a.cast("f8") + 1, a.differs(0)]
    for value, got in zip(outputs, compiled(outputs, [x, y]), strict=True):
        np.testing.assert_array_equal(got, evaluated(value, [x, y]))


def test_a_constant_alone_fills_its_output():
    assert compiled([const(3, "i4").expand([2, 2]) + input_value(0, "i4", [2, 2])], [np.ones((2, 2), "i4")])[
        0
    ].tolist() == [
        [4, 4],
        [4, 4],
    ]


def test_drawn_regions_have_something_in_them():
    assert sum(len(Drawn(seed).outputs) for seed in range(20)) > 30


def test_without_openmp_nothing_of_it_is_called():
    value = input_value(0, "f4", [SHARED_WORK])
    alone, shared = Writer(shares=False), Writer()
    for writer in (alone, shared):
        writer.add([value * 2.0], 1)
    assert "GOMP" in shared.text() and "GOMP" not in alone.text()


def test_code_is_the_same_in_every_process():
    """So that the second one finds what the first had made."""
    program = (
        "from everflow.native.codegen import Writer; from tests.native.expressions import Drawn; writer = Writer()\n"
        "for seed in range(30): drawn = Drawn(seed); writer.add(drawn.outputs, len(drawn.inputs))\n"
        "import hashlib; print(hashlib.sha256(writer.text().encode()).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1
