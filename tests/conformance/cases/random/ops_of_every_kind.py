"""Random ops under graph and op seeds: truncated, exponential-like, gamma, poisson, categorical, shuffles, stateless, initializers, candidates, dropout."""

import numpy as np
import tensorflow as tf


def run(out):
    tf.set_random_seed(11)
    shape = tf.constant([2, 3])
    I = tf.initializers
    made = {
        "trunc": tf.truncated_normal(shape, 1.0, 2.0),
        "normal64": tf.random_normal([4], dtype=tf.float64, seed=3),
        "half": tf.random_uniform([4], dtype=tf.float16),
        "ints": tf.random_uniform([5], 3, 90, tf.int32, seed=4),
        "int64": tf.random_uniform([3], 0, 1 << 40, tf.int64),
        "gamma": tf.random_gamma([2], [0.5, 3.0], [1.0, 2.0]),
        "poisson": tf.random_poisson([0.5, 20.0], [3]),
        "categorical": tf.random.categorical([[0.1, 0.9], [2.0, 0.0]], 5, dtype=tf.int32),
        "multinomial": tf.multinomial([[0.0, 0.0, 5.0]], 4, seed=5),
        "shuffle": tf.random_shuffle(tf.range(6)),
        "crop": tf.random_crop(tf.reshape(tf.range(12), [3, 4]), [2, 2]),
        "dropout": tf.nn.dropout(tf.ones([2, 4]), rate=0.4, noise_shape=[1, 4]),
        "adropout": tf.contrib.nn.alpha_dropout(tf.ones([6]), 0.7, seed=6),
        "sless": tf.random.stateless_normal([3], [1, 2]),
        "slessu": tf.random.stateless_uniform([3], tf.constant([3, 4], tf.int64), 0, 10, tf.int32),
        "slesst": tf.random.stateless_truncated_normal([2], [5, 6]),
        "slessc": tf.random.stateless_categorical([[0.3, 0.7]], 4, [7, 8]),
        "orth": I.orthogonal(gain=1.5)([3, 2]),
        "vs": I.variance_scaling(2.0, "fan_avg", "uniform")([3, 4]),
        "vst": I.variance_scaling(1.0, "fan_in", "truncated_normal", seed=9)([3, 4]),
        "he": I.he_normal()([2, 2, 3, 4]),
        "lecun": I.lecun_uniform(seed=1)([4, 2]),
        "glorot": tf.glorot_normal_initializer()([5, 2]),
        "tn": I.truncated_normal(stddev=0.1)([3]),
        "delta": tf.contrib.framework.convolutional_delta_orthogonal(gain=1.0) and I.identity(gain=2.0)([2, 2]),
        "unit": tf.uniform_unit_scaling_initializer(1.2)([3, 3]),
        "xavier": tf.contrib.layers.xavier_initializer(False)([3, 3]),
        "log": list(tf.nn.log_uniform_candidate_sampler([[1, 2]], 2, 4, True, 50, seed=2)),
        "learned": list(tf.nn.learned_unigram_candidate_sampler([[1, 2]], 2, 4, False, 20, seed=2)),
        "fixed": list(
            tf.nn.fixed_unigram_candidate_sampler([[1]], 1, 3, False, 4, unigrams=[0.1, 0.2, 0.3, 0.4], seed=2)
        ),
        "bright": tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.5),
        "flip": tf.image.random_flip_left_right(tf.reshape(tf.range(12.0), [2, 2, 3]), seed=3),
        "hue": tf.image.random_hue(tf.ones([1, 1, 3]) * [0.2, 0.5, 0.7], 0.3),
        "sat": tf.image.random_saturation(tf.ones([1, 1, 3]) * [0.2, 0.5, 0.7], 0.5, 1.5, seed=8),
        "jpeg": tf.random.uniform([], seed=1),
        "bern": tf.distributions.Bernoulli(probs=[0.2, 0.8]).sample(3, seed=12),
        "norm": tf.distributions.Normal(0.0, [1.0, 2.0]).sample([2], seed=13),
        "beta": tf.distributions.Beta(2.0, 3.0).sample(2, seed=14),
        "dir": tf.distributions.Dirichlet([1.0, 2.0, 3.0]).sample(seed=15),
        "st": tf.distributions.StudentT(3.0, 0.0, 1.0).sample(2, seed=16),
        "lap": tf.distributions.Laplace(0.0, 1.0).sample(2, seed=17),
        "multi": tf.distributions.Multinomial(5.0, probs=[0.2, 0.8]).sample(seed=18),
        "expo": tf.distributions.Exponential(2.0).sample(2, seed=19),
    }
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        with tf.Session() as sess:
            out("other graph", sess.run(tf.random_uniform([2])), seeded=True)
    names = sorted(made)
    out("seeds", [[made[n].op.get_attr("seed"), made[n].op.get_attr("seed2")] for n in ("multinomial", "shuffle")])
    out.raises("bounds", tf.random_uniform, [2], 0.5, 1, tf.int32)
    out.raises("no max", tf.random_uniform, [2], dtype=tf.int32)
    out.raises("rate", tf.nn.dropout, tf.ones([2]), rate=1.5)
    out.raises("mode", I.variance_scaling, 1.0, "fan_none")
    out.raises("orth rank", I.orthogonal(), [3])
    with tf.Session() as sess:
        for turn in range(2):
            for n, v in zip(names, sess.run([made[n] for n in names])):
                out("%s %d" % (n, turn), v, seeded=True)
    out.graph()
