"""Target columns: what a model predicts, and so its loss, predictions and metrics. Heads replaced them."""

from __future__ import annotations

import functools

from everflow.contrib import metrics as metrics_lib
from everflow.contrib.losses import hinge_loss
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.control_flow import Assert
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits

# Kinds of problems, as tf.contrib.learn.ProblemType numbers them.
_CLASSIFICATION, _LINEAR_REGRESSION = 1, 2


class TargetColumn:
    """What `regression_target` and `multi_class_target` have in common."""

    def __init__(self, num_label_columns, label_name, weight_column_name, problem_type):
        self.num_label_columns = num_label_columns
        self.label_name = label_name
        self.weight_column_name = weight_column_name
        self.problem_type = problem_type

    def get_weight_tensor(self, features):
        """The weights of the examples as a vector; None without a weight column."""
        if not self.weight_column_name:
            return None
        return array.reshape(math.cast(features[self.weight_column_name], dtypes.float32), shape=(-1,))

    def _losses(self, logits, target):
        target = target[self.label_name] if isinstance(target, dict) else target
        return self._loss_fn(logits, target)

    def loss(self, logits, target, features):
        """The mean loss, or the mean by weights."""
        losses = self._losses(logits, target)
        weights = self.get_weight_tensor(features)
        if weights is None:
            return math.reduce_mean(losses, name="loss")
        return math.div(math.reduce_sum(_weighted(losses, weights)), math.reduce_sum(weights), name="loss")

    def training_loss(self, logits, target, features, name="training_loss"):
        """The mean of the losses, multiplied by weights where there are some."""
        losses = self._losses(logits, target)
        weights = self.get_weight_tensor(features)
        return math.reduce_mean(losses if weights is None else _weighted(losses, weights), name=name)

    def get_eval_ops(self, features, logits, labels, metrics=None):
        """{name: (value, update)}: the loss, metrics of the problem, and more that are asked for as {name: function}."""
        loss = metrics_lib.streaming_mean(self.loss(logits, labels, features))
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        return {"loss": loss, **self._problem_metrics(features, logits, labels, metrics)}

    def _measured(self, predictions, features, labels, metrics):
        """Metrics of predictions; they are given labels of the predictions' type, and weights where there are some."""
        weights = self.get_weight_tensor(features)
        labels = math.cast(labels, predictions.dtype)
        options = {} if weights is None else {"weights": weights}
        return {name: metric(predictions, labels, **options) for name, metric in metrics.items()}


def _weighted(losses, weights):
    return math.multiply(array.reshape(losses, shape=(-1,)), array.reshape(weights, shape=(-1,)))


class RegressionTarget(TargetColumn):
    """See `regression_target`."""

    def __init__(self, label_name, weight_column_name, label_dimension):
        super().__init__(label_dimension, label_name, weight_column_name, _LINEAR_REGRESSION)

    def _loss_fn(self, logits, target):
        if target.shape.rank == 1:
            target = array.expand_dims(target, axis=1)
        return math.squared_difference(logits, math.cast(target, dtypes.float32))

    def logits_to_predictions(self, logits, proba=False):
        """The numbers."""
        return array.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def _problem_metrics(self, features, logits, labels, metrics):
        return self._measured(self.logits_to_predictions(logits), features, labels, metrics) if metrics else {}


class MultiClassTarget(TargetColumn):
    """See `multi_class_target`."""

    def __init__(self, n_classes, label_name, weight_column_name):
        self._is_binary = n_classes == 2
        super().__init__(1 if self._is_binary else n_classes, label_name, weight_column_name, _CLASSIFICATION)

    def _loss_fn(self, logits, target):
        if self._is_binary:
            target = array.expand_dims(target, axis=1) if target.shape.rank == 1 else target
            return sigmoid_cross_entropy_with_logits(labels=math.cast(target, dtypes.float32), logits=logits)
        target = array.squeeze(target, axis=[1]) if target.shape.rank == 2 else target
        return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)

    def logits_to_predictions(self, logits, proba=False):
        """The classes, or with `proba` the probabilities of all."""
        if self._is_binary:
            logits = array.concat([array.zeros_like(logits), logits], 1)
        return nn.softmax(logits) if proba else math.argmax(logits, 1)

    def _problem_metrics(self, features, logits, labels, metrics):
        """Of two classes those of `get_default_binary_metrics_for_eval`, unweighted here; of more, accuracy.

        `metrics` are of the classes, or where a name is ("name", "probabilities"), of the probabilities.
        """
        results = {}
        predictions, float_labels = math.sigmoid(logits), math.cast(labels, dtypes.float32)
        if self._is_binary:
            binary = get_default_binary_metrics_for_eval(thresholds=[0.5])
            results = {name: metric(predictions, float_labels) for name, metric in binary.items()}
        elif metrics is None:
            metrics = {("accuracy", "classes"): metrics_lib.streaming_accuracy}
        by_kind = {"classes": {}, "probabilities": {}}
        for key, metric in (metrics or {}).items():
            name, kind = _name_and_kind(key)
            by_kind[kind][name] = metric
        for kind, chosen in by_kind.items():
            if chosen:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                results.update(self._measured(predictions, features, labels, chosen))
        return results


def _name_and_kind(key):
    if not isinstance(key, tuple):
        return key, "classes"
    if len(key) != 2:
        raise ValueError(f"A metric's name is a string or a tuple of two, but {key} has {len(key)} elements.")
    if key[1] not in ("classes", "probabilities"):
        raise ValueError(f"The second element of the metric's name {key} must be 'classes' or 'probabilities'.")
    return key


class BinarySvmTarget(MultiClassTarget):
    """See `binary_svm_target`."""

    def __init__(self, label_name, weight_column_name):
        super().__init__(2, label_name, weight_column_name)

    def _loss_fn(self, logits, target):
        message = "The target has more than two dimensions: give one number for each row, [batch] or [batch, 1]"
        flat = Assert(math.less_equal(array.rank(target), 2), [message])
        with control_dependencies([flat]):
            target = array.reshape(target, shape=[array.shape(target)[0], 1])
        return hinge_loss(logits, target)

    def logits_to_predictions(self, logits, proba=False):
        """The classes."""
        if proba:
            raise ValueError("logits to probabilities is not supported for a binary SVM target")
        return math.argmax(array.concat([array.zeros_like(logits), logits], 1), 1)


def regression_target(label_name=None, weight_column_name=None, label_dimension=1):
    """A target of numbers."""
    return RegressionTarget(label_name, weight_column_name, label_dimension)


def multi_class_target(n_classes, label_name=None, weight_column_name=None):
    """A target of classes; two of them need one logit only."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiClassTarget(n_classes, label_name, weight_column_name)


def binary_svm_target(label_name=None, weight_column_name=None):
    """A target of two classes that are kept apart by a margin (hinge loss)."""
    return BinarySvmTarget(label_name, weight_column_name)


def get_default_binary_metrics_for_eval(thresholds):
    """{name: function of (predictions, labels, weights=None)} that tell how well two classes are told apart.

    They are means, the area under the curve, and accuracy, precision and recall for each threshold.

    >>> list(tf.contrib.slim.get_default_binary_metrics_for_eval([0.5]))[-1]
    'recall/positive_threshold_0.500000_mean'
    """
    metrics = {
        "labels/prediction_mean": _predictions_mean,
        "labels/actual_target_mean": _labels_mean,
        "accuracy/baseline_target_mean": _labels_mean,
        "auc": metrics_lib.streaming_auc,
    }
    for threshold in thresholds:
        metrics[f"accuracy/threshold_{threshold:f}_mean"] = functools.partial(_accuracy_at, threshold)
        for name, function in (
            ("precision", metrics_lib.streaming_precision_at_thresholds),
            ("recall", metrics_lib.streaming_recall_at_thresholds),
        ):
            at_threshold = functools.partial(_at_one_threshold, function, threshold)
            metrics[f"{name}/positive_threshold_{threshold:f}_mean"] = at_threshold
    return metrics


def _predictions_mean(predictions, labels, weights=None):
    return metrics_lib.streaming_mean(predictions, weights=weights)


def _labels_mean(predictions, labels, weights=None):
    return metrics_lib.streaming_mean(labels, weights=weights)


def _accuracy_at(threshold, predictions, labels, weights=None):
    above = math.cast(math.greater_equal(predictions, threshold), dtypes.float32)
    return metrics_lib.streaming_accuracy(predictions=above, labels=labels, weights=weights)


def _at_one_threshold(metric, threshold, predictions, labels, weights=None):
    value, update = metric(predictions, labels=labels, thresholds=[threshold], weights=weights)
    return array.squeeze(value), update
