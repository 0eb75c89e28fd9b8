"""Policy gradients, gradients given from outside, Jacobians by rows, Hessian-vector products."""

import numpy as np
import tensorflow as tf


def run(out):
    s = tf.placeholder(tf.float32, [None, 3], name="s")
    w1 = tf.Variable(np.ones((3, 4), "f") * 0.1)
    w2 = tf.Variable(np.ones((4, 2), "f") * 0.2)
    h = tf.nn.relu(tf.matmul(s, w1))
    logits = tf.matmul(h, w2)
    p = tf.nn.softmax(logits)
    a = tf.placeholder(tf.int32, [None])
    adv = tf.placeholder(tf.float32, [None])
    lp = tf.reduce_sum(tf.log(p) * tf.one_hot(a, 2), 1)
    ent = -tf.reduce_sum(p * tf.log(p + 1e-5), 1, keepdims=True)
    loss = tf.reduce_mean(-(lp * adv + 0.01 * tf.squeeze(ent, 1)))
    act = tf.tanh(tf.matmul(h, w2))
    da = tf.placeholder(tf.float32, [None, 2])
    pg = tf.gradients(act, [w1, w2], da)
    opt = tf.train.AdamOptimizer(-0.01)
    t1 = opt.apply_gradients(zip(pg, [w1, w2]))
    t2 = tf.train.AdamOptimizer(0.01).minimize(loss)
    jac = [tf.gradients(logits[:, i], s)[0] for i in range(2)]
    hv = tf.gradients(tf.reduce_sum(tf.gradients(loss, w1)[0] * tf.stop_gradient(w1)), w1)
    f = {s: np.eye(3), a: [0, 1, 1], adv: [1.0, -1.0, 0.5], da: np.ones((3, 2))}
    with tf.Session() as ss:
        ss.run(tf.global_variables_initializer())
        out("j", ss.run(jac, f))
        out("hv", ss.run(hv, f), rtol=1e-3, atol=1e-5)
        ss.run(t1, f)
        ss.run(t2, f)
        out("w", ss.run([w1, w2]), rtol=1e-3)
        out("loss", ss.run(loss, f), rtol=1e-4)
    out.graph()
