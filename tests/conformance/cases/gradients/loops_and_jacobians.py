"""Second derivatives through loops, conditionals, TensorArrays, maps; jacobians; gradients with grad_ys of several kinds."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.parallel_for import gradients as pfor_gradients
from tensorflow.python.ops.parallel_for import control_flow_ops as pfor_ops


def run(out):
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.Variable(np.arange(9, dtype=np.float32).reshape(3, 3) / 10, name="w")
    h = tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.squeeze(tf.matmul(w, h[:, None]), 1))), [0, x]
    )[1]
    g = tf.gradients(tf.reduce_sum(h**2), [x, w])
    s = tf.scan(lambda a, e: a * 0.5 + e**2, x, initializer=tf.constant(1.0))
    gs = tf.gradients(s, x, grad_ys=tf.constant([1.0, 2.0, 3.0]))
    m = tf.map_fn(lambda e: tf.cond(e > 0, lambda: e**3, lambda: tf.exp(e)), x)
    gm = tf.gradients(m, x)
    ta = tf.TensorArray(tf.float32, 3)
    ta = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, x[i] * tf.cast(i, tf.float32))), [0, ta])[1]
    gta = tf.gradients(ta.stack() ** 2, x)
    jac = pfor_gradients.jacobian(x**2 * w[0], x)
    bjac = pfor_gradients.batch_jacobian(w**2, w)
    pf = pfor_ops.pfor(lambda i: tf.gather(x, i) * tf.cast(i, tf.float32) + tf.reduce_sum(tf.gather(w, i)), 3)
    many = tf.gradients(
        [s, m], [x, w], grad_ys=[tf.ones([3]), None], unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    out.raises("wrong grad_ys", tf.gradients, s, x, grad_ys=tf.constant([1, 2, 3]))
    out.raises("too many", tf.gradients, s, x, grad_ys=[tf.ones([3])] * 2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in ([1.0, -0.5, 2.0], [0.0, 0.3, -2.0]):
            out("at %s" % value, sess.run([h, g, s, gs, m, gm, gta, jac, pf, many, bjac], {x: value}), rtol=1e-4)
    out("none", [v is None for v in tf.gradients(x, [w], unconnected_gradients="none")])
    out.graph()
