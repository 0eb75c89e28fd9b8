"""Normal numbers between bounds: every way of drawing keeps them, and has the right moments."""

import numpy as np
import pytest
from scipy import stats

import everflow as tf
from everflow.kernels.random import truncated


def draw(shape, means, deviations, low, high, dtype=tf.float32, seed=3):
    return tf.raw_ops.ParameterizedTruncatedNormal(
        shape=shape,
        means=tf.constant(means, dtype),
        stdevs=tf.constant(deviations, dtype),
        minvals=tf.constant(low, dtype),
        maxvals=tf.constant(high, dtype),
        seed=seed,
        seed2=4,
    )


BOUNDS = {
    "wide": (-3.0, 3.0, truncated._by_normals),
    "one side": (-2.0, np.inf, truncated._by_normals),
    "narrow": (0.1, 0.3, truncated._by_uniforms),
    "tail": (3.0, np.inf, truncated._by_exponentials),
    "far tail": (6.0, 100.0, truncated._by_exponentials),
    "lower tail": (-np.inf, -3.0, None),
    "below the mean": (-0.3, -0.1, None),
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_moments_within_bounds(sess, name, dtype):
    low, high, method = BOUNDS[name]
    if method is not None:
        assert truncated._method(low, high) is method
    mean, deviation = 1.0, 2.0
    drawn = sess.run(draw([4000], mean, deviation, low * deviation + mean, high * deviation + mean, dtype))
    drawn = (drawn.astype(np.float64) - mean) / deviation
    slack = 0.02 if dtype == tf.float16 else 1e-6
    assert drawn.min() >= low - slack and drawn.max() <= high + slack
    expected = stats.truncnorm(low, high)
    np.testing.assert_allclose(drawn.mean(), expected.mean(), atol=5 * expected.std() / 4000**0.5 + slack)


def test_each_row_has_its_own_bounds(sess):
    drawn = sess.run(draw([3, 500], [0.0, 10.0, 0.0], [1.0, 1.0, 3.0], [-1.0, 9.0, 0.0], [1.0, 9.5, 0.1]))
    assert (np.abs(drawn[0]) <= 1).all() and (drawn[1] >= 9).all() and (drawn[1] <= 9.5).all()
    assert (drawn[2] >= 0).all() and (drawn[2] <= 0.1).all()


@pytest.mark.parametrize(
    ("shape", "means", "deviations", "low", "high"),
    [
        ([2], 0.0, -1.0, -1.0, 1.0),
        ([2], 0.0, 1.0, 1.0, 1.0),
        ([2], 0.0, 1.0, -np.inf, np.inf),
        ([2], [0.0, 0.0, 0.0], 1.0, -1.0, 1.0),
        ([], 0.0, 1.0, -1.0, 1.0),
    ],
)
def test_what_can_not_be(sess, shape, means, deviations, low, high):
    drawn = draw(tf.placeholder_with_default(np.array(shape, np.int32), [None]), means, deviations, low, high)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(drawn)


def test_nothing(sess):
    assert sess.run(draw([0, 3], 0.0, 1.0, -1.0, 1.0)).shape == (0, 3)
