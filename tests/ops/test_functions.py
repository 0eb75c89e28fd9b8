"""tf.contrib's Defun: graph functions with types declared by the program."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions import Defun

pytestmark = pytest.mark.usefixtures("own_graph")


def test_a_variable_s_type_may_declare_an_argument():
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())

    @Defun(v.dtype, tf.float32)
    def add(a, b):
        assert a.dtype == tf.float32
        return a + b

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(add(v, tf.constant([1.0, 2.0]))), [2.0, 3.0])


def test_loops_in_a_function_run_and_have_gradients():
    @Defun(tf.float32, func_name="Grow")
    def grow(a):
        shapes = [tf.TensorShape([]), tf.TensorShape(None)]
        return tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.concat([v, v * 3.0], 0)), [0, a], shape_invariants=shapes)[1]

    x = tf.placeholder(tf.float32, [1])
    y = grow(x)
    (dx,) = tf.gradients(y, x)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: [2.0]}), [2.0, 6.0, 6.0, 18.0])
        np.testing.assert_allclose(sess.run(dx, {x: [2.0]}), [16.0])
    # The derivative was made to run it, and is no function of the graph's own; what is loaded runs as well.
    definition = tf.get_default_graph().as_graph_def()
    assert [f.signature.name for f in definition.library.function] == ["Grow"]
    with tf.Graph().as_default(), tf.Session() as sess:
        (loaded,) = tf.import_graph_def(definition, return_elements=["Grow:0"])
        np.testing.assert_allclose(sess.run(loaded, {f"import/{x.name}": [1.0]}), [1.0, 3.0, 3.0, 9.0])


@pytest.mark.parametrize("times", [1, 3])
def test_a_python_function_in_a_loop_is_differentiated_call_by_call(times):
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(
        lambda i, v: i < times, lambda i, v: (i + 1, tf.reshape(tf.py_function(lambda q: q * q, [v], tf.float32), [])), [0, x]
    )[1]
    (dx,) = tf.gradients(y, x)
    power = 2**times
    with tf.Session() as sess:
        assert sess.run(dx, {x: 1.5}) == pytest.approx(power * 1.5 ** (power - 1))
        assert sess.run([dx, y], {x: 1.5}) == pytest.approx([power * 1.5 ** (power - 1), 1.5**power])
