"""Arithmetic of a variable in a while loop and a branch, with the gradient."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.get_variable("x", initializer=[1.0, -2.0, 3.0])
    i = tf.constant(0)

    def body(i, acc):
        return i + 1, acc * 0.5 + tf.reduce_sum(tf.square(x)) / tf.cast(i + 1, tf.float32)

    _, total = tf.while_loop(lambda i, a: tf.logical_and(i < 4, a < 1000.0), body, [i, tf.constant(0.0)])
    choice = tf.cond(tf.reduce_sum(x) > 1.0, lambda: tf.exp(x), lambda: -x)
    y = total + tf.reduce_prod(choice)
    g = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out("values", sess.run([total, choice, y, g]), rtol=1e-4)
        sess.run(tf.assign(x, [1.0, -5.0, 0.5]))
        out("other", sess.run([total, choice, y, g]), rtol=1e-4)
    out.graph()
