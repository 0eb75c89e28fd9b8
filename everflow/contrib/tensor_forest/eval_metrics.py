"""Metrics of forests by name, and which prediction each of them looks at."""

from __future__ import annotations

from everflow import losses
from everflow import metrics as metrics_lib
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from everflow.ops.nn.top_k import in_top_k

INFERENCE_PROB_NAME = "inference"
INFERENCE_PRED_NAME = "predictions"
FEATURE_IMPORTANCE_NAME = "global_feature_importance"


def _flat_classes(targets):
    return array.reshape(math.cast(targets, dtypes.int32), [-1])


def _one_hot(targets, probabilities):
    return array.one_hot(_flat_classes(targets), array.shape(probabilities)[1])


def _top_k(k):
    def metric(probabilities, targets, weights=None):
        hits = in_top_k(probabilities, _flat_classes(targets), k=k)
        return metrics_lib.mean(math.cast(hits, dtypes.float32), weights=weights)

    return metric


def _accuracy(predictions, targets, weights=None):
    return metrics_lib.accuracy(labels=targets, predictions=predictions, weights=weights)


def _r2(probabilities, targets, weights=None):
    targets = math.cast(targets, dtypes.float32)
    spread = math.reduce_sum(math.squared_difference(targets, math.reduce_mean(targets, 0)), 0)
    error = math.reduce_sum(math.squared_difference(targets, probabilities), 0)
    return metrics_lib.mean(1 - error / spread, weights=weights)


def _sigmoid_entropy(probabilities, targets, weights=None):
    each = sigmoid_cross_entropy_with_logits(labels=math.cast(targets, dtypes.float32), logits=probabilities)
    return metrics_lib.mean(each, weights=weights)


def _softmax_entropy(probabilities, targets, weights=None):
    each = softmax_cross_entropy_with_logits(labels=_one_hot(targets, probabilities), logits=probabilities)
    return metrics_lib.mean(each, weights=weights)


def _class_log_loss(probabilities, targets, weights=None):
    return metrics_lib.mean(losses.log_loss(_one_hot(targets, probabilities), probabilities), weights=weights)


def _auc(probabilities, targets, weights=None):
    return metrics_lib.auc(labels=array.reshape(targets, [-1]), predictions=probabilities[:, 1], weights=weights)


def _precision(predictions, targets, weights=None):
    return metrics_lib.precision(labels=targets, predictions=predictions, weights=weights)


def _recall(predictions, targets, weights=None):
    return metrics_lib.recall(labels=targets, predictions=predictions, weights=weights)


_EVAL_METRICS = {
    "auc": _auc,
    "sigmoid_entropy": _sigmoid_entropy,
    "softmax_entropy": _softmax_entropy,
    "accuracy": _accuracy,
    "r2": _r2,
    "log_loss": _class_log_loss,
    "precision": _precision,
    "recall": _recall,
    "top_5": _top_k(5),
}
_OF_CLASSES = ("accuracy", "precision", "recall")


def get_metric(metric_name):
    """The metric of a name; those of probabilities are functions of (probabilities, targets, weights)."""
    return _EVAL_METRICS[metric_name]


def get_prediction_key(metric_name):
    """The prediction that a metric looks at."""
    return INFERENCE_PRED_NAME if metric_name in _OF_CLASSES else INFERENCE_PROB_NAME
