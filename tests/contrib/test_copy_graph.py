"""tf.contrib.copy_graph: elements of one graph in another."""

import numpy as np

import everflow as tf
from everflow.contrib import copy_graph


def test_a_tensor_with_all_that_it_needs():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        p = tf.placeholder(tf.float32, [2], name="p")
        q = tf.add(p, v * 2.0, name="q")
    variable = copy_graph.copy_variable_to_graph(v, second, scope="copied")
    copied = copy_graph.copy_op_to_graph(q, second, [variable], scope="copied")
    assert copied.name == "copied/q:0"
    assert copy_graph.get_copied_op(q, second, "copied") is copied
    assert copy_graph.copy_op_to_graph(q, second, [variable], scope="copied") is copied
    with tf.Session(graph=second) as session:
        session.run(variable.initializer)
        placeholder = copy_graph.get_copied_op(p, second, "copied")
        np.testing.assert_allclose(session.run(copied, {placeholder: [1, 1]}), [3, 5])
