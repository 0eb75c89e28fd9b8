"""Heads of tf.contrib.learn: what logits mean, and so loss (a mean over examples), predictions and metrics."""

from __future__ import annotations

import abc

from everflow import metrics as metrics_lib
from everflow import summary
from everflow.contrib.layers.dense import fully_connected
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from everflow.estimator.canned.classification_heads import all_classes
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import no_op
from everflow.ops.lookup import static as lookup
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import options_of, takes


class Head(abc.ABC):
    """Makes of logits what a mode needs."""

    # The name of the loss in dual coordinate ascent, where it has one.
    sdca_loss = None

    def __init__(self, logits_dimension, label_name, weight_column_name, head_name):
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self.head_name = head_name

    logits_dimension = property(lambda self: self._logits_dimension, doc="How many logits it takes for an example.")

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """A `ModelFnOps` of the logits, or of logits that are made from `logits_input` here."""
        ModeKeys.validate(mode)
        with variable_scope(scope, self.head_name or self._default_name):
            if logits is None:
                logits = fully_connected(logits_input, self.logits_dimension, activation_fn=None, scope="logits")
            with name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = outputs = None
            evaluated = {}
            if mode == ModeKeys.INFER:
                outputs = {self.head_name: self._output(predictions)}
            if labels is not None and mode != ModeKeys.INFER:
                labels = self._labels(labels)
                weights = self._weights(features)
                loss = _weighted_mean(self._losses(logits, labels), weights)
                summary.scalar(self._name("loss"), loss)
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("To train, a head needs train_op_fn: a function from the loss to the train op")
                    train_op = train_op_fn(loss)
                else:
                    computed = self._metrics(loss, predictions, labels, weights)
                    evaluated = {self._name(key): value for key, value in computed.items()}
            return ModelFnOps(mode, predictions, loss, train_op, evaluated, outputs)

    def _name(self, key):
        return f"{key}/{self.head_name}" if self.head_name else key

    def _labels(self, labels):
        if isinstance(labels, dict):
            if self._label_name is None:
                raise ValueError("Labels are a dict, but the head was given no label_name.")
            labels = labels[self._label_name]
        labels = convert_to_tensor(labels)
        return array.expand_dims(labels, 1) if labels.shape.rank == 1 else labels

    def _weights(self, features):
        if self._weight_column_name is None:
            return None
        weights = math.cast(features[self._weight_column_name], dtypes.float32)
        return array.expand_dims(weights, 1) if weights.shape.rank == 1 else weights

    @abc.abstractmethod
    def _losses(self, logits, labels):
        """The loss of each example."""

    @abc.abstractmethod
    def _predictions(self, logits):
        """{key: predictions}."""

    def _output(self, predictions):
        """What a saved model serves: the kind of problem, and tensors by name."""
        return ProblemType.UNSPECIFIED, predictions

    def _metrics(self, loss, predictions, labels, weights):
        return {"loss": metrics_lib.mean(loss)}


def _weighted_mean(losses, weights):
    if weights is None:
        return math.reduce_mean(losses, name="loss")
    return math.div(math.reduce_sum(losses * weights), math.reduce_sum(weights), name="loss")


class RegressionHead(Head):
    """Predicts numbers; squared errors, unless there is another loss."""

    _default_name = "regression_head"

    def __init__(
        self,
        label_dimension,
        label_name,
        weight_column_name,
        head_name,
        losses=None,
        link_fn=None,
        sdca_loss="squared_loss",
    ):
        super().__init__(label_dimension, label_name, weight_column_name, head_name)
        self.sdca_loss = sdca_loss
        self._losses_of = losses or (lambda logits, labels: math.squared_difference(logits, labels))
        self._link_fn = link_fn or array.identity

    def _losses(self, logits, labels):
        return self._losses_of(logits, math.cast(labels, dtypes.float32))

    def _predictions(self, logits):
        if self.logits_dimension == 1:
            logits = array.squeeze(logits, axis=[1], name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}

    def _output(self, predictions):
        return ProblemType.LINEAR_REGRESSION, predictions


class MultiClassHead(Head):
    """Tells one of several classes."""

    _default_name = "multi_class_head"

    def __init__(self, n_classes, label_name, weight_column_name, head_name, label_keys):
        super().__init__(n_classes, label_name, weight_column_name, head_name)
        self._label_keys = label_keys

    def _labels(self, labels):
        labels = super()._labels(labels)
        if self._label_keys:
            return lookup.index_table_from_tensor(tuple(self._label_keys), name="label_id_lookup").lookup(labels)
        return labels

    def _losses(self, logits, labels):
        losses = sparse_softmax_cross_entropy_with_logits(labels=array.squeeze(labels, axis=[1]), logits=logits)
        return array.expand_dims(losses, 1)

    def _classes(self, ids):
        if self._label_keys:
            return array.gather(convert_to_tensor(list(self._label_keys)), ids)
        return ids

    def _predictions(self, logits):
        classes = self._classes(math.argmax(logits, 1, name=PredictionKey.CLASSES))
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _output(self, predictions):
        probabilities = predictions[PredictionKey.PROBABILITIES]
        classes = all_classes(probabilities, probabilities.shape.size(-1), self._label_keys)
        return ProblemType.CLASSIFICATION, {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}

    def _metrics(self, loss, predictions, labels, weights):
        ids = math.argmax(predictions[PredictionKey.LOGITS], 1)
        flat = None if weights is None else array.squeeze(weights, axis=[1])
        return {
            "loss": metrics_lib.mean(loss),
            "accuracy": metrics_lib.accuracy(array.squeeze(labels, axis=[1]), ids, weights=flat),
        }


class BinaryHead(MultiClassHead):
    """Tells two classes apart by one logit."""

    _default_name = "binary_logistic_head"
    sdca_loss = "logistic_loss"

    def __init__(self, label_name, weight_column_name, head_name, thresholds, label_keys):
        super().__init__(1, label_name, weight_column_name, head_name, label_keys)
        self._thresholds = thresholds or [0.5]

    def _losses(self, logits, labels):
        return sigmoid_cross_entropy_with_logits(labels=math.cast(labels, dtypes.float32), logits=logits)

    def _predictions(self, logits):
        both = array.concat((array.zeros_like(logits), logits), 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: math.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: nn.softmax(both, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: self._classes(math.argmax(both, 1, name=PredictionKey.CLASSES)),
        }

    def _metrics(self, loss, predictions, labels, weights):
        logistic = predictions[PredictionKey.LOGISTIC]
        labels = math.cast(labels, dtypes.float32)
        hits = math.cast(logistic > 0.5, dtypes.float32)
        result = {
            "loss": metrics_lib.mean(loss),
            "accuracy": metrics_lib.accuracy(labels, hits, weights=weights),
            "labels/prediction_mean": metrics_lib.mean(logistic, weights),
            "labels/actual_label_mean": metrics_lib.mean(labels, weights),
            "accuracy/baseline_label_mean": metrics_lib.mean(labels, weights),
            "auc": metrics_lib.auc(labels, logistic, weights),
            "auc_precision_recall": metrics_lib.auc(labels, logistic, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            above = math.cast(logistic >= threshold, dtypes.float32)
            result[f"accuracy/threshold_{threshold:f}_mean"] = metrics_lib.accuracy(labels, above, weights=weights)
            precision = metrics_lib.precision(labels, above, weights=weights)
            result[f"precision/positive_threshold_{threshold:f}_mean"] = precision
            result[f"recall/positive_threshold_{threshold:f}_mean"] = metrics_lib.recall(labels, above, weights=weights)
        return result


class MultiLabelHead(Head):
    """Tells for each class whether it holds."""

    _default_name = "multi_label_head"

    def _losses(self, logits, labels):
        losses = sigmoid_cross_entropy_with_logits(labels=math.cast(labels, dtypes.float32), logits=logits)
        return math.reduce_mean(losses, axis=1, keepdims=True)

    def _predictions(self, logits):
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: math.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: math.cast(logits > 0, dtypes.int64, name=PredictionKey.CLASSES),
        }

    def _metrics(self, loss, predictions, labels, weights):
        hits = predictions[PredictionKey.CLASSES]
        return {
            "loss": metrics_lib.mean(loss),
            "accuracy": metrics_lib.accuracy(math.cast(labels, dtypes.int64), hits, weights=weights),
        }


def _no_centered_bias(enable_centered_bias):
    if enable_centered_bias:
        raise ValueError("enable_centered_bias is not supported: a model's own bias learns the same.")


def multi_class_head(
    n_classes,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
    thresholds=None,
    metric_class_ids=None,
    loss_fn=None,
    label_keys=None,
):
    """A head for two classes or more."""
    _no_centered_bias(enable_centered_bias)
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if metric_class_ids or loss_fn:
        raise ValueError("metric_class_ids and loss_fn are not supported.")
    if n_classes == 2:
        return BinaryHead(label_name, weight_column_name, head_name, thresholds, label_keys)
    return MultiClassHead(n_classes, label_name, weight_column_name, head_name, label_keys)


# What the ready-made classifiers and regressors take for their heads, by the parameter of estimators that it follows.
CLASSIFIES = {
    "model_dir": {"n_classes": 2, "weight_column_name": None},
    "gradient_clip_norm": {"enable_centered_bias": False},
}
REGRESSES = {"model_dir": {"weight_column_name": None}, "gradient_clip_norm": {"enable_centered_bias": False}}


def class_head(given):
    """The head of a ready-made classifier, by what is taken for it out of the classifier's arguments."""
    names = ("n_classes", "weight_column_name", "enable_centered_bias", "label_keys")
    return multi_class_head(**{name: given.pop(name) for name in names})


def number_head(given):
    """The head of a ready-made regressor, by what is taken for it out of the regressor's arguments."""
    names = ("weight_column_name", "label_dimension", "enable_centered_bias")
    return regression_head(**{name: given.pop(name) for name in names})


@takes(options_of(multi_class_head, ["label_keys"]))
def multi_label_head(n_classes, label_name=None, weight_column_name=None, **given):
    """A head for classes of which several may hold."""
    _no_centered_bias(given["enable_centered_bias"])
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    if given["thresholds"] or given["metric_class_ids"] or given["loss_fn"]:
        raise ValueError("thresholds, metric_class_ids and loss_fn are not supported.")
    return MultiLabelHead(n_classes, label_name, weight_column_name, given["head_name"])


def regression_head(
    label_name=None,
    weight_column_name=None,
    label_dimension=1,
    enable_centered_bias=False,
    head_name=None,
    link_fn=None,
):
    """A head that predicts numbers."""
    _no_centered_bias(enable_centered_bias)
    return RegressionHead(label_dimension, label_name, weight_column_name, head_name, link_fn=link_fn)


def poisson_regression_head(
    label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False, head_name=None
):
    """A head that predicts counts."""
    _no_centered_bias(enable_centered_bias)

    def losses(logits, labels):
        return log_poisson_loss(targets=labels, log_input=logits)

    of_head = label_dimension, label_name, weight_column_name, head_name
    return RegressionHead(*of_head, losses, math.exp, sdca_loss="poisson_loss")


def no_op_train_fn(loss):
    """A train op that does nothing, for heads that only evaluate."""
    return no_op()
