"""tf.contrib.metrics: operating points of classifiers, areas under curves."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import metrics

LABELS, PREDICTIONS = [0, 1, 1, 0, 1], [0.1, 0.8, 0.4, 0.35, 0.7]

pytestmark = pytest.mark.usefixtures("own_graph")


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
        (
            lambda y, p: metrics.streaming_curve_points(y, p, num_thresholds=4, curve="PR"),
            [[1, 0.6], [1, 0.75], [2 / 3, 1], [0, 1]],
        ),
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
        _value(
            lambda y, p: metrics.streaming_sparse_average_precision_at_top_k(
                top([[1, 2], [0, 1]], tf.int64), top([[1], [2]], tf.int64)
            )
        )
        == 0.5
    )


@pytest.mark.parametrize(
    "metric",
    [lambda y, p: metrics.precision_at_recall(y, p, 1.7), lambda y, p: metrics.streaming_curve_points(y, p, curve="X")],
)
def test_wrong_arguments(metric):
    with pytest.raises(ValueError):
        _value(metric)


def _streamed(metric, batches=2):
    """The metric's value after each batch of labels, scores (with ties after the first batch) and weights."""
    labels, scores, weights = (
        tf.placeholder(tf.int64, [None]),
        tf.placeholder(tf.float32, [None]),
        tf.placeholder(tf.float32, [None]),
    )
    value, update = metric(labels, scores, weights)
    draws = np.random.RandomState(7)
    values = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for i in range(batches):
            feeds = {labels: draws.randint(0, 2, 20), scores: np.round(draws.rand(20) * 5) / 5 if i else draws.rand(20)}
            feeds[weights] = draws.rand(20) * 2
            sess.run(update, feeds)
            values.append(sess.run(value, feeds))
    return values


def test_auc_using_histogram():
    values = _streamed(lambda labels, scores, _: metrics.auc_using_histogram(labels > 0, scores, [0.0, 1.0]))
    np.testing.assert_allclose(values, [0.465, 0.53258], rtol=1e-4)
    with pytest.raises(ValueError, match="dtype bool"):
        metrics.auc_using_histogram(tf.ones([3]), tf.ones([3]), [0.0, 1.0])


def test_auc_using_histogram_keeps_its_counts_in_the_collections_named():
    metrics.auc_using_histogram(
        tf.constant([True, False]), tf.constant([0.7, 0.2]), [0.0, 1.0], 10, collections=["counts"]
    )
    assert [v.op.name for v in tf.get_collection("counts")] == [
        "auc_using_histogram/hist_accumulate/hist_true_acc",
        "auc_using_histogram/hist_accumulate/hist_false_acc",
    ]
    assert tf.local_variables() == []


def test_dynamic_auc_counts_ties_as_one_threshold():
    roc, pr = [], []
    for curve, values in (("ROC", roc), ("PR", pr)):
        values += _streamed(
            lambda labels, scores, w, curve=curve: metrics.streaming_dynamic_auc(labels, scores, curve, weights=w)
        )
    np.testing.assert_allclose(roc, [0.497690, 0.563839], rtol=1e-4)
    np.testing.assert_allclose(pr, [0.470958, 0.572731], rtol=1e-4)
    with pytest.raises(ValueError, match="either ROC or PR"):
        metrics.streaming_dynamic_auc(tf.ones([3]), tf.ones([3]), curve="XY")


def test_dynamic_auc_refuses_other_labels():
    _, update = metrics.streaming_dynamic_auc(tf.placeholder_with_default([2, 0], [2]), tf.constant([0.1, 0.2]))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be 0 or 1"):
            sess.run(update)


@pytest.mark.parametrize(
    ("logit", "wanted"),
    [
        (True, [[0.497690, 0.320598, 0.675363], [0.563839, 0.447270, 0.673756]]),
        (False, [[0.497690, 0.312248, 0.683132], [0.563839, 0.448632, 0.679047]]),
    ],
)
def test_auc_with_confidence_intervals(logit, wanted):
    values = _streamed(
        lambda labels, scores, w: metrics.auc_with_confidence_intervals(
            labels, scores, w, 0.8, logit_transformation=logit
        )
    )
    assert values[0]._fields == ("auc", "lower", "upper")
    np.testing.assert_allclose(values, wanted, rtol=1e-4)
    with pytest.raises(ValueError, match="between 0 and 1"):
        metrics.auc_with_confidence_intervals(tf.ones([3]), tf.ones([3]), alpha=1.0)
