"""Two towers that share variables, averaged gradients, one update, moving averages."""

import tensorflow as tf


def run(out):
    towers = []
    opt = tf.train.AdamOptimizer(0.1)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(2):
            with tf.device("/cpu:0"), tf.name_scope("tower_%d" % i) as sc:
                w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
                b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - float(i)))
                tf.add_to_collection("losses", loss)
                tf.get_variable_scope().reuse_variables()
                towers.append(opt.compute_gradients(loss))
    avg = []
    for gv in zip(*towers):
        gr = [tf.expand_dims(g, 0) for g, _ in gv]
        avg.append((tf.reduce_mean(tf.concat(gr, 0), 0), gv[0][1]))
    gs = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    tr = opt.apply_gradients(avg, global_step=gs)
    ema = tf.train.ExponentialMovingAverage(0.99, gs)
    t2 = tf.group(tr, ema.apply(tf.trainable_variables()))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(3):
            s.run(t2)
        out("v", s.run(tf.trainable_variables() + [gs]), rtol=1e-4)
    out.graph()
