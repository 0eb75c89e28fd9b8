"""Gradients through cond, while_loop and map_fn, of variables of both kinds."""

import tensorflow as tf


def run(out):
    x = tf.constant([1.0, 2.0, 3.0], name="x")
    p = tf.placeholder_with_default(True, [], name="p")
    v = tf.Variable([2.0, 3.0, 4.0], name="v")
    r = tf.get_variable("r", initializer=[2.0, 3.0, 4.0], use_resource=True)
    c = tf.cond(p, lambda: x * v, lambda: x + r)
    g = tf.gradients(c, [x, v, r])
    i = tf.constant(0)
    _, w = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v + x), [i, x])
    gw = tf.gradients(w, [x, v])
    _, w2 = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * r), [i, x])
    gw2 = tf.gradients(w2, [x, r])
    m = tf.map_fn(lambda t: t * t + v[0], x)
    gm = tf.gradients(m, [x, v])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("c", s.run([c] + [t for t in g if isinstance(t, tf.Tensor)]))
        out("c2", s.run([t for t in g if isinstance(t, tf.Tensor)], {p: False}))
        out("gw", s.run(gw))
        out("gw2", s.run(gw2))
        out("gm", s.run([tf.convert_to_tensor(t) for t in gm]))
    out.graph()
