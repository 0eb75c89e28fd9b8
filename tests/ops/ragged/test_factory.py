"""Ragged constants and placeholders."""

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
    "rows": (ROWS, "(3, ?)"),
    "deep": (DEEP, "(3, ?, ?)"),
    "tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)": ([[[1, 2]], [[3, 4], [5, 6]]], "(2, ?, 2)"),
    "tf.ragged.constant([[], []])": ([[], []], "(2, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


def test_fed_and_fetched_with_others():
    p = tf.ragged.placeholder(tf.int32, 1)
    value = tf.ragged.constant_value([[1], [2, 3]], dtype=np.int32)
    with tf.Session() as session:
        both = session.run({"next": p + 1, "rows": [p]}, {p: value})
    assert both["next"].to_list() == [[2], [3, 4]] and both["rows"][0].to_list() == [[1], [2, 3]]
