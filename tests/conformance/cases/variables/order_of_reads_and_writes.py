"""What reads show that are ordered after writes, of both kinds, in branches and loops."""

import tensorflow as tf


def run(out):
    v = tf.Variable(0, name="v")
    w = tf.Variable(0.0, name="w")
    r = tf.get_variable("r", initializer=0.0, use_resource=True)
    inc = v.assign_add(1)
    with tf.control_dependencies([inc]):
        a = v.read_value()
        b = tf.identity(v)
        c = v + 0
    incw = tf.assign_add(w, 1.0)
    y = w * 2.0
    with tf.control_dependencies([incw]):
        y2 = w * 2.0
        y3 = tf.identity(w) * 2.0
    ir = r.assign_add(1.0)
    z = r * 2.0
    with tf.control_dependencies([ir]):
        z2 = r * 2.0
        z3 = r.read_value()
    ch = tf.assign(w, tf.assign_add(w, 1.0) * 2.0)
    dec = tf.cond(v > 2, lambda: tf.assign(v, 0), lambda: tf.assign_add(v, 5))
    loop = tf.while_loop(lambda i: i < 3, lambda i: tf.tuple([i + 1], control_inputs=[r.assign_add(1.0).op])[0], [0])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out("a", s.run([a, inc]))
        out("bc", s.run([a, b, c]))
        out("v", s.run(v))
        out("y2", s.run([y2, y3]))
        out("yv", s.run([w, incw]))
        out("z", s.run([z2, z3]))
        out("rz", s.run(r))
        out("ch", [s.run(ch), s.run(w)])
        out("dec", [s.run(dec), s.run(dec), s.run(v)])
        out("loop", [s.run(loop), s.run(r)])
        out("fetch both", s.run([v, inc]))
    out.graph()
