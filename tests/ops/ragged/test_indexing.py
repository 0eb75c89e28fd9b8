"""Rows, columns and slices of ragged tensors."""

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
    "rows[-1]": ([3, 4, 5], "(3,)"),
    "rows[0, 1]": (2, "()"),
    "rows[1:]": ([[], [3, 4, 5]], "(2, ?)"),
    "rows[:, -1:]": ([[2], [], [5]], "(3, ?)"),
    "rows[:, :2]": ([[1, 2], [], [3, 4]], "(3, ?)"),
    "rows[tf.newaxis]": ([ROWS], "(1, ?, ?)"),
    "deep[0]": ([[1], [2, 3]], "(2, ?)"),
    "deep[:, :, :1]": ([[[1], [2]], [], [[4]]], "(3, ?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))
