"""Clipping by value and norms with gradients, slices, a fed limit and a training step."""
import numpy as np
import tensorflow as tf


def run(out):
    g = [tf.placeholder(tf.float32, [2], name="g0"), tf.placeholder(tf.float32, [None, 2], name="g1")]
    feed = {g[0]: [3.0, 4.0], g[1]: [[0.0, 12.0]]}
    with tf.Session() as sess:
        out("norm", sess.run(tf.global_norm(g), feed), rtol=1e-5)
        for limit in (1.0, 13.0, 100.0):
            c, n = tf.clip_by_global_norm(g, limit, name="c%d" % int(limit))
            out("clip %g" % limit, sess.run(c + [n], feed), rtol=1e-5)
            out("clip each %g" % limit, sess.run([tf.clip_by_norm(t, limit) for t in g], feed), rtol=1e-5)
        t = tf.placeholder(tf.float32, [], name="t")
        c, n = tf.clip_by_global_norm(g, t)
        out("limit fed", sess.run(c, {g[0]: [3.0, 4.0], g[1]: [[0.0, 12.0]], t: 2.0}), rtol=1e-5)
        x = tf.Variable([[1.0, -2.0], [3.0, 0.5]], name="x")
        sess.run(x.initializer)
        out("value", sess.run([tf.clip_by_value(x, -1.0, 1.0), tf.clip_by_value(x, [[0.0, 0.0], [1.0, 1.0]], 2.0), tf.clip_by_value(tf.constant([1, 5, 9]), 2, 7)]))
        out("value gradient", sess.run(tf.gradients(tf.clip_by_value(x, -1.0, 1.0) * 3.0, x)[0]))
        out("average", sess.run(tf.clip_by_average_norm(x, 0.1)), rtol=1e-5)
        out("norm axes gradient", sess.run(tf.gradients(tf.clip_by_norm(x, 1.0, [0]), x)[0]), rtol=1e-4)
        s = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([3, 2]))
        out("slices", sess.run([tf.clip_by_value(s, 0.0, 3.5).values, tf.clip_by_norm(s, 1.0).values]), rtol=1e-5)
        opt = tf.train.GradientDescentOptimizer(0.5)
        gv = [(tf.clip_by_norm(gr, 1.0), v) for gr, v in opt.compute_gradients(tf.reduce_sum(tf.square(x)), [x])]
        step = opt.apply_gradients(gv)
        sess.run(step)
        out("after", sess.run(x), rtol=1e-5)
    out.graph()
    out.raises("shapes", tf.clip_by_value, g[0], tf.zeros([3]), 1.0)
    out.raises("bound of a larger shape", tf.clip_by_value, g[0], tf.zeros([5, 2]), 1.0)
    out.raises("int bounds", tf.clip_by_value, g[0], tf.constant(0), tf.constant(1))
    out.raises("no list", tf.clip_by_global_norm, g[0], 1.0)
