"""Gathers of ref and resource variables beside dense uses: slices, clipping, updates."""

import numpy as np
import tensorflow as tf


def run(out):
    emb = tf.get_variable("emb", [5, 2], initializer=tf.constant_initializer(np.arange(10.0).reshape(5, 2)))
    er = tf.get_variable("er", [5, 2], initializer=tf.constant_initializer(np.arange(10.0).reshape(5, 2)), use_resource=True)
    ids = tf.constant([[0, 1], [1, 3]])
    a = tf.nn.embedding_lookup(emb, ids)
    b = tf.nn.embedding_lookup(er, ids)
    c = tf.gather(tf.transpose(emb), [1], axis=1)
    d = tf.gather_nd(er, [[0, 1], [2, 0]])
    l = tf.reduce_sum(a * b) + tf.reduce_sum(c) + tf.reduce_sum(d) + tf.reduce_mean(emb)
    g = tf.gradients(l, [emb, er])
    out("kinds", [type(t).__name__ for t in g])
    gs = [tf.clip_by_global_norm(g, 1.0)[0]]
    opt = tf.train.AdagradOptimizer(0.5)
    tr = opt.apply_gradients(zip(gs[0], [emb, er]))
    tr2 = tf.train.MomentumOptimizer(0.5, 0.9).minimize(l)
    tr3 = tf.train.AdamOptimizer().minimize(l, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("g", s.run([tf.convert_to_tensor(t) for t in g]))
        for i, t in enumerate([tr, tr2, tr3]):
            s.run(t)
            out("t%d" % i, s.run([emb, er]), rtol=1e-4)
    out.graph()
