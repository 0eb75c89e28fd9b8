"""Element-wise functions and operators on rows."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "rows + rows": ([[2, 4], [], [6, 8, 10]], "(3, ?)"),
    "1 - rows": ([[0, -1], [], [-2, -3, -4]], "(3, ?)"),
    "rows * tf.constant([[1], [2], [3]])": ([[1, 2], [], [9, 12, 15]], "(3, ?)"),
    "rows < 3": ([[True, True], [], [False] * 3], "(3, ?)"),
    "tf.square(rows)": ([[1, 4], [], [9, 16, 25]], "(3, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


_ROWS = [[3, 1, 4], [], [1, 5]]


_ROW_FUNCTIONS = {
    "greater": (lambda rt: tf.greater(rt, 2), [[True, False, True], [], [False, True]]),
    "the other way round": (lambda rt: tf.subtract(10, rt), [[7, 9, 6], [], [9, 5]]),
    "two ragged": (lambda rt: tf.maximum(rt, rt * 2 - 3), [[3, 1, 5], [], [1, 7]]),
    "a column": (lambda rt: tf.add(rt, [[100], [200], [300]]), [[103, 101, 104], [], [301, 305]]),
    "truediv": (lambda rt: tf.truediv(rt, 2), [[1.5, 0.5, 2.0], [], [0.5, 2.5]]),
    "bits": (lambda rt: tf.bitwise.bitwise_and(rt, 1), [[1, 1, 0], [], [1, 1]]),
    "text": (lambda rt: tf.strings.length(tf.as_string(rt * 9)), [[2, 1, 2], [], [1, 2]]),
    "clip": (lambda rt: tf.clip_by_value(rt, 2, 4), [[3, 2, 4], [], [2, 4]]),
    "one hot": (lambda rt: tf.one_hot(rt[2:] - 1, 2, dtype=tf.int32), [[[1, 0], [0, 0]]]),
    "zeros": (tf.zeros_like, [[0, 0, 0], [], [0, 0]]),
}


@pytest.mark.parametrize("name", _ROW_FUNCTIONS)
def test_functions_of_tensors_on_rows(name):
    function, expected = _ROW_FUNCTIONS[name]
    with tf.Session() as sess:
        found = sess.run(function(tf.ragged.constant(_ROWS)))
    assert (found.to_list() if hasattr(found, "to_list") else np.asarray(found).tolist()) == expected


def test_truth_and_logic():
    with pytest.raises(TypeError):
        bool(tf.ragged.constant(ROWS))
    yes = tf.ragged.constant([[True, False], [True]])
    assert run(~yes) == [[False, True], [False]] and run(yes & yes) == [[True, False], [True]]
    assert run(yes ^ True) == [[False, True], [False]] and run(True | yes) == [[True, True], [True]]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda r: -r, [[-1, -2], [], [-3, -4, -5]]),
        (lambda r: abs(-r), ROWS),
        (lambda r: 7 // r, [[7, 3], [], [2, 1, 1]]),
        (lambda r: r % 2, [[1, 0], [], [1, 0, 1]]),
        (lambda r: 2**r, [[2, 4], [], [8, 16, 32]]),
        (lambda r: r / 2, [[0.5, 1.0], [], [1.5, 2.0, 2.5]]),
        (lambda r: r >= 3, [[False, False], [], [True] * 3]),
    ],
)
def test_operators(build, expected):
    assert run(build(tf.ragged.constant(ROWS))) == expected
