"""Defuns with loops and variables of the scope around, functions whose calls know their results' shapes, functional ops, py_function alone."""

import tensorflow as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops


def run(out):
    x = tf.placeholder(tf.float32, [2], name="x")

    @function.Defun(tf.float32, func_name="Scaled")
    def scaled(a):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
        return a * w * 3.0

    @function.Defun(tf.float32, func_name="Looped")
    def looped(a):
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, a])[1]

    @function.Defun(tf.float32, func_name="Small")
    def small(a):
        return tf.reduce_sum(a) < 50.0

    with tf.variable_scope("outer"):
        y = scaled(x)
    out("variables", [v.name for v in tf.global_variables()])
    dy = tf.gradients(y, tf.trainable_variables())
    out("gradient", [type(g).__name__ for g in dy])
    called = looped(x)
    chosen = functional_ops.If(x[0] > 0.0, [x], scaled_alone(), looped, name="chosen")
    ended = functional_ops.While([x], small, looped, name="ended")
    out.shape("ended", ended[0])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def traced(a):
        return a * 2.0, tf.matmul(a, a, transpose_b=True), tf.reshape(a, [-1]), tf.zeros(tf.shape(a))

    wide = tf.placeholder(tf.float32, [3, 2], name="wide")
    for i, t in enumerate(traced(wide)):
        out.shape("traced %d" % i, t)
    out("uses", [v.name for v in traced.get_concrete_function().graph.variables])
    squared = tf.py_function(lambda q: q * q, [x], tf.float32)
    d_squared = tf.gradients(squared, x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in ([1.0, 2.0], [-1.0, 3.0]):
            out("values %s" % value, sess.run([y, dy[0], called, chosen, ended], {x: value}))
        out("only the gradient", sess.run(d_squared, {x: [3.0, 4.0]}))
    out.raises("no function", tf.py_func, 3, [x], tf.float32)
    out.raises("out_names", lambda: function.Defun(tf.float32, out_names=["a"])(lambda a: (a, a))(x))


def scaled_alone():
    @function.Defun(tf.float32, func_name="Negated")
    def negated(a):
        return -a

    return negated
