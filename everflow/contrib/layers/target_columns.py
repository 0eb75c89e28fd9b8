"""Target columns: what a model is to predict, and so its loss, its predictions and its metrics. Heads took their place later."""

from __future__ import annotations

from everflow import metrics as metrics_lib
from everflow.contrib.losses import hinge_loss
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math, nn
from everflow.ops.control_flow import Assert
from everflow.ops.nn_losses import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits

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
        results = {"loss": metrics_lib.mean(self.loss(logits, labels, features))}
        weights = self.get_weight_tensor(features)
        target = labels[self.label_name] if isinstance(labels, dict) else labels
        results.update(self._problem_metrics(logits, target, weights))
        predictions = self.logits_to_predictions(logits, proba=False) if metrics else None
        for name, metric in (metrics or {}).items():
            results[name] = metric(predictions, target) if weights is None else metric(predictions, target, weights=weights)
        return results

    def _problem_metrics(self, logits, target, weights):
        return {}


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

    def _problem_metrics(self, logits, target, weights):
        if not self._is_binary:
            return {}
        predictions = math.sigmoid(logits)
        target = math.cast(array.expand_dims(target, axis=1) if target.shape.rank == 1 else target, dtypes.float32)
        weights = None if weights is None else array.expand_dims(weights, 1)
        above = math.cast(predictions >= 0.5, dtypes.float32)
        return {
            "labels/prediction_mean": metrics_lib.mean(predictions, weights),
            "labels/actual_target_mean": metrics_lib.mean(target, weights),
            "accuracy/baseline_target_mean": metrics_lib.mean(target, weights),
            "auc": metrics_lib.auc(target, predictions, weights),
            "accuracy/threshold_0.500000_mean": metrics_lib.accuracy(target, above, weights),
            "precision/positive_threshold_0.500000_mean": metrics_lib.precision(target, above, weights),
            "recall/positive_threshold_0.500000_mean": metrics_lib.recall(target, above, weights),
        }


class BinarySvmTarget(MultiClassTarget):
    """See `binary_svm_target`."""

    def __init__(self, label_name, weight_column_name):
        super().__init__(2, label_name, weight_column_name)

    def _loss_fn(self, logits, target):
        flat = Assert(math.less_equal(array.rank(target), 2), ["target's shape should be either [batch_size, 1] or [batch_size]"])
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
