"""Fake quantisation with gradients, quantize and dequantize in every mode."""
import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    data = np.array([[-7.0, 0.2, 3.3], [5.9, 6.5, -1.0]], np.float32)
    feed = {x: data}
    with tf.Session() as sess:
        for bits, narrow in ((8, False), (4, True), (16, False)):
            t = tf.fake_quant_with_min_max_args(x, -3, 5, num_bits=bits, narrow_range=narrow)
            out("args %d %s" % (bits, narrow), sess.run(t, feed), rtol=1e-5)
            out("args gradient %d %s" % (bits, narrow), sess.run(tf.gradients(t, x)[0], feed))
        lo, hi = tf.Variable(-1.0, name="lo"), tf.Variable(4.0, name="hi")
        sess.run(tf.global_variables_initializer())
        v = tf.quantization.fake_quant_with_min_max_vars(x, lo, hi)
        out("vars", sess.run([v] + tf.gradients(v * 2.0, [x, lo, hi]), feed), rtol=1e-5)
        c = tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0, 0.0, -2.0], [1.0, 5.0, 2.0], num_bits=5)
        out("channels", sess.run([c, tf.gradients(c, x)[0]], feed), rtol=1e-5)
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for kind in (tf.quint8, tf.qint8):
                q = tf.quantization.quantize(x, -4.0, 4.0, kind, mode=mode)
                out("quantize %s %s" % (mode, kind.name), [np.asarray(sess.run(q.output, feed)).astype(np.int32)] + sess.run([q.output_min, q.output_max], feed), rtol=1e-5)
                out("back %s %s" % (mode, kind.name), sess.run(tf.quantization.dequantize(q.output, q.output_min, q.output_max, mode), feed), rtol=1e-4, atol=1e-5)
        qd = tf.quantization.quantize_and_dequantize(x, -5.0, 5.0, range_given=True)
        out("through", sess.run([qd, tf.gradients(qd, x)[0]], feed), rtol=1e-5)
        out("through own range", sess.run(tf.quantization.quantize_and_dequantize(x, 0.0, 0.0, signed_input=False, num_bits=5), feed), rtol=1e-5)
        out.raises("min above max", sess.run, tf.fake_quant_with_min_max_args(x, 5, -3), feed)
    out.shape("per channel shape", c)
    out.shape("quantize shape", q.output)
    out.graph()
    out.raises("vars with a vector", tf.fake_quant_with_min_max_vars, x, [0.0], [1.0])
    out.raises("channels that don't fit", tf.fake_quant_with_min_max_vars_per_channel, tf.zeros([2, 3]), [0.0], [1.0])
    out.raises("bad mode", tf.quantization.quantize, x, 0.0, 1.0, tf.quint8, "NO")
    out.raises("bad type", tf.quantization.quantize, x, 0.0, 1.0, tf.float32)
