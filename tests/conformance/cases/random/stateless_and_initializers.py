"""Stateless draws, seeded ops, candidate samplers and initializers."""

import tensorflow as tf


def run(out):
    with tf.Session() as s:
        for n, f in dict(
            n=lambda: tf.random.stateless_normal([2, 3], [1, 2], mean=1.0, stddev=2.0),
            tn=lambda: tf.random.stateless_truncated_normal([5], [3, 4]),
            u=lambda: tf.random.stateless_uniform([4], [5, 6], minval=-1.0, maxval=3.0),
            ui=lambda: tf.random.stateless_uniform([6], [7, 8], minval=0, maxval=10, dtype=tf.int32),
            u64=lambda: tf.random.stateless_uniform([6], [7, 8], minval=0, maxval=10**12, dtype=tf.int64),
            h=lambda: tf.random.stateless_normal([4], [1, 1], dtype=tf.float16),
            d=lambda: tf.random.stateless_normal([4], [1, 1], dtype=tf.float64),
            m=lambda: tf.random.stateless_multinomial([[0.1, 0.5, 0.2]], 8, [2, 3]),
            c=lambda: tf.random.stateless_categorical([[0.1, 0.5, 0.2], [1.0, 2.0, 3.0]], 8, [2, 3], dtype=tf.int32),
        ).items():
            t = f()
            out(n, s.run(t), rtol=1e-4, atol=1e-5, seeded=True)
            out.shape(n + " s", t)
        tf.set_random_seed(11)
        out("seed", list(tf.random.get_seed(3)))
        out("seed2", list(tf.random.get_seed(None)))
        for n, f in dict(
            gamma=lambda: tf.random.gamma([4], [0.5, 2.0], beta=3.0, seed=1),
            pois=lambda: tf.random.poisson([2.0, 30.0], [5], seed=2),
            shuf=lambda: tf.random.shuffle(tf.range(10), seed=3),
            crop=lambda: tf.random_crop(tf.reshape(tf.range(20), [4, 5]), [2, 2], seed=4),
            mult=lambda: tf.random.multinomial([[1.0, 2.0, 0.5]], 6, seed=5),
            cat=lambda: tf.random.categorical([[1.0, 2.0, 0.5]], 6, seed=6),
            tnorm=lambda: tf.random.truncated_normal([5], seed=7),
            ui8=lambda: tf.random.uniform([5], 0, 100, tf.int64, seed=8),
        ).items():
            t = f()
            out(n, s.run(t), rtol=1e-4, atol=1e-5, seeded=True)
            out.shape(n + " s", t)
        for n, args in dict(
            all=(tf.random.all_candidate_sampler, dict(num_true=1, num_sampled=5, unique=True)),
            fixed=(
                tf.random.fixed_unigram_candidate_sampler,
                dict(num_true=1, num_sampled=3, unique=True, range_max=4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=3),
            ),
            learned=(
                tf.random.learned_unigram_candidate_sampler,
                dict(num_true=1, num_sampled=3, unique=False, range_max=6, seed=4),
            ),
        ).items():
            res = args[0](tf.constant([[1], [2]], tf.int64), **args[1])
            out(n, s.run(list(res)), rtol=1e-4, seeded=True)
        for init in (
            "glorot_normal",
            "he_uniform",
            "lecun_normal",
            "lecun_uniform",
            "orthogonal",
            "identity",
            "uniform_unit_scaling",
            "variance_scaling",
            "truncated_normal",
            "random_uniform",
        ):
            i = getattr(tf.initializers, init)(seed=3) if init != "identity" else tf.initializers.identity(gain=2.0)
            out(init, s.run(i([4, 4])), rtol=1e-3, atol=1e-5, seeded=True)
            out(init + " config", sorted((k, str(v)) for k, v in i.get_config().items()))
        out("orth", s.run(tf.orthogonal_initializer(seed=5)([3, 3, 2, 4])), rtol=1e-3, atol=1e-5, seeded=True)
        for d in ("uniform", "truncated_normal", "untruncated_normal"):
            out(
                "vs" + d,
                s.run(tf.variance_scaling_initializer(2.0, "fan_avg", d, seed=4)([3, 5])),
                rtol=1e-4,
                seeded=True,
            )
    out.graph()
    out.raises("err seed", tf.random.stateless_normal, [2], [1, 2, 3])
    out.raises("err mode", tf.variance_scaling_initializer, 1.0, "bad")
    out.raises("err orth", tf.orthogonal_initializer(), [3])
    out.raises("err max", tf.random.uniform, [2], 0, None, tf.int32)
    out.raises("err id", tf.initializers.identity(), [2, 2, 2])
