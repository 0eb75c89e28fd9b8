"""Default names of variable scopes: how they are numbered when scopes are opened again."""

import tensorflow as tf


def run(out):
    seen = []

    def d(n="d"):
        with tf.variable_scope(None, n) as s:
            seen.append(s.name)
            return s

    d()
    with tf.variable_scope(tf.get_variable_scope()):
        d()
        d()
    d()
    with tf.variable_scope("a") as a:
        d()
        d()
    with tf.variable_scope(a):
        d()
    with tf.variable_scope(a):
        d()
    with tf.variable_scope("a"):
        d()
    with tf.variable_scope("a/d"):
        d()
    with tf.variable_scope("b"):
        with tf.variable_scope(a):
            d()
        d()
        with tf.variable_scope(tf.get_variable_scope()):
            d()
        with tf.variable_scope("c") as c:
            d()
        with tf.variable_scope(c):
            d()
        with tf.variable_scope(c):
            with tf.variable_scope(c):
                d()
                d()
            d()
    with tf.variable_scope(c):
        d()
    d()
    d("a")
    d("a")
    with tf.variable_scope(None, "x/y"):
        d()
    with tf.variable_scope(None, "x/y"):
        d()
    with tf.variable_scope("x"):
        d("y")
    out("seen", seen)
