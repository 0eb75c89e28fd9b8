"""Defaults that variable scopes hand on, regularizers, and variables cut into parts: nodes, slices, values, gradients."""

import numpy as np
import tensorflow as tf


def run(out):
    reg = lambda s: lambda w: tf.multiply(tf.reduce_sum(tf.square(w)), s, name="reg")
    with tf.variable_scope("a", regularizer=reg(0.1), initializer=tf.ones_initializer(), dtype=tf.float64, use_resource=True) as sc:
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [2], regularizer=tf.no_regularizer)
        x = tf.get_variable("x", [2], dtype=tf.float32, use_resource=False)
        with tf.variable_scope("b", regularizer=reg(0.5)) as sb:
            y = tf.get_variable("y", [3])
        sc.set_regularizer(None)
        z = tf.get_variable("z", [1])
        sc.set_dtype(tf.float32)
        sc.set_use_resource(False)
        sc.set_initializer(tf.zeros_initializer())
        u = tf.get_variable("u", [1])
    out("regs", [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)])
    out("types", [[t.name, t.dtype.name, t.op.type] for t in tf.global_variables()])
    out("scope", [sc.name, sc.dtype.name, sc.use_resource, sc.reuse, sb.dtype.name, sb.use_resource])
    p = tf.get_variable("p", [6, 2], partitioner=tf.fixed_size_partitioner(3), regularizer=reg(1.0), use_resource=True)
    out("parts", [[t.name, t.shape.as_list(), t._get_save_slice_info().spec] for t in p])
    q = tf.get_variable("q", initializer=tf.constant(np.arange(8.0).reshape(4, 2)), partitioner=tf.fixed_size_partitioner(2, axis=1))
    q2 = tf.get_variable("q2", shape=[4], partitioner=tf.variable_axis_size_partitioner(8), initializer=tf.constant_initializer(3))
    e = tf.nn.embedding_lookup(p, [0, 5, 2])
    m = tf.matmul(tf.ones([1, 6]), p)
    g = tf.gradients([e, m], list(p))
    with tf.variable_scope("pp", partitioner=tf.fixed_size_partitioner(2)):
        s = tf.get_variable("s", [])
        t = tf.get_variable("t", [3])
    out("s", [type(s).__name__, type(t).__name__, s.name, t.name])
    ass = q.assign(tf.ones([4, 2], tf.float64))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out("q", sess.run([tf.convert_to_tensor(q), tf.convert_to_tensor(q2)]))
        out("loss", sess.run(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)[:2]))
        sess.run(ass)
        out("q after", sess.run(q.as_tensor()))
    out.raises("reuse part", lambda: tf.get_variable("p", [6, 2]))
    out.graph()
