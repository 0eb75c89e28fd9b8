"""Functions of one number each, and for which types there are any."""

import numpy as np
import pytest

from everflow.native import scalars
from everflow.native.values import apply, input_value
from tests.native.expressions import compiled


@pytest.mark.parametrize(
    "function, dtype, known",
    [
        ("add", "f4", True),
        ("add", "b1", False),
        ("div", "i4", False),
        ("tanh", "i4", False),
        ("tanh", "f8", True),
        ("x", "f4", False),
    ],
)
def test_what_is_known(function, dtype, known):
    assert scalars.is_known(function, np.dtype(dtype)) is known


@pytest.mark.parametrize(
    "source, target",
    [
        ("f4", "f8"),
        ("f8", "f4"),
        ("i4", "i8"),
        ("i8", "i4"),
        ("u1", "i4"),
        ("i1", "f4"),
        ("b1", "f4"),
        ("f4", "b1"),
        ("i8", "b1"),
    ],
)
def test_conversions_are_those_of_numpy(source, target):
    x = np.array([0, 1, 2, 100, 0], source)
    value = input_value(0, source, [5]).cast(target)
    np.testing.assert_array_equal(compiled([value], [x])[0], x.astype(target))


def test_floats_beyond_short_integers_are_left_to_the_kernel():
    assert not scalars.can_convert(np.dtype("f4"), np.dtype("i2"))
    assert not scalars.can_convert(np.dtype("f4"), np.dtype("u1"))


@pytest.mark.parametrize("source", ["f4", "f8"])
@pytest.mark.parametrize("target", ["i4", "i8"])
def test_floats_without_their_fraction(source, target):
    inside = [0.5, -0.5, 2.7, -2.7, 2147483520.0, -2147483648.0]
    beyond = [1e19, -1e19, np.inf, -np.inf, np.nan]
    x = np.array(inside + beyond, source)
    [found] = compiled([input_value(0, source, [len(x)]).cast(target)], [x])
    np.testing.assert_array_equal(found[: len(inside)], np.trunc(inside).astype(target))
    np.testing.assert_array_equal(found[len(inside) :], np.iinfo(target).min)


@pytest.mark.parametrize("divisor", [1, 3, 7])
def test_whole_numbers_divided_and_rounded_down(divisor):
    x = np.arange(-20, 20, dtype="i4")
    value = input_value(0, "i4", [40])
    quotient, rest = compiled([apply("floor_div", value, divisor), apply("floor_mod", value, divisor)], [x])
    np.testing.assert_array_equal(quotient, x // divisor)
    np.testing.assert_array_equal(rest, x % divisor)
