"""Functions of tensors that take ragged ones: on their values, or through a form of their own."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.array import ragged_rows

pytestmark = pytest.mark.usefixtures("own_graph")


def run(ragged):
    with tf.Session() as session:
        return session.run(ragged).to_list()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.negative, [[-1, -2], [], [-3]]),
        (tf.zeros_like, [[0, 0], [], [0]]),
        (lambda x: tf.clip_by_value(x, 2, 2), [[2, 2], [], [2]]),
        (lambda x: tf.add(x, 1), [[2, 3], [], [4]]),
        (lambda x: tf.add(1, x), [[2, 3], [], [4]]),
        (lambda x: tf.add(x=x, y=x), [[2, 4], [], [6]]),
        (lambda x: tf.one_hot(x, 2, on_value=1, off_value=0), [[[0, 1], [0, 0]], [], [[0, 0]]]),
    ],
)
def test_element_wise_functions_keep_the_rows(function, expected):
    assert run(function(tf.ragged.constant([[1, 2], [], [3]]))) == expected


def test_forms_take_the_place_of_functions():
    x = tf.ragged.constant([[1, 2], [3]])
    assert run(tf.concat([x, x], axis=0)) == [[1, 2], [3], [1, 2], [3]]
    assert run(tf.tile(x, [1, 2])) == [[1, 2, 1, 2], [3, 3]]
    assert run(tf.where(tf.ragged.constant([[True, False], [True]]), x, x * 10)) == [[1, 20], [3]]


def test_a_form_is_only_for_composite_values():
    assert ragged_rows.ragged_form("tile", tf.constant(1), 2) is None
    assert ragged_rows.ragged_form("tile", tf.ragged.constant([[1]])) is not None
    assert ragged_rows.ragged_form("no such function", tf.ragged.constant([[1]])) is None


def test_decorated_functions_keep_their_name_and_plain_values():
    @ragged_rows.takes_ragged(operands=2)
    def scaled(x, y, by=2):
        """Doc."""
        return (x + y) * by

    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Doc.")
    assert scaled(1, 2, by=3) == 9
    x = tf.ragged.constant([[1, 2], [3]])
    assert run(scaled(x, x, 3)) == [[6, 12], [18]]
    assert run(scaled(x, np.int32(1))) == [[4, 6], [8]]


REFUSED = {
    "gather": (lambda: tf.gather([1, 2], [[1.0]]), 2),
    "a scalar is left alone": (lambda: tf.gather([1, 2], 1.0), 1),
    "where": (lambda: tf.where([True], [1], None), 2),
    "stack": (lambda: tf.stack([[1], [2, 3]]), 2),
    "concat": (lambda: tf.concat([tf.zeros([2]), ["a"]], 0), 1),
    "expand_dims": (lambda: tf.expand_dims([1], 5), 2),
    "reduce_sum": (lambda: tf.reduce_sum([1.0], axis=2), 1),
    "an array is left alone": (lambda: tf.squeeze(np.array([[1, 2]]), [1]), 0),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_call_leaves_the_constants_of_a_look_for_ragged_tensors(case):
    build, count = REFUSED[case]
    with tf.Graph().as_default() as graph:
        with pytest.raises((TypeError, ValueError)):
            build()
        assert [op.name for op in graph.get_operations() if op.name.startswith("Const")] == ["Const", "Const_1"][:count]
