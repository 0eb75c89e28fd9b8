"""Ragged tensors made of values and rows, and what they tell of themselves."""

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
    "R.from_row_splits([1, 2, 3], [0, 2, 3])": ([[1, 2], [3]], "(2, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)": ([[1, 2], [], [3], []], "(4, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_lengths([1, 2, 3], [2, 0, 1])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_starts([1, 2, 3], [0, 2, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_limits([1, 2, 3], [2, 2, 3])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]])": ([[[1], [2, 3]], []], "(2, ?, ?)"),
    "rows.row_lengths()": ([2, 0, 3], "(3,)"),
    "deep.row_lengths(axis=2)": ([[1, 2], [], [2]], "(3, ?)"),
    "rows.value_rowids()": ([0, 0, 2, 2, 2], "(?,)"),
    "deep.bounding_shape()": ([3, 2, 2], "(3,)"),
    "deep.with_flat_values(tf.constant([5, 4, 3, 2, 1]))": ([[[5], [4, 3]], [], [[2, 1]]], "(3, ?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


@pytest.mark.parametrize(
    "build",
    [
        lambda: R.from_row_splits([1, 2, 3], [0, 2]),
        lambda: R.from_row_splits([1, 2, 3], [1, 3]),
        lambda: R.from_row_lengths([1, 2, 3], [5, 1]),
        lambda: R.from_value_rowids([1, 2], [1, 0]),
        lambda: tf.ragged.constant(ROWS) + tf.ragged.constant([[1], [2, 3], [4, 5]]),
    ],
)
def test_rows_that_do_not_add_up_raise_when_they_run(build):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(build())


def test_what_is_refused():
    rows = tf.ragged.constant(ROWS)
    for wrong in (
        lambda: tf.ragged.constant([[1], 2]),
        lambda: tf.ragged.constant([[1]], ragged_rank=3),
        lambda: R([1], [0, 1]),
        lambda: rows[:, 0],
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        tf.convert_to_tensor(rows)
