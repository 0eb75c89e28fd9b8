"""Sparse ops less met: softmax, maximum, cross, fill_empty_rows, retain, reset_shape, merge, segment ops, expand_dims, eye, to_indicator, placeholders."""

import numpy as np
import tensorflow as tf


def run(out):
    sp = tf.SparseTensor([[0, 1], [0, 2], [2, 0]], [1.0, 2.0, 3.0], [3, 4])
    other = tf.SparseTensor([[0, 1], [1, 3]], [5.0, -1.0], [3, 4])
    ph = tf.sparse_placeholder(tf.float32, [None, 4], name="ph")
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [2, 3])
    filled, empty = tf.sparse.fill_empty_rows(sp, -1.0)
    vals = {
        "softmax": tf.sparse.softmax(sp),
        "max": tf.sparse.maximum(sp, other),
        "min": tf.sparse.minimum(sp, other),
        "add": tf.sparse.add(sp, other, threshold=0.5),
        "addd": tf.sparse.add(sp, tf.ones([3, 4])),
        "filled": [filled, empty],
        "retain": tf.sparse.retain(sp, [True, False, True]),
        "reset": tf.sparse.reset_shape(sp, [4, 5]),
        "reset0": tf.sparse.reset_shape(sp),
        "merge": tf.sparse.merge([ids, ids], tf.SparseTensor(ids.indices, [1.0, 2.0, 3.0], ids.dense_shape), [3, 4]),
        "expand": tf.sparse.expand_dims(sp, 1),
        "eye": tf.sparse.eye(2, 3),
        "ind": tf.sparse.to_indicator(ids, 4),
        "dense": tf.sparse.to_dense(ph, -1.0),
        "red": tf.sparse.reduce_sum(ph, axis=[1], keepdims=True),
        "redm": tf.sparse.reduce_max(sp, [0]),
        "redsp": tf.sparse.reduce_sum_sparse(sp, 0),
        "mm": tf.sparse.sparse_dense_matmul(ph, tf.ones([4, 2]), adjoint_a=False),
        "mma": tf.sparse.sparse_dense_matmul(sp, tf.ones([3, 2]), adjoint_a=True),
        "slice": tf.sparse.slice(sp, [0, 1], [2, 2]),
        "concat": tf.sparse.concat(1, [sp, other]),
        "split": tf.sparse.split(sp_input=sp, num_split=2, axis=1),
        "tr": tf.sparse.transpose(sp),
        "reshape": tf.sparse.reshape(sp, [2, -1]),
        "mul": sp * tf.constant([[1.0], [2.0], [3.0]]),
        "div": sp.__div__(tf.constant(2.0)),
        "segsum": tf.sparse.segment_sum(tf.reshape(tf.range(8.0), [4, 2]), [0, 1, 3], [0, 0, 1]),
        "segmean": tf.sparse.segment_mean(tf.reshape(tf.range(8.0), [4, 2]), [0, 1, 3], [0, 0, 2], num_segments=4),
        "segsq": tf.sparse.segment_sqrt_n(tf.reshape(tf.range(8.0), [4, 2]), [0, 1], [0, 0]),
        "mask": tf.sparse.mask(tf.IndexedSlices(tf.ones([2, 2]), [1, 4]), [4]),
        "cross": tf.sparse.cross([tf.constant([["a"], ["b"]]), ids]),
        "hashed": tf.sparse.cross_hashed([tf.constant([["a"], ["b"]]), ids], 100, 7),
        "emb": tf.nn.embedding_lookup_sparse(tf.constant(np.arange(8.0).reshape(4, 2)), ids, None, combiner="sqrtn"),
        "safe": tf.nn.safe_embedding_lookup_sparse([tf.constant(np.arange(8.0).reshape(4, 2))], ids),
        "bin": tf.sparse.to_dense(tf.sparse.from_dense([[0, 1], [2, 0]])),
        "dts": tf.contrib.layers.dense_to_sparse([[1, 0]]),
        "hash": tf.string_to_hash_bucket_fast(tf.sparse.cross([tf.constant([["a"], ["b"]])]).values, 10),
    }
    names = sorted(vals)
    out(
        "shapes",
        [
            ph.shape.as_list() if ph.shape.ndims else None,
            ph.get_shape().as_list(),
            sp.dtype.name,
            [t.shape.as_list() for t in (ph.indices, ph.values, ph.dense_shape)],
            filled.shape.as_list(),
        ],
    )
    out("consumers", [len(sp.consumers()) > 3, sp.op.type, sp.graph is tf.get_default_graph()])
    out.raises("rank", tf.SparseTensor, [[0]], [1.0], [[3]])
    out.raises("not sparse", tf.sparse.to_dense, tf.constant([1]))
    out.raises("add dense", tf.sparse.add, tf.ones([2]), tf.ones([2]))
    out.raises("axis", tf.sparse.split, sp_input=sp, num_split=0, axis=1)
    out.raises("merge kinds", tf.sparse.merge, [sp], sp, 3)
    g = tf.gradients(tf.reduce_sum(vals["mm"]) + tf.reduce_sum(vals["dense"]), ph.values)
    feed = {ph: tf.SparseTensorValue(np.array([[0, 1], [1, 3]]), np.array([2.0, 4.0], np.float32), np.array([2, 4]))}
    with tf.Session() as sess:
        for n, v in zip(names, sess.run([vals[n] for n in names], feed)):
            out(
                n,
                [list(e) if hasattr(e, "_fields") else e for e in v]
                if isinstance(v, list)
                else list(v)
                if hasattr(v, "_fields")
                else v,
            )
        out("grad", sess.run(g, feed))
        out.raises("order", sess.run, tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])))
        out.raises("reset smaller", tf.sparse.reset_shape, sp, [1, 1])
        out.raises("feed", sess.run, vals["dense"], {ph: np.zeros([2, 4])})
    out.graph()
