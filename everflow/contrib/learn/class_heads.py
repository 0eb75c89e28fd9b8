"""Heads of tf.contrib.learn that tell classes: two by one logit, one of several, or several at once."""

from __future__ import annotations

import inspect

from everflow import metrics as metrics_lib
from everflow.contrib.learn.heads import Head
from everflow.contrib.learn.model_ops import PredictionKey, ProblemType
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.lookup import static as lookup
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.sparse.functions import sparse_to_indicator
from everflow.ops.strings.text import as_string
from everflow.platform.signatures import options_of, takes


def _mean(values, weights=None):
    return metrics_lib.mean(values, weights)


def _float(values):
    return math.cast(values, dtypes.float32)


class ClassHead(Head):
    """What heads of classes share: losses of one's own, the classes that are served, metrics of single classes."""

    _problem = ProblemType.CLASSIFICATION

    def __init__(
        self,
        logits_dimension,
        label_name=None,
        weight_column_name=None,
        enable_centered_bias=False,
        head_name=None,
        thresholds=None,
        metric_class_ids=None,
        loss_fn=None,
        label_keys=None,
    ):
        super().__init__(logits_dimension, label_name, weight_column_name, head_name, enable_centered_bias)
        self._thresholds = thresholds or ()
        self._metric_class_ids = tuple(metric_class_ids or ())
        self._loss_fn = _checked_loss_fn(loss_fn)
        self._label_keys = label_keys
        for class_id in self._metric_class_ids:
            if not 0 <= class_id < logits_dimension:
                raise ValueError(f"There is no class {class_id} to measure: there are {logits_dimension}, from 0 on")

    def _loss(self, labels, logits, weights):
        if self._loss_fn is None:
            return super()._loss(labels, logits, weights)
        loss = self._loss_fn(labels, logits, **({} if weights is None else {"weights": weights}))
        loss = convert_to_tensor(loss)
        if loss.shape.rank not in (None, 0):
            raise ValueError(f"loss_fn must return a scalar, but it gave {loss}")
        return loss, loss

    def _output(self, predictions):
        probabilities = predictions[PredictionKey.PROBABILITIES]
        with name_scope(None, "_classification_output_alternatives", (probabilities,)):
            count = array.shape(probabilities)[0]
            if self._label_keys:
                names = array.expand_dims(list(self._label_keys), 0)
                classes = array.tile(names, [count, 1], name="classes_tensor")
            else:
                numbers = array.expand_dims(math.range(array.shape(probabilities)[1]), 0)
                classes = as_string(array.tile(numbers, [count, 1]), name="classes_tensor")
        return self._problem, {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}

    def _of_class(self, values, weights, class_id):
        """The mean of one column, with the weights of that column."""
        if weights is not None:
            weights = broadcast_weights(weights, values)[:, class_id]
        return _mean(values[:, class_id], weights)


def _checked_loss_fn(loss_fn):
    """A loss function of a program's own, which takes labels, logits and, where there are any, weights."""
    if loss_fn is None:
        return None
    taken = inspect.signature(loss_fn).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return loss_fn
    for name in ("labels", "logits", "weights"):
        if name not in taken:
            raise ValueError(f"loss_fn takes no {name!r}; it is called with labels, logits and weights")
    return loss_fn


class MultiClassHead(ClassHead):
    """Tells one of several classes."""

    _default_name = "multi_class_head"
    _loss_name = "softmax_cross_entropy_loss"

    def _labels(self, labels):
        if self._label_keys:
            return lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)
        return labels

    def _losses(self, logits, labels, name):
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels of classes are whole numbers, not {labels.dtype.name}")
        if labels.shape.rank != 2:
            return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        flat = array.squeeze(labels, axis=(1,))
        losses = sparse_softmax_cross_entropy_with_logits(labels=flat, logits=logits, name=name)
        return array.expand_dims(losses, axis=(1,))

    def _predictions(self, logits):
        classes = math.argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys:
            names = lookup.index_to_string_table_from_tensor(self._label_keys, name="class_string_lookup")
            classes = names.lookup(classes)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _metrics(self, loss, predictions, labels, weights):
        logits = predictions[PredictionKey.LOGITS]
        classes = predictions[PredictionKey.CLASSES]
        found = {"loss": _mean(loss), "accuracy": metrics_lib.accuracy(labels, classes, weights)}
        for class_id in self._metric_class_ids:
            kind = f"class{class_id}"
            found[f"labels/prediction_mean/{kind}"] = _mean(_is(class_id, classes, labels.dtype), weights)
            found[f"labels/actual_label_mean/{kind}"] = _mean(_is(class_id, labels, labels.dtype), weights)
            shares = predictions[PredictionKey.PROBABILITIES]
            found[f"labels/probability_mean/{kind}"] = self._of_class(shares, weights, class_id)
            found[f"labels/logits_mean/{kind}"] = self._of_class(logits, weights, class_id)
        return found


def _is(class_id, classes, dtype):
    """1 where a class is this one, else 0."""
    hits = math.equal(math.cast(class_id, dtype), math.cast(classes, dtype))
    return array.where(hits, array.ones_like(classes), array.zeros_like(classes))


class BinaryHead(ClassHead):
    """Tells two classes apart by one logit."""

    _default_name = "binary_logistic_head"
    _loss_name = "log_loss_with_two_classes"
    _problem = ProblemType.LOGISTIC_REGRESSION
    sdca_loss = "logistic_loss"  # type: ignore[assignment]

    def _losses(self, logits, labels, name):
        truth = _float(labels)
        if truth.shape.rank == 1:
            truth = array.expand_dims(truth, axis=(1,))
        return sigmoid_cross_entropy_with_logits(labels=truth, logits=logits, name=name)

    def _predictions(self, logits):
        both = array.concat((array.zeros_like(logits), logits), 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: math.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: nn.softmax(both, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: math.argmax(both, 1, name=PredictionKey.CLASSES),
        }

    def _metrics(self, loss, predictions, labels, weights):
        logistic = predictions[PredictionKey.LOGISTIC]
        found = {
            "loss": _mean(loss),
            "accuracy": metrics_lib.accuracy(labels, predictions[PredictionKey.CLASSES], weights),
            "labels/prediction_mean": _mean(logistic, weights),
            "labels/actual_label_mean": _mean(_float(labels), weights),
            "accuracy/baseline_label_mean": _mean(_float(labels), weights),
            "auc": _auc(logistic, labels, weights),
            "auc_precision_recall": _auc(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            above = _float(math.greater_equal(logistic, threshold))
            found[f"accuracy/threshold_{threshold:f}_mean"] = metrics_lib.accuracy(labels, above, weights)
            for what in ("precision", "recall"):
                measured = getattr(metrics_lib, f"{what}_at_thresholds")(
                    labels, logistic, (threshold,), weights=weights
                )
                found[f"{what}/positive_threshold_{threshold:f}_mean"] = tuple(array.squeeze(m) for m in measured)
        return found


def _auc(scores, labels, weights, curve="ROC"):
    return metrics_lib.auc(math.cast(labels, dtypes.bool), scores, weights, curve=curve)


class MultiLabelHead(ClassHead):
    """Tells for each class whether it holds."""

    _default_name = "multi_label_head"
    _loss_name = "sigmoid_cross_entropy_loss"

    def _dense_labels(self, labels):
        """Sparse labels are the numbers of the classes that hold."""
        return math.cast(sparse_to_indicator(labels, self.logits_dimension), dtypes.int64)

    def _losses(self, logits, labels, name):
        return sigmoid_cross_entropy_with_logits(labels=_float(labels), logits=logits, name=name)

    def _predictions(self, logits):
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: math.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: math.cast(math.greater(logits, 0), dtypes.int64, name=PredictionKey.CLASSES),
        }

    def _metrics(self, loss, predictions, labels, weights):
        classes, shares = (predictions[key] for key in (PredictionKey.CLASSES, PredictionKey.PROBABILITIES))
        found = {"loss": _mean(loss), "accuracy": metrics_lib.accuracy(labels, classes, weights)}
        for curve, name in (("ROC", "auc"), ("PR", "auc_precision_recall")):
            truth = math.cast(labels, dtypes.bool)
            of_all = None if weights is None else broadcast_weights(weights, shares)
            found[name] = metrics_lib.auc(truth, shares, of_all, curve=curve)
        for class_id in self._metric_class_ids:
            kind = f"class{class_id}"
            for what, values in (
                ("prediction_mean", lambda: _float(classes)),
                ("actual_label_mean", lambda: _float(labels)),
                ("probability_mean", lambda: shares),
                ("logits_mean", lambda: predictions[PredictionKey.LOGITS]),
            ):
                found[f"labels/{what}/{kind}"] = self._of_class(values(), weights, class_id)
            for curve, name in (("ROC", "auc"), ("PR", "auc_precision_recall")):
                truth = math.cast(labels, dtypes.bool)
                of_class = None if weights is None else broadcast_weights(weights, shares)[:, class_id]
                scores = shares[:, class_id]
                found[f"{name}/{kind}"] = metrics_lib.auc(truth[:, class_id], scores, of_class, curve=curve)
        return found


@takes(options_of(ClassHead.__init__))
def multi_class_head(n_classes, **given):
    """A head for two classes or more.

    `loss_fn(labels, logits, weights=None)` returns a scalar loss of one's own; classes in `metric_class_ids` have means
    of their own among the metrics.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    label_keys = given["label_keys"]
    if n_classes == 2:
        if given["metric_class_ids"] or label_keys:
            raise ValueError("Two classes have neither metric_class_ids nor label_keys: they are told by one number")
        return BinaryHead(1, **{**given, "thresholds": given["thresholds"] or (0.5,)})
    if label_keys and len(label_keys) != n_classes:
        raise ValueError(f"There are {len(label_keys)} label_keys for {n_classes} classes")
    return MultiClassHead(n_classes, **given)


@takes(options_of(ClassHead.__init__, ["label_keys"]))
def multi_label_head(n_classes, **given):
    """A head for classes of which several may hold."""
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    return MultiLabelHead(n_classes, **given)


# What the ready-made classifiers take for their heads, by the parameter of estimators that it follows.
CLASSIFIES = {
    "model_dir": {"n_classes": 2, "weight_column_name": None},
    "gradient_clip_norm": {"enable_centered_bias": False},
}


def class_head(given):
    """The head of a ready-made classifier, by what is taken for it out of the classifier's arguments."""
    names = ("n_classes", "weight_column_name", "enable_centered_bias", "label_keys")
    return multi_class_head(**{name: given.pop(name) for name in names})
