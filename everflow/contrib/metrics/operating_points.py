"""Metrics of a binary classifier at many thresholds: by precision or recall, error rates, points of curves."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.metrics import mean
from everflow.metrics.thresholds import counts_at_thresholds, spread_thresholds
from everflow.metrics.variables import collected, metric_variable
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_type
from everflow.ops.control_flow import cond, group
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, options_of, takes

_TINY = 1e-7


_THRESHOLDS = inserted(options_of(mean), weights={"num_thresholds": 200})


@takes(_THRESHOLDS)
def precision_at_recall(labels, predictions, target_recall, **given):
    """The precision at the highest threshold whose recall is at least the one given."""
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def compute(tp, fp, fn, name):
        recalls = math.div(tp, tp + fn + _TINY)
        # Recall falls along the thresholds, so the number of good ones tells the last of them.
        last = math.reduce_sum(math.cast(math.greater_equal(recalls, target_recall), dtypes.int64)) - 1
        return math.div(tp[last] + _TINY, tp[last] + fp[last] + _TINY, name)

    return _of_counts("precision_at_recall", compute, labels, predictions, given)


def _of_counts(scope, compute, labels, predictions, given):
    """The metric `compute(tp, fp, fn, name)` of the counts at all thresholds, and of what updates them."""
    weights = given["weights"]
    with variable_scope(given["name"], scope, (predictions, labels, weights)):
        thresholds = spread_thresholds(given["num_thresholds"])
        both = counts_at_thresholds(labels, predictions, thresholds, weights, checked=False)
        made = [compute(c["tp"], c["fp"], c["fn"], name) for c, name in zip(both, ("value", "update_op"))]
        return collected(*made, given["metrics_collections"], given["updates_collections"])


@takes(_THRESHOLDS)
def recall_at_precision(labels, predictions, precision, *, strict_mode=False, **given):
    """The recall where precision is nearest to the one given; `strict_mode`: nearest from above, else 0."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def compute(tp, fp, fn, name):
        precisions = math.div(tp, tp + fp + _TINY)
        if not strict_mode:
            place = math.argmin(math.abs(precisions - precision), 0, output_type=dtypes.int32)
            return math.div(tp[place], tp[place] + fn[place] + _TINY, name)
        # One over the distance is largest for the nearest above, and negative below.
        place = math.argmax(math.div(1.0, precisions - precision + _TINY), 0, output_type=dtypes.int32)
        good, none = precisions[place] >= precision, lambda: constant(0.0, dtypes.float32)
        return cond(good, lambda: math.div(tp[place], tp[place] + fn[place] + _TINY, name), none)

    return _of_counts("recall_at_precision", compute, labels, predictions, given)


def _error_rate(scope, short, missed, found, doc):
    def metric(
        predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
    ):
        with variable_scope(name, f"{scope}_at_thresholds", (predictions, labels, weights)):
            includes = (found, missed) if found == "tp" else (missed, found)
            values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, includes, checked=False)
            value = math.div(values[missed], _TINY + values[missed] + values[found], name=f"{short}_value")
            update_op = math.div(updates[missed], _TINY + updates[missed] + updates[found], name=f"{short}_update_op")
            return collected(value, update_op, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"streaming_{scope}_at_thresholds"
    metric.__doc__ = doc
    return metric


streaming_false_negative_rate_at_thresholds = _error_rate(
    "false_negative_rate", "fnr", "fn", "tp", "The share of positives that are missed, at each threshold."
)
streaming_false_positive_rate_at_thresholds = _error_rate(
    "false_positive_rate", "fpr", "fp", "tn", "The share of negatives that are taken for positives, at each threshold."
)


def _count(kind, short):
    def metric(predictions, labels, thresholds, weights=None):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, (short,), checked=False)
        return values[short], updates[short]

    metric.__name__ = metric.__qualname__ = f"streaming_{kind}_at_thresholds"
    what = kind.replace("_", " ")
    metric.__doc__ = f"The number of {what} at each threshold: a variable in the caller's scope, and its update."
    return metric


streaming_true_positives_at_thresholds = _count("true_positives", "tp")
streaming_false_positives_at_thresholds = _count("false_positives", "fp")
streaming_true_negatives_at_thresholds = _count("true_negatives", "tn")
streaming_false_negatives_at_thresholds = _count("false_negatives", "fn")


@takes(inserted(_THRESHOLDS, updates_collections={"curve": "ROC"}))
def streaming_curve_points(labels=None, predictions=None, **given):
    """Points [thresholds, 2] of the ROC curve (false, true positive rate) or of the PR curve (recall, precision)."""
    weights, curve = given["weights"], given["curve"]
    with variable_scope(given["name"], "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, not {curve!r}")
        thresholds = spread_thresholds(given["num_thresholds"])
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, checked=False)
        tp, fn, tn, fp = values["tp"], values["fn"], values["tn"], values["fp"]
        epsilon = 1.0e-6
        recall = math.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = math.div(fp, fp + tn + epsilon), recall
        else:
            points = recall, math.div(tp + epsilon, tp + fp + epsilon)
        value, update_op = array.stack(points, axis=1), group(*updates.values())
        return collected(value, update_op, given["metrics_collections"], given["updates_collections"])


PrecisionRecallData = collections.namedtuple("PrecisionRecallData", "tp fp tn fn precision recall thresholds")


def precision_recall_at_equal_thresholds(
    labels, predictions, weights=None, num_thresholds=None, use_locking=None, name=None
):
    """(PrecisionRecallData, update op) at equally spaced thresholds, whose number costs nothing.

    `labels` are bool, predictions are between 0 and 1.
    """
    assert_type(labels, dtypes.bool)
    num_thresholds = 201 if num_thresholds is None else num_thresholds
    locked = True if use_locking is None else use_locking
    dtype, message = dtypes.float64, "predictions must be in [0, 1]"
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        checks = [
            check.assert_greater_equal(predictions, math.cast(0.0, dtype=predictions.dtype), message=message),
            check.assert_less_equal(predictions, math.cast(1.0, dtype=predictions.dtype), message=message),
        ]
        with control_dependencies(checks):
            if weights is None:
                weights = constant(1.0)
        # Each prediction falls into one bucket; sums from the right give the counts at each threshold.
        is_true = math.cast(labels, dtype)
        weights = math.cast(weights, dtype)
        true_values = is_true * weights
        false_values = (1.0 - is_true) * weights
        flat = array.reshape(predictions, [-1])
        true_values = array.reshape(true_values, [-1])
        false_values = array.reshape(false_values, [-1])
        buckets = math.cast(math.floor(flat * (num_thresholds - 1)), dtypes.int32)
        with name_scope("variables"):
            tp_buckets = metric_variable([num_thresholds], dtype, name="tp_buckets")
            fp_buckets = metric_variable([num_thresholds], dtype, name="fp_buckets")
        with name_scope("update_op"):
            update_tp = state.scatter_add(tp_buckets, buckets, true_values, use_locking=locked)
            update_fp = state.scatter_add(fp_buckets, buckets, false_values, use_locking=locked)
        tp = math.cumsum(tp_buckets, reverse=True, name="tp")
        fp = math.cumsum(fp_buckets, reverse=True, name="fp")
        tn = fp[0] - fp
        fn = tp[0] - tp
        tiny = constant(_TINY, dtype)
        precision = tp / math.maximum(tiny, tp + fp)
        recall = tp / math.maximum(tiny, tp + fn)
        counted = [math.cast(x, predictions.dtype) for x in (tp, fp, tn, fn, precision, recall)]
        thresholds = math.linspace(0.0, 1.0, num_thresholds)
        return PrecisionRecallData(*counted, thresholds), group(update_tp, update_fp)
