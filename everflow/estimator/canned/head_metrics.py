"""Metrics that heads share: means and areas whose weights are broadcast first, and those at a threshold."""

from __future__ import annotations

from everflow.estimator.canned.keys import MetricKeys
from everflow.framework.scopes import name_scope
from everflow.metrics import accuracy, auc, mean, precision_at_thresholds, recall_at_thresholds
from everflow.ops import array, math
from everflow.ops.nn.weights import broadcast_weights


def weighted_mean(values, weights, name):
    """The mean of values whose weights may be fewer."""
    with name_scope(name, "mean", (values, weights)) as scope:
        values = math.to_float(values)
        if weights is not None:
            weights = broadcast_weights(weights, values)
        return mean(values, weights=weights, name=scope)


def area(labels, predictions, weights, curve, name):
    """The area under a curve."""
    with name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions = math.to_float(predictions)
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return auc(labels=labels, predictions=predictions, weights=weights, curve=curve, name=scope)


def regularization(loss):
    """{key: metric} of the regularization loss, where there is one."""
    return (
        {} if loss is None else {MetricKeys.LOSS_REGULARIZATION: mean(values=loss, name=MetricKeys.LOSS_REGULARIZATION)}
    )


def accuracy_baseline(labels_mean):
    """How accurate it would be to always tell the more frequent class."""
    with name_scope(None, MetricKeys.ACCURACY_BASELINE, labels_mean):
        value, update = labels_mean
        return math.maximum(value, 1.0 - value, name="value"), math.maximum(update, 1.0 - update, name="update_op")


def at_threshold(labels, predictions, weights, threshold):
    """{key: metric} of accuracy, precision and recall of telling the positive class from a threshold on."""
    metrics = {}
    key = MetricKeys.ACCURACY_AT_THRESHOLD % threshold
    with name_scope(key, "accuracy_at_threshold", (predictions, labels, weights)) as scope:
        told = math.to_float(math.greater_equal(predictions, threshold))
        metrics[key] = accuracy(labels=labels, predictions=told, weights=weights, name=scope)
    for key, function in (
        (MetricKeys.PRECISION_AT_THRESHOLD, precision_at_thresholds),
        (MetricKeys.RECALL_AT_THRESHOLD, recall_at_thresholds),
    ):
        key = key % threshold
        with name_scope(key, "at_threshold", (predictions, labels, weights)) as scope:
            value, update = function(
                labels=labels, predictions=predictions, thresholds=(threshold,), weights=weights, name=scope
            )
            metrics[key] = array.squeeze(value), array.squeeze(update)
    return metrics
