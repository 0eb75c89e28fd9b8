"""Cross entropies, weighted forms, poisson, normalize_moments, erosion, crelu, bias_add forms, with_space_to_batch, nce."""

import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [2, 4, 4, 3], name="x")
    k = tf.constant(rng.randn(3, 3, 3, 2), tf.float32, name="k")
    z = tf.constant(rng.randn(4, 3), tf.float32, name="z")
    onehot = tf.one_hot([0, 2, 1, 1], 3)
    values = {
        "crelu": tf.nn.crelu(x),
        "elu": tf.nn.elu(x),
        "relu6": tf.nn.relu6(x * 4),
        "leaky": tf.nn.leaky_relu(x, 0.3),
        "selu": tf.nn.selu(x),
        "swish": tf.nn.swish(x),
        "softsign": tf.nn.softsign(x),
        "xw": tf.nn.xw_plus_b(z, tf.ones([3, 2]), tf.ones([2])),
        "relu_layer": tf.nn.relu_layer(z, tf.ones([3, 2]), -tf.ones([2])),
        "bias": tf.nn.bias_add(x, tf.constant([1.0, 2.0, 3.0])),
        "bias1": tf.nn.bias_add(tf.transpose(x, [0, 3, 1, 2]), tf.constant([1.0, 2.0, 3.0]), data_format="NCHW"),
        "atrous": tf.nn.atrous_conv2d(x, k, 2, "SAME"),
        "conv": tf.nn.convolution(x, k, "VALID", strides=[1, 1], dilation_rate=[1, 1]),
        "dil": tf.nn.convolution(x, k, "SAME", dilation_rate=[2, 1]),
        "sep": tf.nn.separable_conv2d(x, k, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], "SAME", rate=[2, 2]),
        "dw": tf.nn.depthwise_conv2d(x, k, [1, 2, 2, 1], "SAME"),
        "dwn": tf.nn.depthwise_conv2d_native(x, k, [1, 1, 1, 1], "VALID"),
        "ero": tf.nn.erosion2d(x, k[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        "lrn": tf.nn.local_response_normalization(x, 1, alpha=0.2),
        "pool": tf.nn.pool(x, [2, 2], "AVG", "SAME", dilation_rate=[1, 1], strides=[2, 1]),
        "poold": tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 2]),
        "frac": tf.nn.fractional_max_pool(x, [1.0, 1.3, 1.4, 1.0], True, True, True, 1, 2),
        "wsig": tf.nn.weighted_cross_entropy_with_logits(onehot, z, 2.0),
        "lp": tf.nn.log_poisson_loss(tf.abs(z) * 3, z, True),
        "sxe": tf.nn.softmax_cross_entropy_with_logits_v2(onehot, z, axis=0),
        "spx": tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2, 1, 1], logits=z),
        "l2n": tf.nn.l2_normalize(x, [1, 2]),
        "zf": tf.nn.zero_fraction(tf.nn.relu(x)),
        "ss": tf.nn.sufficient_statistics(z, [0], shift=0.5)[1:3],
        "wm": tf.nn.weighted_moments(z, [0], tf.constant([[1.0], [0.5], [2.0], [0.0]])),
        "top": tf.nn.in_top_k(z, [0, 2, 1, 1], 2),
        "ls": tf.nn.log_softmax(x, axis=1),
        "d2s": tf.nn.depth_to_space(tf.tile(x, [1, 1, 1, 4]), 2),
        "s2b": tf.nn.space_to_batch(x, [[0, 0], [0, 0]], 2),
        "norm": tf.nn.normalize_moments(tf.constant(4.0), tf.constant(8.0), tf.constant(20.0), None),
        "bn": tf.nn.batch_norm_with_global_normalization(
            x, tf.zeros([3]), tf.ones([3]), tf.zeros([3]), tf.ones([3]), 1e-3, True
        ),
        "fbn": tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]), epsilon=0.01)[0],
        "max": tf.nn.max_pool1d(z[None], 2, 1, "SAME"),
        "c1": tf.nn.conv1d(z[None], k[0], 1, "VALID"),
    }
    names = sorted(values)
    grads = tf.gradients(
        [
            tf.reduce_sum(values[n][0] if isinstance(values[n], (list, tuple)) else values[n])
            for n in names
            if n not in ("top", "ero", "frac", "norm", "ss")
        ],
        [x, z],
    )
    out.raises("strides", tf.nn.depthwise_conv2d, x, k, [1, 2, 1, 1], "SAME")
    out.raises("rate and stride", tf.nn.convolution, x, k, "SAME", strides=[2, 2], dilation_rate=[2, 2])
    out.raises("padding", tf.nn.conv2d, x, k, [1, 1, 1, 1], "HALF")
    out.raises("depth", tf.nn.conv2d, x, tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], "SAME")
    out.raises("sparse rank", tf.nn.sparse_softmax_cross_entropy_with_logits, labels=[[1]], logits=z)
    out.raises("positional", tf.nn.softmax_cross_entropy_with_logits, onehot, z)
    with tf.Session() as sess:
        got = sess.run(values, {x: rng.randn(2, 4, 4, 3)})
        for n in names:
            out(n, got[n] if not hasattr(got[n], "_fields") else list(got[n]), rtol=1e-3, atol=1e-4)
        out("grads", sess.run(grads, {x: rng.randn(2, 4, 4, 3)}), rtol=1e-3, atol=1e-3)
    out.graph()
