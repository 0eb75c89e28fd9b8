"""tf.sparse's names: arithmetic, joining, slicing, reductions, crosses, segments."""

import numpy as np
import tensorflow as tf


def run(out):
    a = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], tf.constant([1.0, 2.0, 3.0]), [3, 4])
    b = tf.SparseTensor([[0, 1], [1, 3], [2, 2]], tf.constant([5.0, -6.0, 1.0]), [3, 4])

    def sp(n, t, s):
        v = s.run(t)
        out(n, [v.indices, v.values, v.dense_shape])
        out.shape(n + " s", t.values)

    with tf.Session() as s:
        sp("add", tf.sparse.add(a, b), s)
        sp("addt", tf.sparse.add(a, b, threshold=4.0), s)
        out("addd", s.run(tf.sparse.add(a, tf.ones([3, 4]))))
        sp("max", tf.sparse.maximum(a, b), s)
        sp("min", tf.sparse.minimum(a, b), s)
        sp("concat", tf.sparse.concat(0, [a, b]), s)
        sp("concat1", tf.sparse.concat(-1, [a, b]), s)
        c = tf.SparseTensor([[0, 0]], [1.0], [1, 2])
        sp("concatx", tf.sparse.concat(0, [a, c], expand_nonconcat_dim=True), s)
        f, e = tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [4, 3]), 9.0)
        sp("fill", f, s)
        out("fille", s.run(e))
        sp("reset", tf.sparse.reset_shape(a, [5, 6]), s)
        sp("reset2", tf.sparse.reset_shape(a), s)
        sp("reshape", tf.sparse.reshape(a, [2, -1]), s)
        sp("retain", tf.sparse.retain(a, [True, False, True]), s)
        sp("slice", tf.sparse.slice(a, [1, 0], [2, 3]), s)
        sp("softmax", tf.sparse.softmax(a), s)
        sp("transpose", tf.sparse.transpose(a), s)
        sp("transpose p", tf.sparse.transpose(a, [0, 1]), s)
        out("dm", s.run(tf.sparse.matmul(a, tf.ones([4, 2]))))
        out("dma", s.run(tf.sparse.sparse_dense_matmul(a, tf.ones([3, 2]), adjoint_a=True)))
        out("rmax", s.run(tf.sparse.reduce_max(a, 1)))
        out("rsum", s.run(tf.sparse.reduce_sum(a, 0, keepdims=True)))
        sp("rmaxs", tf.sparse.reduce_max_sparse(a, [1]), s)
        sp("rsums", tf.sparse.reduce_sum_sparse(a, 1, keepdims=True), s)
        for i, t in enumerate(tf.sparse.split(sp_input=a, num_split=2, axis=1)):
            sp("split%d" % i, t, s)
        sp("reorder", tf.sparse.reorder(tf.SparseTensor([[2, 2], [0, 1]], [1.0, 2.0], [3, 4])), s)
        out("dense", s.run(tf.sparse.to_dense(a, -1.0)))
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 1, 2], tf.int64), [2, 2])
        out("ind", s.run(tf.sparse.to_indicator(ids, 5)))
        sp("merge", tf.sparse.merge(ids, tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.1, 0.2, 0.3], [2, 2]), 6), s)
        sp(
            "merge2",
            tf.sparse_merge([ids, ids], tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.1, 0.2, 0.3], [2, 2]), [6, 7]),
            s,
        )
        sp(
            "cross",
            tf.sparse.cross([tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1]), tf.constant([["x"], ["y"]])]),
            s,
        )
        sp("crossh", tf.sparse.cross_hashed([ids, tf.constant([[1], [2]], tf.int64)], 100), s)
        m = tf.sparse.mask(tf.IndexedSlices(tf.constant([[1.0, 2], [3, 4], [5, 6]]), tf.constant([1, 4, 6])), [4])
        v = s.run(m)
        out("mask", [v.values, v.indices])
        for n in ("sum", "mean", "sqrt_n"):
            f = getattr(tf.sparse, "segment_" + n)
            x = tf.constant(np.arange(12.0).reshape(4, 3).astype(np.float32))
            y = f(x, [0, 1, 3, 3], [0, 0, 2, 2])
            out(n, s.run(y))
            y2 = f(x, [0, 1, 3], [0, 0, 2], num_segments=5)
            out(n + "n", s.run(y2))
            out.shape(n + "s", y2)
            out(
                n + "g",
                s.run(tf.gradients(tf.reduce_sum(y * y), x)[0])
                if not isinstance(tf.gradients(tf.reduce_sum(y * y), x)[0], tf.IndexedSlices)
                else 0,
            )
        e = tf.sparse.expand_dims(a, 1)
        sp("exp", e, s)
        sp("eye", tf.sparse.eye(2, 3), s)
        sp("from", tf.sparse.from_dense([[0, 1], [2, 0]]), s)
        p = tf.sparse.placeholder(tf.float32, [None, 4])
        sp2 = tf.sparse.add(p, p)
        out.shape("ph", sp2.values)
        out("phv", s.run(sp2, {p: tf.SparseTensorValue([[0, 0]], [2.0], [2, 4])})[1])
        ser = tf.io.serialize_many_sparse(a)
        d = tf.io.deserialize_many_sparse(ser, tf.float32)
        sp("ser", d, s)
    out.graph()
    out.raises("err retain", tf.sparse.retain, a, [True])
    out.raises("err type", tf.sparse.softmax, 1)
    out.raises("err merge", tf.sparse.merge, ids, 1, 2)
    out.raises("err split", tf.sparse.split, sp_input=a)
