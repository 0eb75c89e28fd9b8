"""Optimizers on float16 and float64 variables, dense and sparse: casts of the rates, values."""

import tensorflow as tf


def run(out):
    for dt in (tf.float16, tf.float64):
        with tf.variable_scope(dt.name):
            v = tf.get_variable("v", [3], dtype=dt, initializer=tf.constant_initializer([1.0, -2.0, 3.0]))
            r = tf.get_variable("r", [3, 1], dtype=dt, initializer=tf.ones_initializer(), use_resource=True)
            loss = tf.reduce_sum(tf.square(v)) + tf.reduce_sum(tf.gather(r, [0, 2, 2]))
        for name, o in [
            ("sgd", tf.train.GradientDescentOptimizer(0.1)),
            ("adam", tf.train.AdamOptimizer(0.1)),
            ("ada", tf.train.AdagradOptimizer(0.1)),
            ("mom", tf.train.MomentumOptimizer(0.1, 0.9)),
            ("rms", tf.train.RMSPropOptimizer(0.1)),
            ("ftrl", tf.train.FtrlOptimizer(0.1)),
        ]:
            with tf.name_scope(dt.name + name):
                t = o.minimize(loss)
            with tf.Session() as s:
                s.run(tf.global_variables_initializer())
                s.run(t)
                s.run(t)
                out(dt.name + name, s.run([v, r]))
    out.graph()
