"""Reductions over partly known shapes with gradients; gradients of two kinds of variables; a hessian."""
import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(1)
    a = tf.placeholder(tf.float64, [None, 3, None], name="a")
    x = rng.randn(2, 3, 4)
    made = []
    for n in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp"):
        for ax, k in ((None, False), (1, True), ([0, 2], False), (-1, False)):
            y = getattr(tf, n)(a, ax, keepdims=k)
            made.append(("%s %s %s" % (n, ax, k), [y] + tf.gradients(y * 1.5, a)))
    m = tf.Variable(rng.randn(3, 3), name="m")
    v = tf.get_variable("v", initializer=rng.randn(3, 2), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(m, v) - tf.tensordot(m, v, 1) * 0.5 + tf.einsum("ij,jk->ik", m, v)))
    grads = tf.gradients(loss, [m, v])
    hess = tf.hessians(tf.reduce_sum(v ** 3.0 / 6.0), v)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for name, ts in made:
            out(name, sess.run(ts, {a: x}), rtol=1e-6)
            out.shape(name + " shape", ts[0])
        out("loss", sess.run([loss] + grads), rtol=1e-6)
        out("hessian", sess.run(hess), rtol=1e-6)
        out("empty", sess.run(tf.gradients(tf.reduce_sum(a, 0), a)[0], {a: np.zeros((0, 3, 4))}))
    out.graph()
