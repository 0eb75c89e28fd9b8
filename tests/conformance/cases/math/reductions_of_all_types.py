"""Reductions of every number type, of nothing, with NaN, with a fed axis."""
import numpy as np
import tensorflow as tf


def run(out):
    i = tf.placeholder(tf.int32, [None], name="i")
    b = tf.placeholder(tf.bool, [None, 2], name="b")
    with tf.Session() as sess:
        out("all any", sess.run([tf.reduce_all(b), tf.reduce_any(b, 0), tf.reduce_all(b, 1, keepdims=True), tf.reduce_any(b, [0, 1])], {b: [[True, False], [True, True]]}))
        out("empty", sess.run([tf.reduce_all(b), tf.reduce_any(b), tf.reduce_sum(i), tf.reduce_prod(i), tf.reduce_max(i), tf.reduce_min(i)], {b: np.zeros((0, 2), bool), i: []}))
        for d in (tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float16, tf.bfloat16, tf.complex64):
            x = tf.cast(i, d)
            fs = [tf.reduce_sum, tf.reduce_prod, tf.reduce_mean]
            if d != tf.complex64:
                fs += [tf.reduce_max, tf.reduce_min]
            out(d.name, sess.run([tf.cast(f(x), tf.float32) for f in fs], {i: [3, 5, 100]}))
            if d != tf.complex64:
                out(d.name + " arg", sess.run([tf.argmax(x), tf.argmin(x, output_type=tf.int32)], {i: [3, 5, 100, 100, 3]}))
            out(d.name + " cum", sess.run(tf.cast(tf.cumsum(x), tf.float32), {i: [1, 2, 3]}))
        m = tf.placeholder(tf.float32, [None, 3], name="m")
        out("argmax", sess.run([tf.argmax(m), tf.argmax(m, 1), tf.argmin(m, axis=-1), tf.argmax(m, dimension=1), tf.arg_max(m, 0)], {m: [[1, 5, 5], [7, 0, 0]]}))
        out.shape("argmax shape", tf.argmax(m, 1))
        out.raises("argmax of nothing", sess.run, tf.argmax(m, 0), {m: np.zeros((0, 3))})
        out("nan", sess.run([tf.reduce_max(m), tf.reduce_min(m, 1), tf.argmax(m, 1), tf.reduce_sum(m)], {m: [[1, np.nan, 5], [np.nan, 2, np.nan]]}))
        axis = tf.placeholder(tf.int64, [None], name="axis")
        out("axis fed", sess.run([tf.reduce_sum(m, axis), tf.reduce_mean(m, axis, keepdims=True)], {m: [[1, 2, 3]], axis: [0, 1]}))
        out("axis fed empty", sess.run(tf.reduce_max(m, axis), {m: [[1, 2, 3]], axis: []}))
        out("gradient with axis fed", sess.run(tf.gradients(tf.reduce_mean(m, axis), m)[0], {m: [[1, 2, 3]], axis: [-1]}))
        out("large", sess.run([tf.reduce_sum(tf.ones([1000, 100])), tf.reduce_mean(tf.range(100001, dtype=tf.float32))]), rtol=1e-5)
    out.graph()
    out.raises("all of ints", tf.reduce_all, i)
    out.raises("max of bools", tf.reduce_max, b)
    out.raises("argmax of strings", tf.argmax, tf.constant(["a"]))
    out.raises("argmax both", tf.argmax, m, 0, None, 1)
    out.raises("axis of rank 2", tf.reduce_sum, m, [[0], [1]])
