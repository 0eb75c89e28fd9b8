"""tf.gradients of several, complex, integer and text ys, with gradients given, twice, and what it refuses."""

import numpy as np
import tensorflow as tf


def run(out):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.reduce_sum(x, 1)
    z = tf.reduce_mean(tf.tanh(x) * tf.sigmoid(x))
    g = tf.gradients([y, z], x, name="gg")
    h = tf.gradients(g, x)
    k = tf.gradients(tf.nn.softmax(x)[:, 0], x, grad_ys=tf.ones([2]))
    c = tf.constant([1 + 2j, 3 - 1j])
    gc = tf.gradients(tf.real(c * c), c)
    out.raises("complex", lambda: tf.gradients(c * c, c))
    i = tf.constant([1, 2])
    out("int", [tf.gradients(tf.cast(i, tf.float32), i), tf.gradients(i * 2, i) == [None]])
    out.raises("str", lambda: tf.gradients(tf.constant("a"), x))
    out("none", tf.gradients(x * 2.0, [tf.constant(1.0)]))
    out("self", [t.name for t in tf.gradients(x, x)])
    s = tf.IndexedSlices(tf.constant([[1.0, 1.0, 1.0]]), tf.constant([0]), tf.constant([2, 3]))
    w = tf.Variable(np.ones((2, 3), "f"))
    out("slices y", [type(t).__name__ for t in tf.gradients(w * 2.0, w, grad_ys=[s])])
    out("two", [t.name for t in tf.gradients([x * 2.0, tf.exp(x)], [x, x])])
    out.raises("len", lambda: tf.gradients(y, x, [None, None]))
    out.raises("shape", lambda: tf.gradients(y, x, grad_ys=[tf.ones([2, 2])]))
    with tf.Session() as sess:
        f = {x: np.arange(6.0).reshape(2, 3)}
        out("v", sess.run([g, h, k, gc], f))
    out.graph()
