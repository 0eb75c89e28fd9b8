"""Ragged values of arrays."""

import pytest

import everflow as tf

ROWS = [[1, 2], [], [3, 4, 5]]


DEEP = [[[1], [2, 3]], [], [[4, 5]]]


pytestmark = pytest.mark.usefixtures("own_graph")


def test_values_as_arrays():
    value = tf.ragged.constant_value(DEEP)
    assert value.shape == (3, None, None) and value.ragged_rank == 2 and value.to_list() == DEEP
    assert [s.tolist() for s in value.nested_row_splits] == [
        [0, 2, 2, 3],
        [0, 1, 3, 5],
    ] and value.flat_values.tolist() == [1, 2, 3, 4, 5]
    assert str(tf.ragged.constant_value(ROWS)) == "<tf.RaggedTensorValue [[1, 2], [], [3, 4, 5]]>"
