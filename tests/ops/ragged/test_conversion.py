"""Ragged tensors from dense and sparse ones, and back."""

import numpy as np
import pytest

import everflow as tf

R = tf.RaggedTensor


ROWS = [[1, 2], [], [3, 4, 5]]


DEEP = [[[1], [2, 3]], [], [[4, 5]]]


pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetch, feed=None):
    with tf.Session() as session:
        value = session.run(fetch, feed)
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else np.asarray(value).tolist()


# expression → (value, static shape)
TABLE = {
    "R.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])": ([[1], [3, 4]], "(2, ?)"),
    "R.from_tensor([[1, 0], [0, 0], [0, 4]], padding=0)": ([[1], [], [0, 4]], "(3, ?)"),
    "R.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2)": ([[[1, 2], [3, 4]]], "(1, ?, ?)"),
    "R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]))": ([[1, 2], [], [3], []], "(4, ?)"),
    "rows.to_tensor(-1)": ([[1, 2, -1], [-1, -1, -1], [3, 4, 5]], "(3, ?)"),
    "deep.to_tensor()": ([[[1, 0], [2, 3]], [[0, 0], [0, 0]], [[4, 5], [0, 0]]], "(3, ?, ?)"),
    "tf.sparse_tensor_to_dense(rows.to_sparse())": ([[1, 2, 0], [0, 0, 0], [3, 4, 5]], "(?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))
