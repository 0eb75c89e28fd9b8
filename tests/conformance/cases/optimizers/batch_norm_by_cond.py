"""Batch normalization by hand: moving averages updated in a branch, trained with momentum."""

import numpy as np
import tensorflow as tf


def run(out):
    x = tf.constant(np.arange(12.0).reshape(3, 4), tf.float32)
    is_t = tf.placeholder_with_default(True, [], name="t")

    def bn(x, scope, decay=0.9):
        with tf.variable_scope(scope):
            g = tf.get_variable("g", [4], initializer=tf.ones_initializer())
            b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
            pm = tf.get_variable("pm", [4], trainable=False, initializer=tf.zeros_initializer())
            pv = tf.get_variable("pv", [4], trainable=False, initializer=tf.ones_initializer())

            def train():
                m, v = tf.nn.moments(x, [0])
                a = tf.assign(pm, pm * decay + m * (1 - decay))
                c = tf.assign(pv, pv * decay + v * (1 - decay))
                with tf.control_dependencies([a, c]):
                    return tf.nn.batch_normalization(x, m, v, b, g, 1e-3)

            return tf.cond(is_t, train, lambda: tf.nn.batch_normalization(x, pm, pv, b, g, 1e-3))

    y = bn(x, "bn1")
    m, v = tf.nn.moments(x, [0], name="mom")
    ema = tf.train.ExponentialMovingAverage(0.5)

    def upd():
        op = ema.apply([m, v])
        with tf.control_dependencies([op]):
            return tf.identity(m), tf.identity(v)

    mm, vv = tf.cond(is_t, upd, lambda: (ema.average(m), ema.average(v)))
    loss = tf.reduce_sum(tf.square(y)) + tf.reduce_sum(mm) * 0.0
    tr = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(2):
            s.run(tr)
        out("tv", s.run(tf.trainable_variables()), rtol=1e-4)
        out("y", s.run(y), rtol=1e-4)
        out("yt", s.run([y, mm, vv], {is_t: False}), rtol=1e-4)
    out("g", [x.name for x in tf.global_variables()])
    out.graph()
