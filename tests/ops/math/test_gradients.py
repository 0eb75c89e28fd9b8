"""Every gradient of the math family against differences, and the graphs that they leave."""

import numpy as np
import pytest

import everflow as tf

P = np.array([[0.3, 0.55, 0.8], [1.4, 0.9, 0.65]])


Q = np.array([[1.3, 0.45, 0.6], [0.4, 1.9, 0.25]])


ROW = np.array([0.71, 1.13, 0.37])


UNIT = P / 1.5


IDS = [0, 0]


# what, function of tensors, its inputs
CASES = [
    *(
        (name, getattr(tf.math, name), [P])
        for name in "abs asinh atan cos cosh erf erfc exp expm1 log log1p negative".split()
    ),
    *(
        (name, getattr(tf.math, name), [P])
        for name in "reciprocal rsqrt sigmoid sin sinh sqrt square tan tanh lgamma digamma".split()
    ),
    *((name, getattr(tf.math, name), [P]) for name in "bessel_i0 bessel_i0e bessel_i1 bessel_i1e log_sigmoid".split()),
    *((name, getattr(tf.math, name), [UNIT]) for name in "acos asin atanh".split()),
    ("acosh", tf.acosh, [P + 1]),
    *(
        (f"{name} {shape}", function, [P, other])
        for name, function in {
            "add": tf.add,
            "subtract": tf.subtract,
            "multiply": tf.multiply,
            "realdiv": tf.realdiv,
            "pow": tf.pow,
            "maximum": tf.maximum,
            "minimum": tf.minimum,
            "squared_difference": tf.squared_difference,
            "floormod": tf.floormod,
            "xlogy": tf.math.xlogy,
            "xdivy": tf.math.xdivy,
            "divide_no_nan": tf.math.divide_no_nan,
            "multiply_no_nan": tf.math.multiply_no_nan,
            "igamma": tf.igamma,
            "igammac": tf.igammac,
        }.items()
        for shape, other in (("same", Q), ("row", ROW), ("scalar", np.array(0.47)), ("column", Q[:, :1]))
    ),
    ("atan2", tf.atan2, [P, Q]),
    ("zeta", lambda q: tf.zeta(tf.constant(2.5, tf.float64), q), [P]),
    ("polygamma", lambda x: tf.polygamma(tf.constant(1.0, tf.float64), x), [P]),
    ("betainc", lambda x: tf.betainc(tf.constant(1.5, tf.float64), tf.constant(0.7, tf.float64), x), [UNIT / 1.1]),
    ("lbeta", tf.lbeta, [P]),
    *(
        (f"{name} {axis} {keep}", lambda x, f=function, a=axis, k=keep: f(x, a, keepdims=k), [P])
        for name, function in {
            "sum": tf.reduce_sum,
            "mean": tf.reduce_mean,
            "prod": tf.reduce_prod,
            "max": tf.reduce_max,
            "min": tf.reduce_min,
            "logsumexp": tf.reduce_logsumexp,
            "std": tf.math.reduce_std,
            "variance": tf.math.reduce_variance,
        }.items()
        for axis, keep in ((None, False), (0, False), (1, True), ([0, 1], False), (-1, False))
    ),
    ("prod with a zero", lambda x: tf.reduce_prod(x, 1), [P * [[0, 1, 1], [1, 1, 1]]]),
    *(
        (
            f"{name} {axis} {exclusive} {reverse}",
            lambda x, f=function, a=axis, e=exclusive, r=reverse: f(x, a, exclusive=e, reverse=r),
            [P],
        )
        for name, function in {"cumsum": tf.cumsum, "cumprod": tf.cumprod}.items()
        for axis, exclusive, reverse in ((0, False, False), (1, True, False), (1, False, True), (-1, True, True))
    ),
    ("cumulative_logsumexp", lambda x: tf.math.cumulative_logsumexp(x, 1), [P]),
    *(
        (
            f"matmul {ta} {tb}",
            lambda a, b, ta=ta, tb=tb: tf.matmul(a, b, transpose_a=ta, transpose_b=tb),
            [P.T if ta else P, Q if tb else Q.T],
        )
        for ta in (False, True)
        for tb in (False, True)
    ),
    ("batch matmul", tf.matmul, [np.stack([P, Q]), np.stack([Q.T, P.T])]),
    ("batch matmul broadcast", tf.matmul, [np.stack([P, Q]), Q.T]),
    (
        "batch matmul adjoint",
        lambda a, b: tf.matmul(a, b, adjoint_a=True, adjoint_b=True),
        [np.stack([P, Q]), np.stack([Q[:, :2], P[:, :2]])],
    ),
    ("tensordot", lambda a, b: tf.tensordot(a, b, [[1], [1]]), [P, Q]),
    ("einsum", lambda a, b: tf.einsum("ij,kj->ki", a, b), [P, Q]),
    ("einsum outer", lambda a, b: tf.einsum("ij,k->kij", a, b), [P, ROW]),
    ("cross", tf.cross, [P, Q]),
    ("add_n", lambda a, b: tf.add_n([a, b, a]), [P, Q]),
    ("accumulate_n", lambda a, b: tf.accumulate_n([a, b]), [P, Q]),
    *(
        (f.__name__, lambda x, f=f: f(x, IDS), [P])
        for f in (tf.segment_sum, tf.segment_mean, tf.segment_max, tf.segment_min)
    ),
    *(
        (f"unsorted_segment_{n}", lambda x, n=n: getattr(tf, f"unsorted_segment_{n}")(x, [0, -1], 1), [P])
        for n in "sum prod max min mean sqrt_n".split()
    ),
    *(
        (f"sparse_segment_{n}", lambda x, n=n: getattr(tf, f"sparse_segment_{n}")(x, [1, 1, 0], [0, 0, 1]), [P])
        for n in "sum mean sqrt_n".split()
    ),
    ("sparse_segment_mean of some", lambda x: tf.sparse_segment_mean(x, [1], [1], num_segments=3), [P]),
    ("clip_by_value", lambda x: tf.clip_by_value(x, 0.5, 1.0), [P]),
    ("clip_by_norm", lambda x: tf.clip_by_norm(x, 1.0, axes=1), [P]),
    ("cast", lambda x: tf.cast(tf.cast(x, tf.complex128), tf.float64), [P]),
    ("complex", lambda a, b: tf.real(tf.complex(a, b) * tf.complex(b, a)) + tf.angle(tf.complex(a, b)), [P, Q]),
    ("complex abs", lambda a, b: tf.abs(tf.conj(tf.complex(a, b))) + tf.imag(tf.square(tf.complex(a, b))), [P, Q]),
]


DIRECTIONS = np.random.RandomState(7)


@pytest.mark.parametrize(("function", "inputs"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
@pytest.mark.parametrize("known", [True, False], ids=["known shapes", "unknown shapes"])
def test_gradient(function, inputs, known):
    with tf.Graph().as_default(), tf.Session() as sess:
        xs = [tf.placeholder(tf.float64, x.shape if known else [None] * x.ndim) for x in inputs]
        y = function(*xs)
        weights = np.cos(np.arange(1.0, 1 + sess.run(tf.size(y), dict(zip(xs, inputs, strict=True)))))
        loss = tf.reduce_sum(tf.reshape(y, [-1]) * weights)
        found = sess.run(tf.gradients(loss, xs), dict(zip(xs, inputs, strict=True)))

        for i, (got, values) in enumerate(zip(found, inputs, strict=True)):
            assert got.shape == values.shape
            # Every element takes part in the derivative along a random direction.
            direction = DIRECTIONS.uniform(0.5, 1.5, values.shape) * DIRECTIONS.choice([-1, 1], values.shape)
            step = 1e-6
            ends = [
                sess.run(loss, {**dict(zip(xs, inputs, strict=True)), xs[i]: values + s * step * direction})
                for s in (1, -1)
            ]
            np.testing.assert_allclose((got * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("name", "exp log sqrt rsqrt sin cos tanh sigmoid square reciprocal log1p erf".split())
def test_second_derivative(name):
    points = np.array([0.3, 0.9, 1.7])
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [3])
        first = tf.gradients(getattr(tf, name)(x), x)[0]
        second = tf.gradients(first, x)[0]
        step = 1e-5
        wanted = (sess.run(first, {x: points + step}) - sess.run(first, {x: points - step})) / (2 * step)
        np.testing.assert_allclose(sess.run(second, {x: points}), wanted, rtol=1e-6)


def test_gradients_that_do_not_exist():
    with tf.Graph().as_default():
        x = tf.constant([1.5])
        for function in (
            tf.floor,
            tf.ceil,
            tf.round,
            tf.rint,
            lambda t: tf.floordiv(t, 2.0),
            lambda t: tf.cast(t > 1, tf.float32),
        ):
            assert tf.gradients(function(x), x) == [None]
        with pytest.raises(LookupError, match="SegmentProd"):
            tf.gradients(tf.segment_prod(x, [0]), x)
        with pytest.raises(LookupError):
            tf.gradients(tf.raw_ops.ClipByValue(t=x, clip_value_min=0.0, clip_value_max=1.0), x)
