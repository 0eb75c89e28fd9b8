"""Layers of every kind with seldom used arguments: values, names, collections, errors."""

import numpy as np
import tensorflow as tf


def run(out):
    tf.set_random_seed(3)
    r = np.random.RandomState(0)
    x1 = tf.constant(r.rand(2, 8, 3).astype(np.float32))
    x2 = tf.constant(r.rand(2, 8, 8, 3).astype(np.float32))
    x3 = tf.constant(r.rand(1, 4, 6, 6, 2).astype(np.float32))
    p = tf.placeholder(tf.float32, [None, None, None, 3], name="p")
    L = tf.layers
    T = dict(
        ap1=L.average_pooling1d(x1, 2, 2),
        ap2=L.average_pooling2d(x2, [2, 3], 2, padding="same"),
        ap3=L.average_pooling3d(x3, 2, 2),
        mp1=L.max_pooling1d(x1, 3, 1, padding="same"),
        mp3=L.max_pooling3d(x3, [2, 2, 2], [1, 2, 2]),
        ct2=L.conv2d_transpose(x2, 4, 3, strides=(2, 1), padding="same", name="ct2"),
        ct3=L.conv3d_transpose(x3, 3, 2, strides=2, use_bias=False),
        c3=L.conv3d(x3, 2, [1, 2, 3], activation=tf.nn.relu, padding="same"),
        s1=L.separable_conv1d(x1, 5, 3, depth_multiplier=2),
        s2=L.separable_conv2d(x2, 5, 3, strides=2, dilation_rate=1, pointwise_regularizer=tf.nn.l2_loss),
        fl=L.flatten(x3),
        fp=L.flatten(tf.placeholder(tf.float32, [None, None, 3])),
        c1=L.conv1d(x1, 4, 3, dilation_rate=2, padding="same", kernel_constraint=lambda v: v * 0.5),
        d=L.dense(x1, 5, bias_initializer=tf.ones_initializer(), activity_regularizer=lambda a: tf.reduce_sum(a) * 0.1),
        dr=L.dropout(x1, 0.5, noise_shape=[2, 1, 3], seed=4, training=True),
        bn=L.batch_normalization(x2, training=True, renorm=True, fused=False),
        bnv=L.batch_normalization(x2, axis=[1, 2], training=False, virtual_batch_size=None, name="bnv"),
        bnf=L.batch_normalization(x2, training=True, momentum=0.5, center=False),
        cp=L.conv2d(p, 4, 3, name="cp"),
        ctp=L.conv2d_transpose(p, 4, 3, strides=2, name="ctp"),
        pp=L.max_pooling2d(p, 2, 2),
    )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for n, t in T.items():
            out.shape(n + " s", t)
            if n not in ("fp", "cp", "ctp", "pp"):
                out(n, s.run(t), rtol=1e-3, atol=1e-4, seeded=True)
        s.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        out("moving", [s.run(v) for v in tf.global_variables() if "moving" in v.name], rtol=1e-3, atol=1e-4)
        out("cpv", s.run(tf.shape(T["ctp"]), {p: np.zeros([2, 5, 6, 3])}))
    out("vars", [(v.name, v.shape.as_list()) for v in tf.global_variables()])
    out("trainable", [v.name for v in tf.trainable_variables()])
    out("updates", [o.name for o in tf.get_collection(tf.GraphKeys.UPDATE_OPS)])
    out("reg", [o.name for o in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)])
    lay = L.Conv2D(3, 3, name="again")
    lay(x2)
    lay(x2)
    out(
        "layer",
        [
            lay.name,
            [w.name for w in lay.weights],
            lay.count_params(),
            lay.built,
            len(lay.trainable_weights),
            lay.scope_name,
        ],
    )
    with tf.variable_scope("o"):
        l2 = L.Dense(4)
        y = l2(x1)
        with tf.variable_scope("i", reuse=tf.AUTO_REUSE):
            L.dense(x1, 2, name="z")
            L.dense(x1, 2, name="z")
    out("more", [v.name for v in tf.global_variables()][-6:])
    out.graph()
    out.raises("err rank", L.conv2d, x1, 3, 3)
    out.raises("err reuse", lambda: L.dense(x1, 2, reuse=True, name="nope"))
    out.raises("err fmt", L.conv2d, x2, 3, 3, data_format="x")
    out.raises("err ks", L.conv2d, x2, 3, [1, 2, 3])
    out.raises("err dense", L.dense, tf.placeholder(tf.float32, [None, None]), 3)
    out.raises("err strides", L.conv2d, x2, 3, 3, strides=2, dilation_rate=2)
    out.raises("err compat", lay, x2[..., :2])
