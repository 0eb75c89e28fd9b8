"""What a nest computes, beside numpy, and which nests are one function."""

import numpy as np
import pytest

from everflow.native.codegen import Writer
from everflow.native.nest_code import CHUNK, LONG_WORK
from everflow.native.values import Value, apply, input_value, put, select, take
from tests.native.expressions import compiled, evaluated

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("shape", [(1,), (7,), (100, 3), (3, 1000), (CHUNK * 3 + 5,), (70_000, 2), (2, 70_000)])
@pytest.mark.parametrize("axes", [[0], [-1], None])
def test_sums_of_all_lengths_whatever_the_threads(shape, axes):
    x = RANDOM.randint(-9, 10, shape).astype("f4")
    value = input_value(0, "f4", shape)
    total = (value * value).reduce("sum", range(len(shape)) if axes is None else axes)
    [expected] = [evaluated(total, [x])]
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(compiled([total], [x], threads)[0], expected)


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


def functions(*regions: list[Value]) -> int:
    writer = Writer(shares=False)
    for outputs in regions:
        writer.add(outputs, 2)
    return len(writer.functions)


def test_nests_that_differ_in_nothing_but_their_length_are_one_function():
    short, long = (input_value(0, "f4", [n, 8]) for n in (64, 96))
    assert functions([short * 2.0], [long * 2.0], [short * 2.0]) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: x * 3.0,
        lambda x, y: x + x,
        lambda x, y: y * 2.0,
        lambda x, y: x.permute([1, 0]) * 2.0,
        lambda x, y: x.slice([0, 1], [8, 7]) * 2.0,
        lambda x, y: (x * 2.0).cast(np.dtype("i4")),
        lambda x, y: x * y,
        lambda x, y: x * x.reduce("sum", [0]),
    ],
    ids=["constant", "function", "same for another input", "strides", "offset", "type", "operands", "reduction"],
)
def test_nests_that_differ_otherwise_are_not(make, request):
    x, y = (input_value(i, "f4", [8, 8]) for i in range(2))
    expected = 1 if "another input" in request.node.callspec.id else 3 if "reduction" in request.node.callspec.id else 2
    assert functions([x * 2.0], [make(x, y)]) == expected


def test_long_chains_go_several_vectors_at_once():
    def text(size: int) -> str:
        writer = Writer()
        writer.add([apply("tanh", input_value(0, "f4", [size]))], 1)
        return writer.text()

    assert '"llvm.loop.interleave.count", i32 4' in text(LONG_WORK)
    assert '"llvm.loop.interleave.count", i32 4' not in text(1 << 10)


def test_entries_at_places_that_are_computed():
    table, places = RANDOM.randn(5, 4).astype("f4"), RANDOM.randint(0, 20, [3, 7])
    made = take(input_value(0, "f4", [5, 4]) * 2.0, input_value(1, "i8", [3, 7]))
    np.testing.assert_array_equal(compiled([made + 1.0], [table, places])[0], (table * 2).ravel()[places] + 1)


def test_entries_are_put_one_after_the_other():
    held, places = np.zeros(6, "f4"), np.array([3, 1, 3, 3])
    target, at = input_value(0, "f4", [6]), input_value(1, "i8", [4])
    changed = put(target, at, take(target, at, now=True) * 2.0 + 1.0)
    assert compiled([], [held, places], updates=[(changed, target)])[0].tolist() == [0, 1, 0, 7, 0, 0]
