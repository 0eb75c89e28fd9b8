"""Each optimizer of tf.train and several of contrib on dense and sparse gradients: slots, names, values, variables()."""

import numpy as np
import tensorflow as tf


def run(out):
    made = {
        "sgd": tf.train.GradientDescentOptimizer(0.1),
        "mom": tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "adag": tf.train.AdagradOptimizer(0.1, 0.2),
        "dual": tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), 0.1, 0.01, 0.02),
        "adad": tf.train.AdadeltaOptimizer(0.5),
        "adam": tf.train.AdamOptimizer(0.01, epsilon=0.1),
        "rms": tf.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
        "ftrl": tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.1),
        "pgd": tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
        "pada": tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01),
        "adamax": tf.contrib.opt.AdaMaxOptimizer(0.01),
        "nadam": tf.contrib.opt.NadamOptimizer(0.01),
        "lazy": tf.contrib.opt.LazyAdamOptimizer(0.01),
        "power": tf.contrib.opt.PowerSignOptimizer(0.1),
        "addsign": tf.contrib.opt.AddSignOptimizer(0.1),
        "lars": tf.contrib.opt.LARSOptimizer(0.1),
    }
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    steps, watched = {}, {}
    for name, optimizer in made.items():
        with tf.variable_scope(name):
            w = tf.get_variable("w", [3], initializer=tf.constant_initializer([1.0, -2.0, 0.5]))
            e = tf.get_variable(
                "e", [4, 3], initializer=tf.ones_initializer(), use_resource=name in ("sgd", "mom", "adam", "rms")
            )
            rows = tf.nn.embedding_lookup(e, [1, 3, 1])
            loss = tf.reduce_mean((tf.reduce_sum(x * w, 1)) ** 2) + tf.reduce_sum(rows[:, 0] * rows[:, 1])
            pairs = optimizer.compute_gradients(loss, [w, e])
            steps[name] = optimizer.apply_gradients(pairs, name="go_" + name)
            watched[name] = [w, e]
            out(
                "slots " + name,
                [
                    optimizer.get_slot_names(),
                    [
                        None if optimizer.get_slot(w, s) is None else optimizer.get_slot(w, s).name
                        for s in optimizer.get_slot_names()
                    ],
                    sorted(v.name for v in optimizer.variables()),
                    optimizer.get_name(),
                    type(pairs[1][0]).__name__,
                ],
            )
    out.raises(
        "no gradients", tf.train.AdamOptimizer().minimize, tf.constant(1.0), var_list=[tf.get_variable("q", [1])]
    )
    out.raises("empty", tf.train.AdamOptimizer().apply_gradients, [])
    out.raises("not variable", tf.train.AdamOptimizer().apply_gradients, [(tf.constant(1.0), tf.constant(1.0))])
    out.raises("no name", lambda: tf.train.GradientDescentOptimizer(0.1, name=""))
    bump = tf.assign_add(tf.train.get_global_step(), 1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            feed = {x: np.arange(6).reshape(2, 3) / 4.0 - i / 2.0}
            for name in made:
                sess.run(steps[name], feed)
            sess.run(bump)
        for name in made:
            out(name, sess.run(watched[name]), rtol=1e-4, atol=1e-5)
    out.graph()
