"""Binary functions of partly known shapes with both gradients."""
import numpy as np
import tensorflow as tf


def run(out):
    p = tf.placeholder(tf.float64, [None, None], name="p")
    q = tf.placeholder(tf.float64, [None], name="q")
    x, y = np.array([[0.5, 1.5], [2.5, 3.0]]), np.array([0.7, 1.2])
    feed = {p: x, q: y}
    ops = ["add", "subtract", "multiply", "divide", "pow", "maximum", "minimum", "squared_difference", "floormod", "floordiv", "igamma", "zeta", "polygamma",
           "xlogy", "xdivy", "divide_no_nan", "multiply_no_nan", "truediv"]
    with tf.Session() as sess:
        for n in ops:
            f = getattr(tf.math, n)
            z = f(p + 1.0, q) if n in ("zeta",) else f(tf.round(q), p) if n == "polygamma" else f(p, q)
            gs = tf.gradients(z, [p, q])
            out(n, sess.run([z] + [g for g in gs if g is not None], feed), rtol=1e-5)
            out(n + " which", [g is None for g in gs])
            out.shape(n + " shape", z)
        out("atan2", sess.run([tf.atan2(p, p + 1.0)] + tf.gradients(tf.atan2(p, p + 1.0), p), feed))
        out.raises("do not fit", sess.run, p + q, {p: x, q: [1, 2, 3]})
        out("empty", sess.run(p * q, {p: np.zeros((0, 2)), q: y}))
    out.graph()
