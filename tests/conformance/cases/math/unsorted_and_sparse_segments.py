"""unsorted_segment_* and sparse_segment_* with gradients, fed ids and bad ids."""
import numpy as np
import tensorflow as tf


def run(out):
    d = tf.placeholder(tf.float32, [None, 2], name="d")
    ids = tf.placeholder(tf.int64, [None], name="ids")
    idx = tf.placeholder(tf.int32, [None], name="idx")
    seg = tf.placeholder(tf.int32, [None], name="seg")
    data = np.array([[1, 2], [3, 4], [5, -6], [5, 8]], np.float32)
    feed = {d: data, ids: [2, -1, 0, 2], idx: [0, 3, 1, 3], seg: [0, 0, 1, 3]}
    with tf.Session() as sess:
        for n in ("sum", "mean", "sqrt_n", "max", "min", "prod"):
            y = getattr(tf, "unsorted_segment_" + n)(d, ids, 4)
            out("unsorted " + n, sess.run(y, feed), rtol=1e-5)
            out.shape("unsorted shape " + n, y)
            out("unsorted gradient " + n, sess.run(tf.gradients(y[::2] * 2.0, d)[0], feed), rtol=1e-5)
        out.raises("id too high", sess.run, tf.unsorted_segment_sum(d, ids, 2), feed)
        for n in ("sum", "mean", "sqrt_n"):
            y = getattr(tf, "sparse_segment_" + n)(d, idx, seg)
            z = getattr(tf, "sparse_segment_" + n)(d, idx, seg, num_segments=6)
            out("sparse " + n, sess.run([y, z], feed), rtol=1e-5)
            out.shape("sparse shape " + n, z)
            out("sparse gradient " + n, sess.run([tf.gradients(y, d)[0], tf.gradients(tf.square(z), d)[0]], feed), rtol=1e-5)
            out.raises("bad index " + n, sess.run, y, {d: data, idx: [0, 9, 1, 3], seg: [0, 0, 1, 3]})
            out.raises("too few " + n, sess.run, y, {d: data, idx: [0, 1], seg: [0, 0, 1, 3]})
        out("two dims of ids", sess.run(tf.unsorted_segment_sum(tf.ones([2, 3, 2]), [[0, 1, 0], [1, 1, 2]], 3)))
        out("ints", sess.run([tf.unsorted_segment_max([1, 2, 3], [0, 0, 2], 3), tf.unsorted_segment_prod([1, 2, 3], [0, 0, 2], 3)]))
        out("num fed", sess.run(tf.unsorted_segment_sum(d, ids, tf.placeholder_with_default(5, [])), feed))
    out.graph()
    out.raises("negative number of segments", tf.unsorted_segment_sum, d, ids, -1)
    out.raises("ids that don't fit", tf.unsorted_segment_sum, tf.zeros([3, 2]), tf.zeros([2], tf.int32), 2)
    out.raises("float indices", tf.sparse_segment_sum, d, [0.5], [0])
