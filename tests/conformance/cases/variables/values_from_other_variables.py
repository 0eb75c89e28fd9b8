"""Initial values made of other variables, initialized_value, variables made inside loops."""

import tensorflow as tf


def run(out):
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(a + 1.0, name="b")
    c = tf.Variable(tf.stack([a, b]) * b.initialized_value(), name="c")
    r = tf.Variable(2.0, name="r", use_resource=True)
    s = tf.Variable(r * 3.0, name="s", use_resource=True)
    t = tf.Variable(lambda: r.initialized_value() + 1.0, name="t", use_resource=True)
    with tf.variable_scope("sc"):
        d = tf.get_variable("d", initializer=a.initialized_value())
        e = tf.get_variable("e", initializer=b * 2.0)
    with tf.Session() as sess:
        sess.run(a.initializer)
        sess.run(c.initializer)
        out("c", sess.run(c))
        out.raises("b", lambda: sess.run(b))
        sess.run([d.initializer, e.initializer])
        out("de", sess.run([d, e]))
        sess.run(r.initializer)
        sess.run([s.initializer, t.initializer])
        out("st", sess.run([s, t]))

    def inloop():
        def body(i):
            q = tf.constant(1.0)
            tf.Variable(q * 2.0)
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [0])

    out.raises("inloop", inloop)

    def inloop2():
        tf.while_loop(lambda i: i < 3, lambda i: i + tf.Variable(lambda: 1, name="lv", use_resource=True), [0])

    out.raises("inloop2", inloop2)
    out.graph()
