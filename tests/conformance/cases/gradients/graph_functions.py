"""Gradients of calls of graph functions: symbolic ones, functions and Python functions that are given."""

import tensorflow as tf


def run(out):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def foo(x, y):
        return tf.exp(x) * y

    a = tf.constant(1.0)
    b = tf.constant(2.0)
    z = foo(a, b)
    g = tf.gradients(z, [a, b])
    out("ok", [t.op.type for t in g])
    with tf.Session() as s:
        out("v", s.run([z] + g))

    @function.Defun(tf.float32, tf.float32)
    def bg(x, dy):
        return dy * 5.0

    @function.Defun(tf.float32, grad_func=bg)
    def bar(x):
        return x * x

    w = bar(a)
    g2 = tf.gradients(w, a)
    with tf.Session() as s:
        out("v2", s.run(g2))

    @function.Defun(tf.float32, python_grad_func=lambda op, dy: dy * 7.0)
    def baz(x):
        return x * x

    g3 = tf.gradients(baz(a), a)
    with tf.Session() as s:
        out("v3", s.run(g3))
