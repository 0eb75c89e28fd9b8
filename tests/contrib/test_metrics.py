"""tf.contrib.metrics: operating points of classifiers."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import metrics

LABELS, PREDICTIONS = [0, 1, 1, 0, 1], [0.1, 0.8, 0.4, 0.35, 0.7]


def _value(metric):
    """A metric's value after it saw the data twice."""
    with tf.Graph().as_default():
        value, update = metric(tf.constant(LABELS, tf.int64), tf.constant(PREDICTIONS))
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run(update)
            session.run(update)
            return session.run(value)


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        (lambda y, p: metrics.precision_at_recall(y, p, 0.7, num_thresholds=5), 0.75),
        (lambda y, p: metrics.recall_at_precision(y, p, 0.7, num_thresholds=5), 1.0),
        (lambda y, p: metrics.recall_at_precision(y, p, 0.99, num_thresholds=5, strict_mode=True), 2 / 3),
        (lambda y, p: metrics.streaming_false_negative_rate_at_thresholds(p, y, [0.3, 0.5]), [0, 1 / 3]),
        (lambda y, p: metrics.streaming_false_positive_rate_at_thresholds(p, y, [0.3, 0.5]), [0.5, 0]),
        (lambda y, p: metrics.streaming_curve_points(y, p, num_thresholds=4), [[1, 1], [0.5, 1], [0, 2 / 3], [0, 0]]),
        (lambda y, p: metrics.streaming_curve_points(y, p, num_thresholds=4, curve="PR"), [[1, 0.6], [1, 0.75], [2 / 3, 1], [0, 1]]),
    ],
)
def test_at_thresholds(metric, wanted):
    np.testing.assert_allclose(_value(metric), wanted, atol=1e-5)


def test_equal_thresholds():
    data = _value(lambda y, p: metrics.precision_recall_at_equal_thresholds(tf.cast(y, tf.bool), p, num_thresholds=4))
    np.testing.assert_allclose(data.tp, [6, 6, 4, 0])
    np.testing.assert_allclose(data.fn, [0, 0, 2, 6])
    np.testing.assert_allclose(data.precision, [0.6, 0.75, 1, 0])


def test_at_k():
    logits, labels = [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], [1, 2]
    assert _value(lambda y, p: metrics.streaming_recall_at_k(tf.constant(logits), tf.constant(labels), 2)) == 0.5
    top = tf.constant
    assert (
        _value(lambda y, p: metrics.streaming_sparse_average_precision_at_top_k(top([[1, 2], [0, 1]], tf.int64), top([[1], [2]], tf.int64)))
        == 0.5
    )


@pytest.mark.parametrize(
    "metric", [lambda y, p: metrics.precision_at_recall(y, p, 1.7), lambda y, p: metrics.streaming_curve_points(y, p, curve="X")]
)
def test_wrong_arguments(metric):
    with pytest.raises(ValueError):
        _value(metric)
