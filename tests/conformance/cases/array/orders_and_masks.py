"""boolean_mask, where, one_hot, reverse, reverse_sequence, tile, roll, required_space_to_batch, quantize, searchsorted, unravel, batch_gather, scatter_nd forms."""

import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    m = tf.placeholder(tf.bool, [2, None], name="m")
    idx = tf.constant([[0, 2], [1, 1]], name="idx")
    values = {
        "mask": tf.boolean_mask(x, m),
        "mask1": tf.boolean_mask(x, tf.constant([True, False])),
        "maskaxis": tf.boolean_mask(x, [True, False, True], axis=2, name="ax"),
        "where1": tf.where(m),
        "where3": tf.where(m, tf.cast(m, tf.float32), -tf.ones_like(m, tf.float32)),
        "wherev2": tf.where_v2(m, x[:, :, 0], 0.0),
        "onehot": tf.one_hot(idx, 4, on_value=5, off_value=-1, axis=0),
        "onehotb": tf.one_hot(idx, 3, on_value=True, off_value=False, dtype=tf.bool),
        "oneh": tf.one_hot([1, -1, 7], 3),
        "rev": tf.reverse(x, [1, -1]),
        "revseq": tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0),
        "tile": tf.tile(x, [1, 2, 1]),
        "roll": tf.roll(x, shift=[1, -1], axis=[1, 2]),
        "bgather": tf.batch_gather(x, idx),
        "gatherb": tf.gather(x, idx, axis=1, batch_dims=1),
        "gnd": tf.gather_nd(x, [[0, 1], [1, 0]], batch_dims=0),
        "gndb": tf.gather_nd(x, [[[0], [1]], [[1], [0]]], batch_dims=1),
        "search": tf.searchsorted([[1, 3, 5], [2, 4, 6]], [[0, 3], [4, 9]], side="right"),
        "unravel": tf.unravel_index([5, 7], [2, 4]),
        "scatter": tf.scatter_nd([[1], [1]], [[1.0, 2.0], [3.0, 4.0]], [3, 2]),
        "tsu": tf.tensor_scatter_update(tf.zeros([3]), [[1]], [5.0]),
        "tsa": tf.tensor_scatter_add(tf.ones([3]), [[1], [1]], [5.0, 1.0]),
        "tss": tf.tensor_scatter_sub(tf.ones([3]), [[0]], [5.0]),
        "pad": tf.pad(x, [[0, 0], [1, 1], [0, 2]], constant_values=7.0),
        "padr": tf.pad(idx, [[1, 1], [1, 1]], "REFLECT"),
        "pads": tf.pad(idx, [[1, 0], [2, 0]], "SYMMETRIC"),
        "b2s": tf.batch_to_space_nd(tf.reshape(tf.range(8.0), [4, 1, 2, 1]), [2, 2], [[0, 0], [1, 0]]),
        "s2b": tf.space_to_batch_nd(tf.reshape(tf.range(8.0), [1, 2, 4, 1]), [2, 2], [[0, 0], [0, 0]]),
        "diagp": tf.matrix_diag_part(tf.reshape(tf.range(12), [2, 2, 3])),
        "setd": tf.matrix_set_diag(tf.zeros([2, 3, 3]), tf.ones([2, 3])),
        "band": tf.matrix_band_part(tf.ones([3, 4]), 0, 1),
        "fillt": tf.contrib.distributions.fill_triangular(tf.range(6.0)),
        "inv": tf.invert_permutation([2, 0, 1]),
        "bto2": tf.zeros([1]),
        "bto": tf.broadcast_to([[1], [2]], [2, 3]),
        "eye": tf.eye(2, num_columns=3, batch_shape=[2], dtype=tf.int32),
        "lists": tf.stack(tf.unstack(x[:, 0], axis=1), axis=-1),
        "conc": tf.concat([x, x[:, :1]], axis=-2),
        "expand": tf.expand_dims(x, [-1][0]),
        "sq": tf.squeeze(x[:, :1], [1]),
        "size": [tf.size(x), tf.rank(x), tf.shape(x, out_type=tf.int64)],
        "uniq": tf.unique_with_counts([3, 1, 3, 2]),
        "setdiff": tf.setdiff1d([1, 2, 3, 4], [2, 4]),
        "dynp": tf.dynamic_partition([1, 2, 3, 4], [0, 1, 1, 0], 3),
        "stitch": tf.dynamic_stitch([[0, 2], [1]], [[[1, 1], [3, 3]], [[2, 2]]]),
        "pstitch": tf.parallel_stack([[1, 2], [3, 4]]),
        "fq": tf.fake_quant_with_min_max_args(x, -1, 1, 4),
        "qd": tf.quantization.quantize_and_dequantize(x, -2.0, 2.0, num_bits=4, range_given=True),
        "bitc": tf.bitcast(tf.constant([1.0]), tf.int32),
        "prevent": tf.identity_n([idx, idx]),
        "hist": tf.histogram_fixed_width([0.1, 0.5, 2.0], [0.0, 1.0], nbins=4),
        "bincount": tf.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0], minlength=5),
        "cum": tf.cumsum(x, axis=1, exclusive=True, reverse=True),
    }
    names = sorted(values)
    g = tf.gradients(
        [tf.reduce_sum(v) for n, v in sorted(values.items()) if isinstance(v, tf.Tensor) and v.dtype == tf.float32], x
    )
    out(
        "static",
        {
            n: v.shape.as_list() if v.shape.ndims is not None else None
            for n, v in values.items()
            if isinstance(v, tf.Tensor)
        },
    )
    out.raises("bad mask rank", tf.boolean_mask, x, tf.constant(True))
    out.raises("bad mask shape", tf.boolean_mask, x, [True])
    out.raises("bad tile", tf.tile, x, [1, 2])
    out.raises("bad reverse", tf.reverse, x, [3])
    out.raises("bad gather", tf.gather, x, idx, axis=5)
    out.raises("bad batch dims", tf.gather, x, idx, batch_dims=3)
    out.raises("bad where", tf.where, m, x)
    out.raises("bad one_hot", tf.one_hot, idx, 3, on_value=1, off_value=2.0)
    out.raises("bad pad mode", tf.pad, x, [[0, 0]] * 3, "WRAP")
    out.raises("bad roll", tf.roll, x, [1, 2], [0])
    feed = {x: np.linspace(-2, 2, 18).reshape(2, 3, 3), m: [[True, False, True], [False, True, True]]}
    with tf.Session() as sess:
        got = sess.run([values[n] for n in names], feed)
        for n, v in zip(names, got):
            out(n, list(v) if hasattr(v, "_fields") else v)
        out("grad", sess.run(g, feed))
    out.graph()
