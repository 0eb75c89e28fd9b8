"""A target network: hard and soft copies, gradients of one network applied to another."""

import numpy as np
import tensorflow as tf


def run(out):
    def net(s, scope, trainable=True):
        with tf.variable_scope(scope):
            w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([[1.0, 2.0], [3.0, 4.0]]), trainable=trainable)
            b = tf.get_variable("b", [2], initializer=tf.zeros_initializer(), trainable=trainable)
            return tf.matmul(s, w) + b

    s = tf.placeholder(tf.float32, [None, 2], name="s")
    q = net(s, "eval")
    qt = net(s, "target", False)
    tp = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target")
    ep = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="eval")
    hard = [tf.assign(t, e) for t, e in zip(tp, ep)]
    soft = [t.assign(0.9 * t + 0.1 * e) for t, e in zip(tp, ep)]
    y = tf.stop_gradient(tf.reduce_max(qt, 1) * 0.9 + 1.0)
    a = tf.placeholder(tf.int32, [None], name="a")
    qa = tf.gather_nd(q, tf.stack([tf.range(tf.shape(a)[0]), a], 1))
    loss = tf.reduce_mean(tf.squared_difference(y, qa))
    tr = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    grads = tf.gradients(loss, ep)
    clip, n = tf.clip_by_global_norm(grads, 0.5)
    pull = [e.assign(t) for e, t in zip(ep, tp)]
    push = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(clip, tp))
    f = {s: [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], a: [0, 1, 0]}
    with tf.Session() as ss:
        ss.run(tf.global_variables_initializer())
        for _ in range(3):
            ss.run(tr, f)
        out("e", ss.run(ep), rtol=1e-4)
        ss.run(soft)
        out("t", ss.run(tp), rtol=1e-4)
        ss.run(hard)
        out("t2", ss.run(tp), rtol=1e-4)
        ss.run(push, f)
        out("n", ss.run([n] + tp, f), rtol=1e-4)
        ss.run(pull)
        out("e2", ss.run(ep), rtol=1e-4)
    out.graph()
