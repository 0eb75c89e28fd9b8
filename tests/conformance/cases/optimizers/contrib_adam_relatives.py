"""LazyAdam, Nadam, AdaMax, AdamW and the multi-task wrapper on dense and sparse gradients."""

import tensorflow as tf


def run(out):
    O = tf.contrib.opt
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
    e = tf.Variable([[1.0], [2.0], [3.0]], name="e")
    loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(w, [0])) + tf.reduce_sum(tf.square(tf.gather(e, [1, 2])))
    for n, o in [
        ("lazy", O.LazyAdamOptimizer(0.1)),
        ("nadam", O.NadamOptimizer(0.1)),
        ("adamax", O.AdaMaxOptimizer(0.1)),
        ("adamw", O.AdamWOptimizer(0.1, 0.1)),
        ("multi", O.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))),
    ]:
        with tf.name_scope(n):
            t = o.minimize(loss)
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            s.run(t)
            s.run(t)
            out(n, s.run([v, w, e]), rtol=1e-4)
    out.graph()
