"""Expressions: equal ones are one, and what can't be said is refused before any code is made."""

import numpy as np
import pytest

from everflow.native.values import CONST, apply, const, input_value, number_of, select

X = input_value(0, "f4", [2, 3])


def test_equal_expressions_are_one_object():
    assert X * 2.0 + 1.0 is X * 2.0 + 1.0
    assert X * 2.0 is not X * 3.0


def test_zeros_of_both_signs_are_two_constants_and_nan_is_one():
    assert const(0.0, "f4") is not const(-0.0, "f4")
    assert const(np.nan, "f8") is const(np.nan, "f8")
    assert np.signbit(number_of(const(-0.0, "f4")))


def test_numbers_take_the_type_of_the_tensor_beside_them():
    assert (X + 1).dtype == np.float32
    assert (input_value(0, "i8", []) * 3).dtype == np.int64
    assert select(X > 0, 1, X).dtype == np.float32


def test_casts_of_constants_are_constants():
    assert const(2.7, "f4").cast("i4").kind == CONST
    assert number_of(const(2.7, "f4").cast("i4")) == 2


def test_operands_are_broadcast():
    assert apply("add", X, input_value(1, "f4", [3])).shape == (2, 3)
    assert (input_value(1, "f4", [4, 1, 1]) * X).shape == (4, 2, 3)


def test_views_that_change_nothing_are_none():
    assert X.reshape([2, 3]) is X
    assert X.permute([0, 1]) is X
    assert X.slice([0, 0], [2, 3]) is X
    assert X.expand([2, 3]) is X
    assert X.reshape([6]).reshape([2, 3]) is X


@pytest.mark.parametrize(
    "make",
    [
        lambda: X.reshape([7]),
        lambda: X.expand([3, 3]),
        lambda: X.permute([0, 0]),
        lambda: X.slice([1, 0], [2, 3]),
        lambda: X.slice([0, 0], [1, 4]),
        lambda: X.slice([1, 0], [2, 3], [-2, 1]),
        lambda: X + input_value(1, "f4", [4]),
    ],
)
def test_what_would_leave_the_memory_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_reductions_keep_axes_if_told():
    assert X.reduce("sum", [1]).shape == (2,)
    assert X.reduce("sum", [-1], keep=True).shape == (2, 1)
    assert X.reduce("sum", []) is X
