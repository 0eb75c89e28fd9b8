"""Covariance, correlation, entropy and a divergence in name scopes, with the gradient."""
import numpy as np
import tensorflow as tf


def run(out):
    rows = tf.placeholder(tf.float32, [None, 5], name="rows")
    with tf.name_scope("stats"):
        mean = tf.reduce_mean(rows, axis=0)
        centered = rows - mean
        cov = tf.matmul(centered, centered, transpose_a=True) / tf.cast(tf.shape(rows)[0] - 1, tf.float32)
        std = tf.sqrt(tf.diag_part(cov))
        corr = cov / (std[:, None] * std[None, :])
    with tf.name_scope("entropy"):
        p = tf.nn.softmax(rows)
        h = -tf.reduce_sum(p * tf.log(p + 1e-9), axis=1)
        kl = tf.reduce_sum(tf.where(p > 0.1, p * tf.log(p / 0.2), tf.zeros_like(p)), 1)
    with tf.name_scope("moving"):
        ema = 0.9 * mean + (1 - 0.9) * tf.reduce_max(rows, 0)
        clipped = tf.minimum(tf.maximum(ema, -1.0), 1.0)
    loss = tf.reduce_mean(h) + tf.reduce_sum(tf.abs(clipped)) + tf.norm(corr) + tf.reduce_mean(kl ** 2)
    grad = tf.gradients(loss, rows)[0]
    with tf.Session() as sess:
        feed = {rows: np.random.RandomState(3).randn(6, 5)}
        out("values", sess.run([mean, cov, corr, h, kl, ema, clipped, loss], feed), rtol=1e-4, atol=1e-5)
        out("gradient", sess.run(grad, feed), rtol=1e-3, atol=1e-5)
    for t in (mean, cov, corr, h, kl, grad):
        out.shape(t.op.type + t.name, t)
    out.graph()
