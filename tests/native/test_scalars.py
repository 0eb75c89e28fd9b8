"""Functions of one number each, and for which types there are any."""

import numpy as np
import pytest

from everflow.native import scalars
from everflow.native.values import input_value
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


def test_floats_beyond_the_integers_are_left_to_the_kernel():
    assert not scalars.can_convert(np.dtype("f4"), np.dtype("i4"))
