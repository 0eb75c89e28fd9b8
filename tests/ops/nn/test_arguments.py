"""Short forms of strides, windows and paddings."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.nn.arguments import per_dimension, split_padding


@pytest.mark.parametrize(
    ("value", "spatial", "axis", "expected"),
    [
        (2, 2, 3, [1, 2, 2, 1]),
        (2, 2, 1, [1, 1, 2, 2]),
        (None, 2, 3, [1, 1, 1, 1]),
        ([2, 3], 2, 3, [1, 2, 3, 1]),
        ((2, 3), 2, 1, [1, 1, 2, 3]),
        ([1, 2, 3, 1], 2, 3, [1, 2, 3, 1]),
        (np.array([2]), 3, 4, [1, 2, 2, 2, 1]),
        (tf.TensorShape([2, 3]), 2, 3, [1, 2, 3, 1]),
        ([tf.Dimension(4)], 1, 2, [1, 4, 1]),
    ],
)
def test_one_number_for_each_dimension(value, spatial, axis, expected):
    assert per_dimension(value, spatial, axis, "strides") == expected


@pytest.mark.parametrize("value", [[], [1, 2, 3], [1, 2, 3, 4, 5]])
def test_other_numbers_of_them(value):
    with pytest.raises(ValueError, match="strides should be of length 1, 2 or 4"):
        per_dimension(value, 2, 3, "strides")


def test_paddings_by_name_and_by_pairs():
    assert split_padding("SAME") == ("SAME", [])
    assert split_padding([[0, 0], (1, 2), [3, 4], [0, 0]]) == ("EXPLICIT", [0, 0, 1, 2, 3, 4, 0, 0])


@pytest.mark.parametrize("padding", ["EXPLICIT", [], [[0, 0]] * 3, [[0, 0, 0]] * 4, [0] * 4])
def test_paddings_that_are_none(padding):
    with pytest.raises(ValueError):
        split_padding(padding)
