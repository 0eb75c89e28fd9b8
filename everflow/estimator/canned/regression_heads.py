"""Heads for numbers: squared errors by default, Poisson and logistic regression by a loss and a link function."""

from __future__ import annotations

from everflow.estimator.canned.head import REGRESS_SERVING_KEY, Head
from everflow.estimator.canned.head_inputs import checked_labels, checked_logits, checked_range
from everflow.estimator.canned.head_metrics import regularization, weighted_mean
from everflow.estimator.canned.keys import MetricKeys, PredictionKeys
from everflow.estimator.export.outputs import RegressionOutput
from everflow.losses import Reduction, mean_squared_error
from everflow.metrics import mean
from everflow.ops import math
from everflow.ops.nn.losses import log_poisson_loss, sigmoid_cross_entropy_with_logits


class RegressionHead(Head):
    """Predicts `label_dimension` numbers for each example."""

    _per_logit = True

    def __init__(self, label_dimension, weight_column, loss_reduction, loss_fn=None, inverse_link_fn=None, name=None):
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(loss_reduction, name, weight_column, loss_fn)
        self._logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    logits_dimension = property(lambda self: self._logits_dimension)

    def _processed_labels(self, labels, logits):
        return math.to_float(checked_labels(labels, logits, self._logits_dimension))

    def _losses(self, labels, logits):
        return mean_squared_error(labels=labels, predictions=logits, reduction=Reduction.NONE)

    def _predictions(self, logits):
        logits = checked_logits(logits, self._logits_dimension)
        if not self._inverse_link_fn:
            return logits, {PredictionKeys.PREDICTIONS: logits}
        return logits, {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}

    def _metrics(self, predictions, loss, labels, regularization_loss):
        return {
            MetricKeys.LOSS_MEAN: mean(values=loss.unreduced_loss, weights=loss.weights),
            MetricKeys.PREDICTION_MEAN: weighted_mean(
                predictions[PredictionKeys.PREDICTIONS], loss.weights, MetricKeys.PREDICTION_MEAN
            ),
            MetricKeys.LABEL_MEAN: mean(values=labels, weights=loss.weights),
            **regularization(regularization_loss),
        }

    def _outputs(self, predictions):
        output = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return output, {REGRESS_SERVING_KEY: output}


def poisson_loss_and_link(compute_full_loss):
    """The loss of counts, and what makes them of logits."""

    def poisson_loss(labels, logits):
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return poisson_loss, math.exp


def logistic_loss_and_link():
    """The loss of shares, whose labels are in [0, 1], and what makes them of logits."""

    def logistic_loss(labels, logits):
        labels = checked_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return logistic_loss, math.sigmoid
