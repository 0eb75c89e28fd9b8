"""Branches for many elements at once: each takes its own side."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.parallel_for.exact import for_so_many, own_body

pytestmark = pytest.mark.usefixtures("own_graph")
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def results(function, *columns):
    """What a function gives for the rows of columns together; None where it has no such form."""
    specs = [tf.TensorSpec(c.shape[1:], c.dtype) for c in columns]
    made = StructuredFunction(function, "test", tuple(specs) if len(specs) > 1 else specs[0])
    body = for_so_many(own_body(tf.get_default_graph()._functions[made.attr.name]), 0, len(columns[0]))
    if body is None:
        return None
    with tf.Session(graph=body.graph) as sess:
        return sess.run(body.outputs, dict(zip(body.inputs, columns)))


def test_each_element_takes_its_side():
    [found] = results(lambda x: tf.cond(x[0] > 4, lambda: tf.reverse(x, [0]), lambda: x * 10), X)
    np.testing.assert_array_equal(found, [*X[:2] * 10, *X[2:, ::-1]])


def test_sides_may_give_the_same_for_all_elements_and_several_results():
    function = lambda x, y: tf.cond(y, lambda: (x, tf.constant(1)), lambda: (tf.zeros(3), tf.constant(2)))  # noqa: E731
    first, second = results(function, X, np.array([True, False, True, False]))
    np.testing.assert_array_equal(first, X * [[1], [0], [1], [0]])
    assert second.tolist() == [1, 2, 1, 2]


def test_branches_within_branches():
    def function(x):
        return tf.cond(x[0] > 4, lambda: tf.cond(x[0] > 7, lambda: x + 1, lambda: x + 2), lambda: x)

    np.testing.assert_array_equal(results(function, X)[0], X + [[0], [0], [2], [1]])


def test_what_has_no_form_for_many():
    assert results(lambda x: tf.cond(x[0] > 4, lambda: tf.py_func(lambda v: v, [x], tf.float32), lambda: x), X) is None
