"""bincount, histograms, confusion matrices and ranges; labels out of range."""
import numpy as np
import tensorflow as tf


def run(out):
    ids = tf.placeholder(tf.int32, [None], name="ids")
    with tf.Session() as sess:
        b = tf.bincount(ids)
        out("bincount", sess.run(b, {ids: [1, 1, 3]}))
        out.shape("bincount shape", b)
        out("bincount empty", sess.run(b, {ids: []}))
        w = tf.bincount(ids, weights=tf.constant([1.0, 2.0, 3.0]), minlength=6)
        out("weights", sess.run(w, {ids: [1, 1, 3]}))
        out("maxlength", sess.run(tf.math.bincount(ids, maxlength=2, dtype=tf.float64), {ids: [1, 1, 0]}))
        out.raises("negative", sess.run, b, {ids: [-1]})
        h = tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
        out("histogram", sess.run(h))
        out.shape("histogram shape", h)
        out("bins", sess.run(tf.histogram_fixed_width_bins([[-1.0, 0.0, 1.5], [2.0, 5.0, 15.0]], [0.0, 5.0], nbins=5)))
        out("histogram int", sess.run(tf.histogram_fixed_width(tf.constant([1, 2, 2, 9]), tf.constant([0, 10]), nbins=3, dtype=tf.int64)))
        cm = tf.confusion_matrix([0, 1, 2, 2], [0, 1, 1, 2])
        out("confusion", sess.run(cm))
        out.shape("confusion shape", cm)
        out("confusion weights", sess.run(tf.math.confusion_matrix([0, 1, 2, 2], [0, 1, 1, 2], num_classes=4, dtype=tf.float32, weights=[0.5, 1.0, 2.0, 3.0])))
        out("confusion squeezed", sess.run(tf.confusion_matrix(tf.constant([[0], [1]]), tf.constant([1, 1]), num_classes=2)))
        p = tf.placeholder(tf.int64, [None], name="p")
        q = tf.confusion_matrix(p, p, num_classes=3)
        out.shape("confusion fed shape", q)
        out("confusion fed", sess.run(q, {p: [0, 2, 2]}))
        out.raises("label too high", sess.run, q, {p: [0, 3]})
        out.raises("label negative", sess.run, q, {p: [0, -3]})
        out("range", sess.run([tf.range(5), tf.range(1, 9, 3), tf.range(9.0, 1.0, -2.5), tf.range(3, dtype=tf.float32), tf.range(tf.constant(4, tf.int64))]))
    out.graph()
    out.raises("weights of another shape", tf.confusion_matrix, [0, 1], [1, 1], 2, tf.int32, None, [1, 2, 3])
    out.raises("confusion of three dims", lambda: tf.Session().run(tf.confusion_matrix(tf.zeros([2, 2, 2], tf.int32), tf.zeros([2, 2, 2], tf.int32))))
    out.raises("float bincount", tf.bincount, [1.5])
    out.raises("nbins 0", lambda: tf.Session().run(tf.histogram_fixed_width([1.0], [0.0, 1.0], nbins=0)))
    out.raises("range wrong way", lambda: tf.range(5, 1))
