"""tf.contrib's Defun: graph functions with types declared by the program."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions import Defun


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def test_a_variable_s_type_may_declare_an_argument():
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())

    @Defun(v.dtype, tf.float32)
    def add(a, b):
        assert a.dtype == tf.float32
        return a + b

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(add(v, tf.constant([1.0, 2.0]))), [2.0, 3.0])
