"""Softmax regression in an interactive session: decayed rate, clipped gradients, moving averages, chained train ops."""

import numpy as np
import tensorflow as tf


def run(out):
    W = tf.Variable(tf.truncated_normal([4, 3], stddev=0.1, seed=3), name="W")
    b = tf.Variable(tf.constant(0.1, shape=[3]), name="b")
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y_ = tf.placeholder(tf.float32, [None, 3], name="y_")
    y = tf.nn.softmax(tf.matmul(x, W) + b)
    ce = -tf.reduce_sum(y_ * tf.log(tf.clip_by_value(y, 1e-10, 1.0)), reduction_indices=[1])
    loss = tf.reduce_mean(ce) + 0.01 * sum(tf.nn.l2_loss(v) for v in tf.trainable_variables())
    gs = tf.Variable(0, trainable=False, name="gs")
    lr = tf.train.polynomial_decay(0.5, gs, 10, 0.01, power=2.0)
    opt = tf.train.GradientDescentOptimizer(lr)
    gv = opt.compute_gradients(loss, tf.trainable_variables())
    gv = [(tf.clip_by_value(g, -0.1, 0.1), v) for g, v in gv if g is not None]
    tr = opt.apply_gradients(gv, global_step=gs)
    ema = tf.train.ExponentialMovingAverage(0.99, gs)
    with tf.control_dependencies([tr]):
        tr = ema.apply(tf.trainable_variables())
    with tf.control_dependencies([tr]):
        final = tf.no_op(name="train")
    acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1)), tf.float32))
    f = {x: np.eye(4)[:3], y_: np.eye(3)}
    sess = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    for i in range(5):
        final.run(feed_dict=f)
    out("acc", acc.eval(f))
    out("loss", loss.eval(feed_dict=f), seeded=True, rtol=1e-4)
    out("W", W.eval(), seeded=True, rtol=1e-4)
    out("gs", [gs.eval(), lr.eval()])
    sess.close()
    out.graph()
