"""Rows, columns and slices of ragged tensors."""

import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


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


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("rows[:, ::2]", [[1], [], [3, 5]]),
        ("rows[:, ::-1]", [[], [], []]),  # as TensorFlow 1.15 has it
        ("rows[:, :0]", [[1, 2], [], [3, 4, 5]]),
        ("rows[:, -2:-1]", [[1], [], [4]]),
        ("rows[::-1]", [[3, 4, 5], [], [1, 2]]),
        ("rows[..., 1:]", [[2], [], [4, 5]]),
        ("rows[..., ...]", ROWS),
        ("deep[0, ..., ...]", [[1], [2, 3]]),
        ("rows[tf.constant(2)]", [3, 4, 5]),
        ("rows[tf.constant(1):, tf.constant(1):]", [[], [4, 5]]),
        ("deep[0, 1]", [2, 3]),
        ("deep[0, 1, 0]", 2),
        ("deep[:, :1, :1]", [[[1]], [], [[4]]]),
        ("rows[:, tf.newaxis]", [[[1, 2]], [[]], [[3, 4, 5]]]),
    ],
)
def test_more_keys(expression, value):
    names = {"tf": tf, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    assert run(eval(expression, names)) == value


@pytest.mark.parametrize("expression", ["rows[:, 0]", "rows[0, ..., ...]", "deep[:, 0]", "deep[:, :, 0]"])
def test_keys_that_pick_nothing(expression):
    names = {"rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    with pytest.raises(ValueError):
        eval(expression, names)


def test_rows_that_are_not_there():
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        run(tf.ragged.constant(ROWS)[7])
