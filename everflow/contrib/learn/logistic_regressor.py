"""`LogisticRegressor`: an estimator for a model function that predicts probabilities of one class."""

from __future__ import annotations

from everflow import metrics as metrics_lib
from everflow.contrib.learn.estimator import Estimator
from everflow.contrib.learn.model_ops import ModeKeys
from everflow.framework import dtypes
from everflow.ops import math


def _metrics(predictions, labels, thresholds):
    """Accuracy, area under the curve, precision and recall of probabilities."""
    labels = math.cast(labels, dtypes.float32)
    result = {
        "auc": metrics_lib.auc(labels, predictions),
        "labels/prediction_mean": metrics_lib.mean(predictions),
        "labels/actual_label_mean": metrics_lib.mean(labels),
        "accuracy/baseline_label_mean": metrics_lib.mean(labels),
    }
    for threshold in thresholds or [0.5]:
        above = math.cast(math.greater_equal(predictions, threshold), dtypes.float32)
        result[f"accuracy/threshold_{threshold:f}_mean"] = metrics_lib.accuracy(labels, above)
        result[f"precision/positive_threshold_{threshold:f}_mean"] = metrics_lib.precision(labels, above)
        result[f"recall/positive_threshold_{threshold:f}_mean"] = metrics_lib.recall(labels, above)
    return result


def LogisticRegressor(model_fn, thresholds=None, model_dir=None, config=None, feature_engineering_fn=None):
    """An estimator of a model function `fn(features, labels, mode)` -> (probabilities, loss, train op), with metrics of
    logistic regression.
    """

    class _Regressor(Estimator):
        def _draw(self, features, labels, mode, config):
            ops = super()._draw(features, labels, mode, config)
            if mode != ModeKeys.EVAL:
                return ops
            told = next(iter(ops.predictions.values())) if isinstance(ops.predictions, dict) else ops.predictions
            return ops._replace(eval_metric_ops={**_metrics(told, labels, thresholds), **ops.eval_metric_ops})

    return _Regressor(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
