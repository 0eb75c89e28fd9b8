"""Losses from logits."""

import numpy as np
import pytest
import scipy.special

import everflow as tf
from tests.ops.nn.graphs import MATRIX, RANDOM, evaluate, fails_when_run, x_of

VALUES = {
    "l2_loss": (tf.nn.l2_loss, lambda x: (x * x).sum() / 2),
    "sigmoid cross entropy": (
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.fill([4, 5], tf.constant(0.25, tf.float64)), logits=100 * x
        ),
        lambda x: np.maximum(100 * x, 0) - 25 * x + np.log1p(np.exp(-np.abs(100 * x))),
    ),
    "sparse softmax cross entropy": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 4, 2, 2], logits=x),
        lambda x: -scipy.special.log_softmax(x, 1)[range(4), [0, 4, 2, 2]],
    ),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    build, reference = VALUES[name]
    found = evaluate(lambda: build(tf.constant(MATRIX)))
    np.testing.assert_allclose(found, reference(MATRIX), rtol=1e-6, atol=1e-12)


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.softmax_cross_entropy_with_logits_v2(x_of(None, 3), x_of(None, 3)), [None]),
    (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=x_of(2, None, dtype=tf.int32), logits=x_of(2, None, 3)
        ),
        [2, None],
    ),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.softmax_cross_entropy_with_logits(x_of(2, 3), x_of(2, 3)), ValueError),
    (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x_of(2, 3, dtype=tf.int32), logits=x_of(2, 3)),
        ValueError,
    ),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (
        lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x),
        [np.zeros((2, 3), np.float32), np.array([0, 3])],
    ),
    (
        lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x),
        [np.zeros((2, 3), np.float32), np.array([-1, 0])],
    ),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax_losses_along_an_axis(sess, axis):
    logits = RANDOM.normal(size=(2, 3, 4))
    labels = scipy.special.softmax(RANDOM.normal(size=(2, 3, 4)), axis)
    made = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=axis)
    wanted = -(labels * scipy.special.log_softmax(logits, axis)).sum(axis)
    assert made.shape.as_list() == list(wanted.shape)
    np.testing.assert_allclose(sess.run(made), wanted, rtol=1e-6)


def test_only_the_second_version_has_gradients_of_labels():
    with tf.Graph().as_default():
        labels, logits = tf.constant([[0.5, 0.5]]), tf.constant([[1.0, 2.0]])
        assert tf.gradients(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits), labels) == [None]
        assert tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits), labels) != [None]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_half_precision_is_computed_in_single(sess, dtype):
    logits, labels = np.array([[10.0, -10.0]], dtype), np.array([[1.0, 0.0]], dtype)
    for made in (
        tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=logits),
    ):
        found = sess.run(made)
        assert found.dtype == dtype and found[0] == pytest.approx(0, abs=1e-4)


def test_weighted_and_poisson_losses(sess):
    logits, labels = np.array([-3.0, 0.0, 2.0]), np.array([0.0, 1.0, 0.25])
    made = tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, pos_weight=3.0)
    p = scipy.special.expit(logits)
    np.testing.assert_allclose(sess.run(made), -3 * labels * np.log(p) - (1 - labels) * np.log(1 - p), rtol=1e-6)
    counts = np.array([0.0, 1.0, 5.0])
    plain, full = (tf.nn.log_poisson_loss(counts, logits, compute_full_loss=f) for f in (False, True))
    wanted = np.exp(logits) - counts * logits
    np.testing.assert_allclose(sess.run(plain), wanted)
    stirling = 5 * np.log(5) - 5 + 0.5 * np.log(2 * np.pi * 5)
    np.testing.assert_allclose(sess.run(full), wanted + [0, 0, stirling])


def test_labels_of_more_dimensions(sess):
    logits, labels = RANDOM.normal(size=(2, 3, 4)), np.array([[0, 3, 1], [2, 2, 0]])
    made = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    wanted = -np.take_along_axis(scipy.special.log_softmax(logits, -1), labels[..., None], -1)[..., 0]
    np.testing.assert_allclose(sess.run(made), wanted, rtol=1e-6)
    free = tf.placeholder(tf.int64)
    made = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=free, logits=logits)
    np.testing.assert_allclose(sess.run(made, {free: labels}), wanted, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(made, {free: labels[:1]})


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0]),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0]),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[1.0, 2.0]),
        lambda: tf.nn.weighted_cross_entropy_with_logits(labels=[1.0], logits=[1.0, 2.0], pos_weight=1.0),
        lambda: tf.nn.log_poisson_loss([1.0], [1.0, 2.0]),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=1.0),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[1.0, 2.0]]),
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0]], logits=[[1.0]], axis=0),
    ],
)
def test_labels_that_do_not_fit(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_averages_over_the_batch(sess):
    losses = [1.0, 2.0, 3.0]
    assert sess.run(tf.nn.compute_average_loss(losses)) == 2.0
    assert sess.run(tf.nn.compute_average_loss(losses, sample_weight=[1.0, 0.0, 1.0], global_batch_size=8)) == 0.5
    assert sess.run(tf.nn.scale_regularization_loss(losses)) == 6.0


def test_average_losses_are_of_examples():
    with tf.Graph().as_default(), tf.Session() as session:
        losses, weights = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64), tf.constant([1.0, 2.0])
        assert session.run(tf.nn.compute_average_loss(losses, weights, 4)) == 4.25
        with pytest.raises(ValueError, match="one dimension at least"):
            tf.nn.compute_average_loss(2.0, global_batch_size=2)


def test_losses_of_replicas():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with tf.Graph().as_default(), tf.Session() as session, strategy.scope():
        for function in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
            with pytest.raises(RuntimeError, match="replica"):
                function([2.0, 4.0])
        assert session.run(strategy.experimental_run_v2(tf.nn.compute_average_loss, args=([2.0, 4.0],))) == 3.0
        assert session.run(strategy.experimental_run_v2(tf.nn.scale_regularization_loss, args=([2, 4],))) == 6.0
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.nn.compute_average_loss([1.0, 2.0, 3.0], sample_weight=[1.0, 2.0])
