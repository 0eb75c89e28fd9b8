"""Learning rates that decay, at several steps."""

import tensorflow as tf


def run(out):
    tf.set_random_seed(1)
    g = tf.train.get_or_create_global_step()
    st = tf.placeholder(tf.int64, [], name="st")
    a = tf.assign(g, st)
    D = dict(
        cos=tf.train.cosine_decay(0.1, g, 100, alpha=0.01),
        cosr=tf.train.cosine_decay_restarts(0.1, g, 30, t_mul=1.5, m_mul=0.8, alpha=0.1),
        lin=tf.train.linear_cosine_decay(0.1, g, 100, num_periods=0.7, alpha=0.1, beta=0.01),
        pw=tf.train.piecewise_constant_decay(g, [10, 50], [1.0, 0.5, 0.1]),
        pw2=tf.train.piecewise_constant(tf.cast(g, tf.int32), [10, 50], [1.0, 0.5, 0.1]),
        exp=tf.train.exponential_decay(0.1, g, 10, 0.9, staircase=True),
        inv=tf.train.inverse_time_decay(0.1, g, 10, 0.5),
        nat=tf.train.natural_exp_decay(0.1, g, 10, 0.5, staircase=True),
        poly=tf.train.polynomial_decay(0.1, g, 40, 0.01, power=2.0, cycle=True),
        poly2=tf.train.polynomial_decay(0.1, g, 40),
    )
    noisy = tf.train.noisy_linear_cosine_decay(0.1, g, 100)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for k in (0, 1, 10, 37, 50, 120):
            s.run(a, {st: k})
            for n, t in D.items():
                out("%s %d" % (n, k), s.run(t), rtol=1e-5, atol=1e-8)
            out("noisy %d" % k, s.run(noisy), rtol=1e-4, seeded=True)
        for n, t in D.items():
            out.shape(n, t)
    out.graph()
    out.raises("err none", tf.train.exponential_decay, 0.1, None, 10, 0.9)
    out.raises("err len", tf.train.piecewise_constant, g, [1, 2], [1.0, 2.0])
    out.raises("err types", tf.train.piecewise_constant, g, [1.5], [1.0, 2.0])
    out.raises("err cos", tf.train.cosine_decay, 0.1, None, 10)
