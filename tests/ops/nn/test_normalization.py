"""Moments, batch normalization, and normalizing by norms."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import IMAGE, MATRIX, RANDOM, evaluate, fails_when_run, x_of

VALUES = {
    "l2_normalize": (lambda x: tf.nn.l2_normalize(x, 1), lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)),
    "variance": (lambda x: tf.nn.moments(x, [0])[1], lambda x: x.var(0)),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    build, reference = VALUES[name]
    found = evaluate(lambda: build(tf.constant(MATRIX)))
    np.testing.assert_allclose(found, reference(MATRIX), rtol=1e-6, atol=1e-12)


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.fused_batch_norm(x_of(None, 4, 4, None), x_of(3), x_of(3))[0], [None, 4, 4, 3]),
    (lambda: tf.nn.moments(x_of(None, 4, 2), [0, 1])[0], [2]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.fused_batch_norm(x_of(2, 3, 3, 2), x_of(2), x_of(2), mean=x_of(2), variance=x_of(2)), ValueError),
    (lambda: tf.nn.lrn(x_of(2, 3, 3)), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x: tf.nn.lrn(x), [IMAGE[0]]),
    (lambda x, s: tf.nn.fused_batch_norm(x, s, s)[0], [IMAGE, np.zeros(3, np.float32)]),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [[0], [0, 2], [1]])
def test_moments(sess, axes, keep):
    x = RANDOM.normal(size=(3, 4, 5))
    weights = RANDOM.uniform(0.1, 1, size=(3, 4, 5))
    mean, variance = sess.run(tf.nn.moments(tf.constant(x), axes, keep_dims=keep))
    np.testing.assert_allclose(mean, x.mean(tuple(axes), keepdims=keep))
    np.testing.assert_allclose(variance, x.var(tuple(axes), keepdims=keep))
    mean, variance = sess.run(tf.nn.weighted_moments(x, axes, weights, keep_dims=keep))
    wanted = np.average(x, axis=tuple(axes), weights=weights, keepdims=True)
    spread = np.average((x - wanted) ** 2, axis=tuple(axes), weights=weights, keepdims=keep)
    np.testing.assert_allclose(mean, wanted if keep else wanted.squeeze(tuple(axes)))
    np.testing.assert_allclose(variance, spread)


@pytest.mark.parametrize("shift", [None, np.float64(100)])
@pytest.mark.parametrize("known", [True, False])
def test_moments_from_sums(sess, shift, known):
    value = RANDOM.normal(size=(3, 4)) + 100
    x = tf.placeholder_with_default(value, [3, 4] if known else [None, None])
    mean, variance = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], shift=shift))
    np.testing.assert_allclose(sess.run(mean), value.mean(0))
    np.testing.assert_allclose(sess.run(variance), value.var(0), rtol=1e-6)


def test_half_precision_moments(sess):
    x = tf.constant(np.full([4096], 8.0), tf.float16)
    mean, variance = tf.nn.moments(x, [0])
    assert mean.dtype == variance.dtype == tf.float16 and sess.run([mean, variance]) == [8.0, 0.0]


@pytest.mark.parametrize("scale", [None, 2.0])
@pytest.mark.parametrize("offset", [None, 3.0])
def test_batch_normalization_by_hand(sess, scale, offset):
    x = RANDOM.normal(size=(5, 2))
    made = tf.nn.batch_normalization(tf.constant(x), x.mean(0), x.var(0), offset, scale, 1e-3)
    wanted = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3) * (scale or 1) + (offset or 0)
    np.testing.assert_allclose(sess.run(made), wanted, rtol=1e-6)


def test_fused_statistics(sess):
    x = RANDOM.normal(size=(2, 3, 3, 2)).astype(np.float32)
    scale, offset = np.float32([1, 2]), np.float32([0, 1])
    y, mean, variance = sess.run(tf.nn.fused_batch_norm(x, scale, offset))
    np.testing.assert_allclose(mean, x.mean((0, 1, 2)), atol=1e-6)
    np.testing.assert_allclose(variance, x.var((0, 1, 2), ddof=1), rtol=1e-5)
    wanted = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-3) * scale + offset
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
    given = tf.nn.fused_batch_norm(x, scale, offset, mean=[1.0, 2.0], variance=[4.0, 9.0], is_training=False)
    np.testing.assert_allclose(
        sess.run(given[0]), (x - [1, 2]) / np.sqrt([4.001, 9.001]) * scale + offset, rtol=1e-4, atol=1e-5
    )


def test_neighbouring_channels(sess):
    x = RANDOM.normal(size=(1, 1, 1, 4)).astype(np.float32)
    found = sess.run(tf.nn.lrn(x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)).ravel()
    padded = np.pad(x.ravel() ** 2, 1)
    sums = padded[:-2] + padded[1:-1] + padded[2:]
    np.testing.assert_allclose(found, x.ravel() / (2 + 0.5 * sums) ** 0.75, rtol=1e-5)
