"""Variance, polynomials, no-NaN variants, Bessel functions, counting and monotony."""
import numpy as np
import tensorflow as tf


def run(out):
    p = tf.placeholder(tf.float32, [None, 4], name="p")
    data = np.array([[1, -2, 3, 0.5], [4, 5, -6, 7.25]], np.float32)
    feed = {p: data}
    with tf.Session() as sess:
        for n in ("reduce_std", "reduce_variance", "reduce_euclidean_norm"):
            for ax, k in ((None, False), (0, True), (1, False), ([0, 1], True)):
                t = getattr(tf.math, n)(p, ax, keepdims=k)
                out("%s %s %s" % (n, ax, k), sess.run(t, feed), rtol=1e-5)
                out.shape("%s %s %s shape" % (n, ax, k), t)
        z = tf.constant([[1 + 2j, 3 - 1j], [0.5j, 2]], tf.complex64)
        out("complex std", sess.run([tf.math.reduce_std(z), tf.math.reduce_variance(z, 0)]), rtol=1e-5)
        out("grads", sess.run([tf.gradients(tf.math.reduce_std(p, 1), p)[0], tf.gradients(tf.math.reduce_variance(p), p)[0]], feed), rtol=1e-4)
        out("polyval", sess.run([tf.math.polyval([1.0, -2.0, 3.0], p), tf.math.polyval([p, 1.0], 2.0), tf.math.polyval([2.5], p)], feed), rtol=1e-5)
        out("polyval gradient", sess.run(tf.gradients(tf.math.polyval([1.0, -2.0, 3.0], p), p)[0], feed), rtol=1e-5)
        out("nextafter", sess.run(tf.math.nextafter(tf.constant([1.0, 0.0, -1.0], tf.float64), [2.0, -1.0, np.inf])))
        out("xlogy", sess.run([tf.math.xlogy([0.0, 1.0, 2.0], [0.0, 2.0, 3.0]), tf.math.xdivy([0.0, 1.0, 2.0], [0.0, 2.0, 3.0])]), rtol=1e-5)
        out("no nan", sess.run([tf.math.divide_no_nan(p, 0.0), tf.math.multiply_no_nan(p, 0.0), tf.math.reciprocal_no_nan(tf.nn.relu(p))], feed), rtol=1e-5)
        x = tf.constant([0.5, 2.0, -1.0])
        out("no nan gradients", sess.run([tf.gradients(tf.math.divide_no_nan(x, [2.0, 0.0, 4.0]), x)[0], tf.gradients(tf.math.xlogy(x, [2.0, 3.0, 4.0]), x)[0]]), rtol=1e-5)
        out("bessel", sess.run([tf.math.bessel_i0(x), tf.math.bessel_i1(x)]), rtol=1e-5)
        out("cumulative", sess.run([tf.math.cumulative_logsumexp(p, 1), tf.math.cumulative_logsumexp(p, 0, exclusive=True, reverse=True)], feed), rtol=1e-4)
        out("zero_fraction", sess.run(tf.math.zero_fraction(tf.nn.relu(p)), feed))
        out("count", sess.run([tf.math.count_nonzero(p > 0, dtype=tf.int32), tf.math.count_nonzero(p, axis=1, keepdims=True)], feed))
        out("increasing", sess.run([tf.math.is_non_decreasing(p), tf.math.is_strictly_increasing([1, 2, 3]), tf.math.is_strictly_increasing([1]), tf.math.is_non_decreasing([1.0, 1.0])], feed))
    out.graph()
    out.raises("std of ints", tf.math.reduce_std, [1, 2])
    out.raises("increasing of strings", tf.math.is_non_decreasing, tf.constant(["a", "b"]))
    out.raises("polyval not a list", tf.math.polyval, 3.0, p)
