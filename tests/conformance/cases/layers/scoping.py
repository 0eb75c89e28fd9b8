"""tf.layers in scopes: getters, reuse, name collisions, partitions, own and nested layers, losses and updates."""

import numpy as np
import tensorflow as tf


class Mine(tf.layers.Layer):
    def __init__(self, units, **k):
        super(Mine, self).__init__(**k)
        self.units = units
        self.inner = None

    def build(self, s):
        self.w = self.add_weight(
            "w", [int(s[-1]), self.units], initializer=tf.ones_initializer(), regularizer=tf.contrib.layers.l2_regularizer(0.1)
        )
        self.b = self.add_variable("b", [self.units], trainable=False)
        self.c = self.add_weight("count", [], dtype=tf.int32, initializer=tf.zeros_initializer(), trainable=False, use_resource=True)
        self.built = True

    def call(self, x, scale=1.0):
        y = tf.matmul(x, self.w) * scale
        self.add_loss(tf.reduce_sum(y), inputs=True)
        self.add_update(tf.assign_add(self.b, tf.reduce_sum(y, 0)), inputs=True)
        return y

    def compute_output_shape(self, s):
        return tf.TensorShape([s[0], self.units])


class Nested(tf.layers.Layer):
    def __init__(self, **k):
        super(Nested, self).__init__(**k)
        self.a = tf.layers.Dense(3)
        self.d = tf.layers.Dense(2, name="second")

    def call(self, x):
        return self.d(self.a(x))


def run(out):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    names = []

    def getter(getter, name, *a, **k):
        names.append([name, sorted(k)])
        return (lambda v, **k: v)(getter(name, *a, **k), name="got") if k.get("dtype") != tf.int32 else getter(name, *a, **k)

    m = Mine(3)
    y1 = m(x)
    y2 = m(x, scale=2.0)
    out(
        "mine",
        [
            m.name,
            m.scope_name,
            y1.name,
            y2.name,
            [l.name for l in m.losses],
            [u.name for u in m.updates],
            [w.name for w in m.weights],
            [w.name for w in m.trainable_weights],
        ],
    )
    m2 = Mine(3, name="mine")
    y = m2(x)
    out("m2", [m2.name, m2.scope_name, y.name])
    m3 = Mine(3, _scope="other")
    y = m3(x)
    out("m3", [m3.name, m3.scope_name, y.name])
    with tf.variable_scope("vs", custom_getter=getter, initializer=tf.zeros_initializer()):
        d = tf.layers.dense(x, 2)
        d2 = tf.layers.dense(x, 2, name="named")
        d3 = tf.layers.dense(x, 2)
        n = Mine(2)
        n(x)
    out("getter", names)
    out("d", [d.name, d2.name, d3.name, n.name, n.scope_name])
    with tf.variable_scope("vs", reuse=True):
        e = tf.layers.dense(x, 2)
        e2 = tf.layers.dense(x, 2, name="named")
        out("e", [e.name, e2.name])
    with tf.variable_scope("vs", reuse=tf.AUTO_REUSE):
        e = tf.layers.dense(x, 2, name="fresh")
        e2 = tf.layers.dense(x, 2, name="fresh")
        e3 = tf.layers.dense(x, 2)
        out("f", [e.name, e2.name, e3.name])

    def again():
        with tf.variable_scope("vs"):
            return tf.layers.dense(x, 2, name="named")

    out.raises("again", again)
    out.raises("reuse none", lambda: tf.layers.dense(x, 2, name="absent", reuse=True))
    out.raises("shape", lambda: tf.layers.dense(tf.ones([2, 7]), 2, name="ns", reuse=tf.AUTO_REUSE))
    with tf.name_scope("ns"):
        f = tf.layers.dense(x, 2)
        g = tf.layers.dense(x, 2, name="gg")
        out("ns", [f.name, g.name])
        g = tf.layers.dense(x, 2, name="gg", reuse=True)
        out("ns2", g.name)
    ne = Nested()
    z = ne(x)
    z2 = ne(x)
    out("nested", [ne.name, z.name, z2.name, [w.name for w in ne.weights], ne.a.name, ne.d.name, ne.d.scope_name])
    with tf.variable_scope("part", partitioner=tf.fixed_size_partitioner(2)):
        p = tf.layers.dense(x, 4)
        out("part", [p.name, [v.name for v in tf.global_variables("part")]])
    l = tf.layers.Dense(3, name="built")
    out("before", [l.built, l.name])
    l.build([None, 4])
    out("built", [l.built, [w.name for w in l.weights], l.count_params()])
    out("apply", l.apply(x).name)
    out.raises("io", lambda: l.input)
    out.raises("io2", lambda: l.get_input_at(0))
    out.raises("graphx", lambda: tf.layers.Dense(3).input)
    out.raises("count", lambda: tf.layers.Dense(3).count_params())
    out.raises("kw", tf.layers.Dense, 3, foo=3)
    out.raises("compute", lambda: l(tf.ones([2, 5])))
    out("spec", [l.input_spec.min_ndim, str(l.input_spec.axes)])
    out(
        "compute shape",
        [
            l.compute_output_shape([None, 4]).as_list(),
            tf.layers.Conv2D(3, 3).compute_output_shape([None, 8, 8, 2]).as_list(),
            tf.layers.Conv2DTranspose(3, 3, strides=2, padding="same").compute_output_shape([None, 8, 8, 2]).as_list(),
        ],
    )
    for k in ("variables", "trainable_variables", "regularization_losses", "update_ops", "losses"):
        out(k, [v.name for v in tf.get_collection(k)])
    with tf.Graph().as_default():
        out.raises("other graph", l, tf.ones([2, 4]))
    out.graph()
