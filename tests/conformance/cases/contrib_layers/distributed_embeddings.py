"""embedding_lookup_sparse_with_distributed_aggregation over variables, dtypes and shapes not known."""

import numpy as np
import tensorflow as tf

f = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation


def run(out):
    tf.set_random_seed(3)
    idx = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]]
    sp = tf.SparseTensor(idx, tf.constant([1, 3, 0, 2, 5], tf.int64), [4, 3])
    w = tf.SparseTensor(idx, [1.0, 3.0, 0.5, 2.0, 5.0], [4, 3])
    w64 = tf.SparseTensor(idx, tf.constant([1.0, 3.0, 0.5, 2.0, 5.0], tf.float64), [4, 3])
    wi = tf.SparseTensor(idx, tf.constant([1, 3, 2, 2, 5]), [4, 3])
    part = tf.get_variable("part", [7, 3], partitioner=tf.fixed_size_partitioner(3), initializer=tf.ones_initializer())
    res = tf.get_variable("res", [6, 3], use_resource=True, initializer=tf.constant_initializer(np.arange(18)))
    one = tf.get_variable("one", [6, 2, 2], initializer=tf.constant_initializer(np.arange(24)))
    rlist = [tf.get_variable("r%d" % i, [3, 2], use_resource=True, initializer=tf.constant_initializer(np.arange(6) * i)) for i in range(2)]
    d64 = tf.constant(np.arange(12.0).reshape(6, 2))
    ph = tf.placeholder(tf.float32, [None, 2])
    ph2 = tf.placeholder(tf.float32)
    phs = tf.sparse_placeholder(tf.int64)
    phw = tf.sparse_placeholder(tf.float32)
    ys = []

    def go(label, *a, **k):
        try:
            y = f(*a, **k)
            ys.append(y)
            out(label, [y.name, y.dtype.name, y.shape])
        except Exception as e:
            out(label, type(e).__name__)

    go("part", part, sp, None, combiner="sqrtn")
    go("part div w", part, sp, w, combiner="sqrtn", partition_strategy="div")
    go("res", res, sp, w, combiner="mean")
    go("res none", res, sp, None, combiner="mean", name="named")
    go("rank3", one, sp, w, combiner="mean")
    go("rank3 none", one, sp, None, combiner="sqrtn", max_norm=3.0)
    go("rank3 list", [one, one], sp, None, combiner="sqrtn", max_norm=3.0)
    go("rank3 list w", [one, one], sp, w, combiner="sum", max_norm=3.0)
    go("rlist", rlist, sp, None, combiner="sum")
    go("rlist w", rlist, sp, w, combiner="sum", partition_strategy="div")
    go("one max w", res, sp, w, combiner="sum", max_norm=2.0)
    go("d64 w", d64, sp, w, combiner="mean")
    go("d64 w64", d64, sp, w64, combiner="sqrtn")
    go("d64 none", d64, sp, None, combiner="sqrtn")
    go("wi", res, sp, wi, combiner="mean")
    go("f32 w64", [res, res], sp, w64, combiner="mean")
    go("ph", ph, sp, w, combiner="mean")
    go("phs", [ph, ph], phs, phw, combiner="mean")
    go("phs div", [ph, ph], phs, None, combiner="mean", partition_strategy="div")
    go("ph2", ph2, phs, phw, combiner="mean")
    go("ph2 list", [ph2, ph2], phs, phw, combiner="mean")
    go("ph2 list none", [ph2, ph2], phs, None, combiner="mean")
    go("strategy", [d64, d64], sp, None, combiner="mean", partition_strategy="x")
    go("empty", [], sp, None)
    go("tuple", (d64, d64), sp, None)
    go("np", np.eye(6), sp, None)
    go("wshape", d64, sp, tf.SparseTensor([[0, 0]], [1.0], [4, 3]))
    tl = [v for v in tf.trainable_variables()]
    g = tf.gradients([ys[0], ys[2], ys[8]], tl)
    out("grads0", [type(x).__name__ for x in g])
    g = tf.gradients([ys[1], ys[3], ys[9]], tl)
    out("grads", [type(x).__name__ for x in g])
    out.graph()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        feed = {
            ph: np.arange(12.0).reshape(6, 2),
            phs: tf.SparseTensorValue(idx, [1, 3, 0, 2, 5], [4, 3]),
            phw: tf.SparseTensorValue(idx, [1.0, 3.0, 0.5, 2.0, 5.0], [4, 3]),
            ph2: np.arange(12.0).reshape(6, 2),
        }
        for i, y in enumerate(ys):
            try:
                out("value %d %s" % (i, y.op.name), s.run(y, feed))
            except Exception as e:
                out("value %d" % i, type(e).__name__)
