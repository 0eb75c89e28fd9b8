"""Ragged values of arrays."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS

pytestmark = pytest.mark.usefixtures("own_graph")


def test_values_as_arrays():
    value = tf.ragged.constant_value(DEEP)
    assert value.shape == (3, None, None) and value.ragged_rank == 2 and value.to_list() == DEEP
    assert [s.tolist() for s in value.nested_row_splits] == [
        [0, 2, 2, 3],
        [0, 1, 3, 5],
    ] and value.flat_values.tolist() == [1, 2, 3, 4, 5]
    assert str(tf.ragged.constant_value(ROWS)) == "<tf.RaggedTensorValue [[1, 2], [], [3, 4, 5]]>"


V = tf.ragged.RaggedTensorValue


def test_of_arrays_alone():
    value = V(np.array([1, 2, 3]), np.array([0, 2, 3]))
    assert value.to_list() == [[1, 2], [3]] and value.dtype == np.array([1]).dtype and value.shape == (2, None)
    assert V(np.zeros((2, 3)), np.array([0, 1, 2])).shape == (2, None, 3)


@pytest.mark.parametrize(
    ("values", "splits", "error"),
    [
        ([1, 2], np.array([0, 2]), TypeError),
        (np.array([1, 2]), [0, 2], TypeError),
        (np.array([1, 2]), np.array([0.0, 2.0]), TypeError),
        (np.array([1, 2]), np.array([[0, 2]]), (TypeError, ValueError)),
    ],
)
def test_what_is_no_value(values, splits, error):
    with pytest.raises(error):
        V(values, splits)


def test_splits_of_one_type():
    inner = V(np.array([1]), np.array([0, 1], np.int32))
    with pytest.raises(ValueError):
        V(inner, np.array([0, 1], np.int64))
