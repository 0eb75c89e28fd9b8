"""tf.contrib.metrics: the streaming metrics under their old names, with predictions before labels."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

import inspect

from everflow import metrics
from everflow.contrib.metrics.areas import auc_using_histogram, auc_with_confidence_intervals, streaming_dynamic_auc
from everflow.contrib.metrics.operating_points import (
    precision_at_recall,
    precision_recall_at_equal_thresholds,
    recall_at_precision,
    streaming_curve_points,
    streaming_false_negative_rate_at_thresholds,
    streaming_false_negatives_at_thresholds,
    streaming_false_positive_rate_at_thresholds,
    streaming_false_positives_at_thresholds,
    streaming_true_negatives_at_thresholds,
    streaming_true_positives_at_thresholds,
)
from everflow.contrib.metrics.statistics import (
    cohen_kappa,
    f1_score,
    streaming_concat,
    streaming_covariance,
    streaming_pearson_correlation,
)
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.metrics import at_k, counts
from everflow.metrics.variables import aligned, collected, metric_variable
from everflow.ops import array, math
from everflow.ops.math.confusion_matrix import confusion_matrix
from everflow.ops.nn import top_k as nn_top_k
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.sparse.sets import set_difference, set_intersection, set_size, set_union
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import options_of, takes

# Metrics of tf.metrics that are called streaming_x here and take predictions before labels; some have another name.
_RENAMED = """accuracy auc false_negatives false_positives mean_absolute_error mean_cosine_distance mean_iou
    mean_relative_error mean_squared_error precision precision_at_thresholds recall recall_at_thresholds
    root_mean_squared_error sensitivity_at_specificity sparse_average_precision_at_k sparse_precision_at_k
    sparse_recall_at_k specificity_at_sensitivity true_negatives true_positives""".split()


def _predictions_first(name, metric):
    """A metric with its first two parameters exchanged."""
    labels, predictions, *rest = inspect.signature(metric).parameters.values()
    signature = inspect.Signature([predictions, labels, *rest])

    def renamed(*args, **kwargs):
        return metric(**signature.bind(*args, **kwargs).arguments)

    renamed.__signature__ = signature
    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = metric.__doc__
    return renamed


for _name in _RENAMED:
    _metric = getattr(metrics, _name.removeprefix("sparse_"))
    globals()[f"streaming_{_name}"] = _predictions_first(f"streaming_{_name}", _metric)

streaming_mean = metrics.mean
streaming_mean_tensor = metrics.mean_tensor
streaming_percentage_less = metrics.percentage_below


@takes(options_of(metrics.recall_at_top_k, ["k"]))
def sparse_recall_at_top_k(labels, top_k_predictions, **given):
    """The share of the labels that are among predicted classes."""
    return metrics.recall_at_top_k(labels, top_k_predictions, **given)


@takes(options_of(metrics.precision_at_top_k, ["k"]))
def streaming_sparse_precision_at_top_k(top_k_predictions, labels, **given):
    """The share of predicted classes that are right."""
    return metrics.precision_at_top_k(labels, top_k_predictions, **given)


@takes(metrics.mean)
def streaming_sparse_average_precision_at_top_k(top_k_predictions, labels, **given):
    """The mean, over rows, of the precision at each predicted class that is right."""
    return at_k.average_precision_at_top_k(labels, top_k_predictions, **given)


def streaming_recall_at_k(
    predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of rows whose label is among the k highest predictions."""
    in_top_k = math.cast(nn_top_k.in_top_k(predictions, labels, k), dtypes.float32)
    return metrics.mean(in_top_k, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that equal labels, of this batch alone."""
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should be integers, strings or booleans, not {labels.dtype.name}")
    labels.shape.assert_is_compatible_with(predictions.shape)
    if labels.dtype != predictions.dtype:
        raise ValueError(f"Predictions are {predictions.dtype.name}, labels {labels.dtype.name}: cast one of them")
    with name_scope(name, "accuracy", values=[predictions, labels]):
        correct = math.cast(math.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            correct = math.multiply(correct, weights)
            each = math.multiply(weights, array.ones_like(correct))
            return math.div(math.reduce_sum(correct), math.reduce_sum(each))
        return math.reduce_mean(correct)


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How many values there were, weighted."""
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math.cast(array.size(values), dtypes.float32)
        else:
            values = math.cast(values, dtypes.float32)
            number = math.reduce_sum(broadcast_weights(math.cast(weights, dtypes.float32), values))
        with control_dependencies([values]):
            update_op = state.assign_add(total, number)
        return collected(array.identity(total), update_op, metrics_collections, updates_collections)


def aggregate_metrics(*value_update_tuples):
    """([values], [update ops]) of several metrics."""
    if not value_update_tuples:
        raise ValueError("There is nothing to aggregate: give (value, update op) of one metric or more")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update op}) of metrics by name.

    >>> values, updates = tf.contrib.metrics.aggregate_metric_map({"accuracy": tf.metrics.accuracy(labels, predictions)})
    """
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    updates = {name: pair[1] for name, pair in names_to_tuples.items()}
    return values, updates


def _rate(wrong, right, labels_are, predicted_as):
    """A metric of the form wrong / (wrong + right)."""

    def metric(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, scope, (predictions, labels, weights)):
            both = (math.cast(given, dtypes.bool) for given in (predictions, labels))
            predictions, labels, weights = aligned(*both, weights)
            misses, misses_update = wrong(labels, predictions, weights)
            hits, hits_update = right(labels, predictions, weights)
            value = counts.ratio(misses, hits, "value")
            update_op = counts.ratio(misses_update, hits_update, "update_op")
            return collected(value, update_op, metrics_collections, updates_collections)

    scope = f"false_{predicted_as}_rate"
    metric.__name__ = metric.__qualname__ = f"streaming_{scope}"
    metric.__doc__ = f"The share of {labels_are} labels that are predicted as {predicted_as}."
    return metric


streaming_false_positive_rate = _rate(metrics.false_positives, metrics.true_negatives, "negative", "positive")
streaming_false_negative_rate = _rate(metrics.false_negatives, metrics.true_positives, "positive", "negative")
