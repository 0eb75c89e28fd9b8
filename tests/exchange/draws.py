"""Programs that draw seeded numbers, as data: the same source runs here and in TensorFlow 1.15.5 (so it is Python of
that time).

`recorded(tf)` runs all of them. `draws.json` is what TensorFlow gave: `python draws.py` under its Python writes it
anew.
"""

import hashlib
import json
import os
import sys

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(FOLDER, "draws.json")
# So many values are kept beside the digest of all of them.
KEPT = 6
SHAPES = {"scalar": [], "empty": [0, 3], "one": [1], "odd": [7, 3], "some": [33, 31], "many": [257, 401]}
# Where an op takes a random tensor apart, one shape of several sizes is enough.
FLOATS = ("float32", "float64", "float16", "bfloat16")


def _basic(found):
    """Distributions over shapes, types, ranges and seeds."""
    for dtype in FLOATS:
        for size, shape in SHAPES.items():
            for name in ("random_uniform", "random_normal", "truncated_normal"):
                found[f"{name} {dtype} {size}"] = lambda tf, n=name, s=shape, d=dtype: getattr(tf, n)(
                    s, dtype=d, seed=5
                )
            for name in ("uniform", "normal", "truncated_normal"):
                found[f"stateless_{name} {dtype} {size}"] = lambda tf, n=name, s=shape, d=dtype: getattr(
                    tf.random, "stateless_" + n
                )(s, [3, -4], dtype=d)
    for low, high in (
        (-10, 10),
        (-1, 1),
        (0.1, 0.7),
        (-3.5, 1e-3),
        (-1e30, 2e30),
        (1e-30, 3e-30),
        (5, 5),
        (1e6, 1e6 + 1),
        (2, -2),
    ):
        for dtype in ("float32", "float64"):
            label = f"{dtype} [{low:g}, {high:g})"
            found["random_uniform " + label] = lambda tf, a=low, b=high, d=dtype: tf.random_uniform(
                [41], a, b, dtype=d, seed=2
            )
            found["random_normal " + label] = lambda tf, a=low, b=high, d=dtype: tf.random_normal(
                [41], a, b, dtype=d, seed=2
            )
            found["truncated_normal " + label] = lambda tf, a=low, b=high, d=dtype: tf.truncated_normal(
                [41], a, b, dtype=d, seed=2
            )
            found["stateless_uniform " + label] = lambda tf, a=low, b=high, d=dtype: tf.random.stateless_uniform(
                [41], [7, 8], a, b, dtype=d
            )
    spans = (
        (0, 10),
        (-5, 1000),
        (0, 2**31 - 1),
        (-(2**31), 2**31 - 1),
        (-7, -6),
        (0, 2**16),
        (-3, 0),
        (-(2**30), 2**30),
    )
    wide = ((0, 1 << 40), (-(1 << 62), 1 << 62), (-(2**63), 2**63 - 1), (0, 2**63 - 1), (-1, 1))
    for dtype, ranges in (("int32", spans), ("int64", spans + wide)):
        for low, high in ranges:
            for size in ("scalar", "odd", "many") if (low, high) == (-5, 1000) else ("odd",):
                label = f"{dtype} [{low}, {high}) {size}"
                found["uniform_int " + label] = lambda tf, s=SHAPES[size], a=low, b=high, d=dtype: tf.random_uniform(
                    s, a, b, d, seed=3
                )
                found["stateless_uniform_int " + label] = lambda tf, s=SHAPES[size], a=low, b=high, d=dtype: (
                    tf.random.stateless_uniform(s, [1, 2], a, b, d)
                )


def _seeds(found):
    """Where seeds come from: the graph, the op, both; large and negative ones. (graph seed, op seed)"""
    for graph_seed, op_seed in (
        (1, None),
        (None, 1),
        (1, 1),
        (0, None),
        (None, 0),
        (0, 0),
        (87654321, 2**31 - 1),
        (2**31 - 1, 3),
    ):

        def build(tf, graph_seed=graph_seed, op_seed=op_seed):
            if graph_seed is not None:
                tf.set_random_seed(graph_seed)
            made = [tf.random_uniform([5], seed=op_seed), tf.random_uniform([5], 0, 100, tf.int32, seed=op_seed)]
            return made + [tf.random_uniform([5], seed=op_seed), tf.random_shuffle(tf.range(9), seed=op_seed)]

        found[f"seeds graph {graph_seed} op {op_seed}"] = build
    for a, b in ((0, 0), (1, 0), (0, 1), (-1, -1), (2**62, -(2**62))):
        found[f"stateless seeds {a} {b}"] = lambda tf, a=a, b=b: tf.random.stateless_uniform(
            [9], tf.constant([a, b], tf.int64)
        )


def _others(found):
    """Distributions with parameters, and choices."""
    for dtype in ("float32", "float64", "float16"):
        for alpha in (0.3, 1.0, 2.5, 40.0):
            found[f"gamma {dtype} {alpha:g}"] = lambda tf, a=alpha, d=dtype: tf.random_gamma([57], a, dtype=d, seed=5)
        for rate in (0.2, 3.0, 9.5, 12.0, 500.0):
            found[f"poisson {dtype} {rate:g}"] = lambda tf, r=rate, d=dtype: tf.random_poisson(r, [57], dtype=d, seed=5)
    found["gamma with beta"] = lambda tf: tf.random_gamma([5, 2], [[0.5], [3.0]], [2.0, 0.1], seed=6)
    found["gamma many"] = lambda tf: tf.random_gamma([40001], [0.7, 3.0], seed=6)
    found["poisson many"] = lambda tf: tf.random_poisson([0.5, 30.0], [40001], seed=6)
    found["poisson empty"] = lambda tf: tf.random_poisson([0.5, 30.0], [0], seed=6)
    for dtype in ("int32", "int64"):
        found[f"poisson of {dtype}"] = lambda tf, d=dtype: tf.raw_ops.RandomPoissonV2(
            shape=[33], rate=tf.constant([0.5, 30.0]), seed=1, seed2=2, dtype=getattr(tf, d)
        )
    for count in (0, 1, 2, 5, 64, 100003):
        found[f"shuffle {count}"] = lambda tf, n=count: tf.random_shuffle(tf.range(n), seed=4)
    found["shuffle rows"] = lambda tf: tf.random_shuffle(tf.reshape(tf.range(30), [10, 3]), seed=4)
    logits = np.array([[0.0, 1.0, 2.0], [-1.5, 0.5, -np.inf]], np.float32)
    for dtype in ("float32", "float64", "float16"):
        found[f"multinomial {dtype}"] = lambda tf, d=dtype: tf.multinomial(tf.constant(logits, d), 77, seed=5)
        found[f"stateless_multinomial {dtype}"] = lambda tf, d=dtype: tf.random.stateless_categorical(
            tf.constant(logits, d), 77, [1, 2]
        )
    found["categorical int32"] = lambda tf: tf.random.categorical(tf.constant(logits), 31, dtype=tf.int32, seed=5)
    found["categorical of many classes"] = lambda tf: tf.random.categorical(
        tf.reshape(tf.linspace(-3.0, 3.0, 2000), [2, 1000]), 50, seed=5
    )
    found["random_crop"] = lambda tf: tf.random_crop(tf.reshape(tf.range(60), [5, 4, 3]), [2, 3, 3], seed=5)
    for mean, deviation, low, high in ((0, 1, -1, 1), (0, 1, 2, 9), (5, 2, 4, 4.5), (-1, 3, -9, 20), (0, 1, 0.5, 0.6)):
        for dtype in ("float32", "float64"):
            found[f"parameterized {dtype} {mean:g} {deviation:g} {low:g} {high:g}"] = (
                lambda tf, m=mean, s=deviation, a=low, b=high, d=dtype: tf.raw_ops.ParameterizedTruncatedNormal(
                    shape=[61],
                    means=tf.constant(m, d),
                    stdevs=tf.constant(s, d),
                    minvals=tf.constant(a, d),
                    maxvals=tf.constant(b, d),
                    seed=3,
                    seed2=4,
                )
            )


def _initializers(found):
    shapes = ([3, 5], [3, 3, 4, 8], [7], [16, 16])

    def add(name, make, shapes=shapes, dtypes=("float32", "float64")):
        for shape in shapes:
            for dtype in dtypes:
                found[f"initializer {name} {shape} {dtype}"] = lambda tf, s=shape, d=dtype: make(tf)(
                    s, dtype=getattr(tf, d)
                )

    for name in ("glorot_uniform", "glorot_normal"):
        add(name, lambda tf, n=name: getattr(tf, n + "_initializer")(seed=3))
    for name in ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform"):
        add(name, lambda tf, n=name: getattr(tf.initializers, n)(seed=3))
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            add(
                f"variance_scaling {mode} {distribution}",
                lambda tf, m=mode, d=distribution: tf.variance_scaling_initializer(1.7, m, d, seed=3),
                ([3, 5], [3, 3, 4, 8]),
            )
    add("uniform", lambda tf: tf.random_uniform_initializer(-0.3, 0.8, seed=3))
    add("normal", lambda tf: tf.random_normal_initializer(0.3, 0.8, seed=3))
    add("truncated_normal", lambda tf: tf.truncated_normal_initializer(0.3, 0.8, seed=3))
    add("uniform_unit_scaling", lambda tf: tf.uniform_unit_scaling_initializer(1.3, seed=3), shapes[:2], ("float32",))
    add("identity", lambda tf: tf.initializers.identity(1.5), ([3, 5], [4, 4]), ("float32",))
    add("orthogonal", lambda tf: tf.orthogonal_initializer(1.2, seed=3), ([3, 5], [5, 3], [3, 3, 2, 4]))
    add("xavier", lambda tf: tf.contrib.layers.xavier_initializer(seed=3), shapes, ("float32",))
    add("xavier normal", lambda tf: tf.contrib.layers.xavier_initializer(uniform=False, seed=3), shapes, ("float32",))
    for mode in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        for uniform in (False, True):
            add(
                f"contrib variance_scaling {mode} {uniform}",
                lambda tf, m=mode, u=uniform: tf.contrib.layers.variance_scaling_initializer(2.0, m, u, seed=3),
                ([3, 5], [3, 3, 4, 8]),
                ("float32",),
            )
    for rank in (1, 2, 3):
        name = f"convolutional_orthogonal_{rank}d"
        add(
            name, lambda tf, n=name: getattr(tf.contrib.framework, n)(0.9, seed=3), ([3] * rank + [3, 4],), ("float32",)
        )
        name = "convolutional_delta_orthogonal"
        add(
            f"{name} {rank}d",
            lambda tf, n=name: getattr(tf.contrib.framework, n)(0.9, seed=3),
            ([3] * rank + [3, 4],),
            ("float32",),
        )

    def graph_seeded(tf):
        tf.set_random_seed(11)
        with tf.variable_scope("layer"):
            made = [
                tf.get_variable("kernel", [6, 4]),
                tf.get_variable("he", [6, 4], initializer=tf.initializers.he_normal()),
            ]
        return [v.initial_value for v in made]

    found["initializers by the graph's seed"] = graph_seeded


def _layers(found):
    """What is made of random numbers elsewhere."""

    def ramp(tf, shape, dtype="float32"):  # every number of it is exact, whatever numpy computes it
        return tf.constant(np.arange(-64.0, int(np.prod(shape)) - 64.0).reshape(shape) / 128, dtype)

    for rate in (0.1, 0.5, 0.73):
        for dtype in ("float32", "float64", "float16"):
            found[f"dropout {rate:g} {dtype}"] = lambda tf, r=rate, d=dtype: tf.nn.dropout(
                ramp(tf, [13, 7], d), rate=r, seed=5
            )
    found["dropout keep_prob"] = lambda tf: tf.nn.dropout(ramp(tf, [13, 7]), keep_prob=0.7, seed=5)
    found["dropout noise_shape"] = lambda tf: tf.nn.dropout(
        ramp(tf, [13, 7]), keep_prob=0.7, noise_shape=[13, 1], seed=5
    )
    found["dropout many"] = lambda tf: tf.nn.dropout(ramp(tf, [257, 401]), rate=0.3, seed=5)
    found["layers.dropout"] = lambda tf: tf.layers.dropout(ramp(tf, [13, 7]), 0.4, training=True, seed=5)
    found["alpha_dropout"] = lambda tf: tf.contrib.nn.alpha_dropout(ramp(tf, [13, 7]), 0.6, seed=5)

    image = lambda tf: tf.constant(np.arange(90.0).reshape([6, 5, 3]) / 128, tf.float32)  # noqa: E731
    found["random_flip_left_right"] = lambda tf: tf.image.random_flip_left_right(image(tf), seed=5)
    found["random_flip_up_down"] = lambda tf: tf.image.random_flip_up_down(tf.stack([image(tf)] * 4), seed=5)
    found["random_brightness"] = lambda tf: tf.image.random_brightness(image(tf), 0.3, seed=5)
    found["random_contrast"] = lambda tf: tf.image.random_contrast(image(tf), 0.3, 1.7, seed=5)
    found["random_saturation"] = lambda tf: tf.image.random_saturation(image(tf), 0.3, 1.7, seed=5)
    found["random_hue"] = lambda tf: tf.image.random_hue(image(tf), 0.3, seed=5)
    found["sample_distorted_bounding_box"] = lambda tf: list(
        tf.image.sample_distorted_bounding_box([60, 50, 3], [[[0.1, 0.2, 0.8, 0.9]]], seed=5, min_object_covered=0.1)
    )
    true = np.array([[1, 7], [3, 20]], np.int64)
    for name in ("uniform", "log_uniform", "learned_unigram"):
        for unique in (True, False):
            found[f"{name} candidates {unique}"] = lambda tf, n=name, u=unique: list(
                getattr(tf.nn, n + "_candidate_sampler")(true, 2, 9, u, 50, seed=5)
            )
    found["fixed_unigram candidates"] = lambda tf: list(
        tf.nn.fixed_unigram_candidate_sampler(
            true, 2, 9, True, 50, distortion=0.75, unigrams=list(range(1, 51)), seed=5
        )
    )
    found["all candidates"] = lambda tf: list(tf.nn.all_candidate_sampler(true, 2, 30, True, seed=5))

    def distributions(tf):
        d = tf.distributions
        made = [
            d.Uniform(-2.0, 3.0),
            d.Normal(1.5, 0.3),
            d.Exponential(2.0),
            d.Laplace(0.5, 2.0),
            d.Bernoulli(probs=0.3),
        ]
        made += [
            d.Gamma(2.0, 3.0),
            d.Beta(2.0, 3.0),
            d.Categorical(logits=[0.1, 0.5, -1.0]),
            d.StudentT(3.0, 0.0, 1.0),
            d.Dirichlet([1.0, 2.0]),
        ]
        return [one.sample(23, seed=9) for one in made]

    found["distributions"] = distributions
    found["noise added to numbers"] = lambda tf: ramp(tf, [9, 4]) + tf.random_normal([9, 4], 0.5, 0.1, seed=8) * 3.0
    found["gumbel"] = lambda tf: -tf.log(-tf.log(tf.random_uniform([33], 1e-3, 1.0, seed=8)))


def programs():
    """Name → function that builds a tensor or a list of tensors with the module it is given."""
    found = {}
    for add in (_basic, _seeds, _others, _initializers, _layers):
        add(found)
    return found


def drawn(tf, build, config=None, runs=2):
    """The arrays that a program gives, run after run."""
    with tf.Graph().as_default() as graph:
        made = build(tf)
        made = made if isinstance(made, list) else [made]
        with tf.Session(graph=graph, config=config) as sess:
            return [np.asarray(value) for _ in range(runs) for value in sess.run(made)]


def summary(array):
    """[type, shape, start of the digest of its bytes, the bytes of its first values]."""
    flat = np.ascontiguousarray(array).reshape(-1)
    raw = flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)
    return [
        str(array.dtype),
        list(array.shape),
        hashlib.sha256(raw.tobytes()).hexdigest()[:16],
        flat[:KEPT].tobytes().hex(),
    ]


def recorded(tf):
    return {name: [summary(array) for array in drawn(tf, build)] for name, build in programs().items()}


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1] if len(sys.argv) > 1 else GOLDEN, "w") as out:
        found = recorded(tensorflow)
        out.write(
            "{\n" + ",\n".join(json.dumps(name) + ": " + json.dumps(found[name]) for name in sorted(found)) + "\n}\n"
        )
