"""Casts of NaN, infinities and numbers out of range, there and back; saturating casts."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [None], name="x")
    kinds = [tf.float16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.bool, tf.complex64]
    with tf.Session() as sess:
        feed = {x: [np.nan, np.inf, -np.inf, 1e10, -1e10, 300.7, -1.5, 0.0, 65536.0]}
        for d in kinds:
            y = tf.cast(x, d)
            out(d.name, sess.run(y, feed))
            out("back from " + d.name, sess.run(tf.cast(y, tf.float64), feed))
        out("gradients", [tf.gradients(tf.cast(tf.cast(x, d), tf.float32), x)[0] is None for d in kinds])
        out("gradient", sess.run(tf.gradients(tf.cast(x, tf.float64) * 2.0, x)[0], {x: [1.0]}))
        out("saturate", sess.run([tf.saturate_cast(x, d) for d in (tf.int8, tf.uint8, tf.int16, tf.int32, tf.float16)], {x: [-1e6, 1e6, 12.7, 3e9]}))
        s = tf.SparseTensor([[0, 0]], [1.7], [1, 1])
        out("sparse", sess.run(tf.cast(s, tf.int32)))
        out("old", sess.run([tf.to_int32(x), tf.to_double(x), tf.to_int64(x, name="long")], {x: [1.5, -1.5]}))
        out("bitcast", sess.run(tf.bitcast(tf.constant([1.0, -2.0]), tf.int32)))
    out("same", [tf.cast(x, tf.float32) is x, tf.cast(x, "float32") is x, tf.to_float(x) is x])
    out("names", [tf.cast(x, tf.int32).name, tf.cast(x, tf.int32, name="mine").name, tf.to_int32(x).name, tf.dtypes.cast([1], tf.float32).name])
    out.graph()
    out.raises("bad type", tf.cast, x, "nothing")
    out.raises("to string", lambda: tf.Session().run(tf.cast([1], tf.string)))
    out.raises("saturate complex", tf.saturate_cast, x, tf.complex64)
