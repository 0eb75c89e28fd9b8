"""Heads for classes: two of them told from one logit, or several from a logit each."""

from __future__ import annotations

from everflow.estimator.canned.head import CLASSIFY_SERVING_KEY, REGRESS_SERVING_KEY, Head
from everflow.estimator.canned.head_inputs import checked_labels, checked_logits, checked_range
from everflow.estimator.canned.head_metrics import accuracy_baseline, area, at_threshold, regularization, weighted_mean
from everflow.estimator.canned.keys import MetricKeys, PredictionKeys
from everflow.estimator.export.outputs import ClassificationOutput, RegressionOutput
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.losses import Reduction, sparse_softmax_cross_entropy
from everflow.metrics import accuracy, mean, precision, recall
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.lookup.static import index_table_from_tensor, index_to_string_table_from_tensor
from everflow.ops.nn.activations import softmax
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits
from everflow.ops.strings.text import as_string


def check_label_vocabulary(label_vocabulary):
    """TypeError for something else than a list."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise TypeError(f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}")


def checked_thresholds(thresholds):
    """The thresholds that metrics are counted at, as a tuple."""
    for threshold in thresholds or ():
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds are probabilities, in (0, 1), and {threshold} is none of them.")
    return tuple(thresholds or ())


def check_n_classes(n_classes):
    """ValueError for fewer than three classes; the graph that a head is made in asserts it as well."""
    if n_classes is None:
        raise ValueError("n_classes cannot be None")
    if n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    with control_dependencies(
        [check.assert_greater(constant(n_classes), 2, message="n_classes must be greater than 2")]
    ):
        no_op()


def all_class_ids(logits, n_classes):
    """The numbers of all classes, for each example."""
    batch_size = array.shape(logits)[0]
    return array.tile(array.expand_dims(math.range(n_classes), axis=0), [batch_size, 1])


def all_classes(scores, n_classes, label_vocabulary=None):
    """The names of all classes, for each example."""
    batch_size = array.shape(scores)[0]
    names = label_vocabulary if label_vocabulary else as_string(math.range(n_classes))
    return array.tile(array.expand_dims(names, axis=0), [batch_size, 1])


def class_names(class_ids, label_vocabulary):
    """The names of classes."""
    if not label_vocabulary:
        return as_string(class_ids, name="str_classes")
    return index_to_string_table_from_tensor(vocabulary_list=label_vocabulary, name="class_string_lookup").lookup(
        class_ids
    )


def label_ids(labels, label_vocabulary):
    """The numbers of classes that labels name."""
    if labels.dtype != dtypes.string:
        raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
    return index_table_from_tensor(vocabulary_list=tuple(label_vocabulary), name="class_id_lookup").lookup(labels)


def _by_key(probabilities, class_ids, classes, all_class_ids, all_classes):
    keys = PredictionKeys
    told = {keys.PROBABILITIES: probabilities, keys.CLASS_IDS: class_ids, keys.CLASSES: classes}
    return {**told, keys.ALL_CLASS_IDS: all_class_ids, keys.ALL_CLASSES: all_classes}


class _ClassificationHead(Head):
    """What both kinds share."""

    def __init__(self, n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn=None, name=None):
        check_label_vocabulary(label_vocabulary)
        super().__init__(loss_reduction, name, weight_column, loss_fn)
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary

    def _classification_output(self, predictions):
        scores = predictions[PredictionKeys.PROBABILITIES]
        return ClassificationOutput(scores=scores, classes=all_classes(scores, self._n_classes, self._label_vocabulary))


class MultiClassHead(_ClassificationHead):
    """Tells one of `n_classes` classes, by a logit each."""

    def __init__(self, n_classes, *settings, **named_settings):
        check_n_classes(n_classes)
        super().__init__(n_classes, *settings, **named_settings)

    logits_dimension = property(lambda self: self._n_classes)

    def _processed_labels(self, labels, logits):
        labels = checked_labels(labels, logits, expected_dimension=1)
        if self._label_vocabulary is not None:
            labels = label_ids(labels, self._label_vocabulary)
        elif not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return checked_range(labels, self._n_classes)

    def _losses(self, labels, logits):
        # Labels have a last dimension of 1, which the loss leaves out.
        losses = sparse_softmax_cross_entropy(labels=labels, logits=logits, reduction=Reduction.NONE)
        return array.expand_dims(losses, axis=-1)

    def _predictions(self, logits):
        logits = checked_logits(logits, self._n_classes)
        with name_scope(None, "predictions", (logits,)):
            ids = all_class_ids(logits, self._n_classes)
            classes = all_classes(logits, self._n_classes, self._label_vocabulary)
            told = array.expand_dims(math.argmax(logits, axis=-1, name="class_ids"), axis=-1)
            names = class_names(told, self._label_vocabulary)
            probabilities = softmax(logits, name="probabilities")
        return logits, {PredictionKeys.LOGITS: logits, **_by_key(probabilities, told, names, ids, classes)}

    def _metrics(self, predictions, loss, labels, regularization_loss):
        told, labels = predictions[PredictionKeys.CLASS_IDS], loss.processed_labels
        with name_scope(None, "metrics", (told, labels, loss.weights, loss.unreduced_loss, regularization_loss)):
            means = mean(values=loss.unreduced_loss, weights=loss.weights, name=MetricKeys.LOSS_MEAN)
            right = accuracy(labels=labels, predictions=told, weights=loss.weights, name=MetricKeys.ACCURACY)
            more = regularization(regularization_loss)
            return {MetricKeys.LOSS_MEAN: means, MetricKeys.ACCURACY: right, **more}

    def _outputs(self, predictions):
        output = self._classification_output(predictions)
        return output, {CLASSIFY_SERVING_KEY: output}


class BinaryHead(_ClassificationHead):
    """Tells whether something is so, by one logit."""

    def __init__(self, weight_column, thresholds, *settings, **named_settings):
        self._thresholds = checked_thresholds(thresholds)
        super().__init__(2, weight_column, *settings, **named_settings)

    logits_dimension = property(lambda self: 1)

    def _processed_labels(self, labels, logits):
        labels = checked_labels(labels, logits, expected_dimension=1)
        if self._label_vocabulary is not None:
            labels = label_ids(labels, self._label_vocabulary)
        return checked_range(math.to_float(labels), n_classes=2)

    def _losses(self, labels, logits):
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            logits = checked_logits(logits, 1)
            logistic = math.sigmoid(logits, name=PredictionKeys.LOGISTIC)
            two_class_logits = array.concat((array.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = softmax(two_class_logits, name=PredictionKeys.PROBABILITIES)
            told = array.expand_dims(math.argmax(two_class_logits, axis=-1, name=PredictionKeys.CLASS_IDS), axis=-1)
            ids = all_class_ids(logits, 2)
            classes = all_classes(logits, 2, self._label_vocabulary)
            names = class_names(told, self._label_vocabulary)
        both = {PredictionKeys.LOGITS: logits, PredictionKeys.LOGISTIC: logistic}
        return logits, {**both, **_by_key(probabilities, told, names, ids, classes)}

    def _metrics(self, predictions, loss, labels, regularization_loss):
        logistic, told = predictions[PredictionKeys.LOGISTIC], predictions[PredictionKeys.CLASS_IDS]
        labels, weights = loss.processed_labels, loss.weights
        with name_scope(None, "metrics", (labels, logistic, told, weights, loss.unreduced_loss, regularization_loss)):
            labels_mean = weighted_mean(labels, weights, MetricKeys.LABEL_MEAN)
            metrics = {
                MetricKeys.LOSS_MEAN: mean(values=loss.unreduced_loss, weights=weights, name=MetricKeys.LOSS_MEAN),
                MetricKeys.ACCURACY: accuracy(
                    labels=labels, predictions=told, weights=weights, name=MetricKeys.ACCURACY
                ),
                MetricKeys.PRECISION: precision(
                    labels=labels, predictions=told, weights=weights, name=MetricKeys.PRECISION
                ),
                MetricKeys.RECALL: recall(labels=labels, predictions=told, weights=weights, name=MetricKeys.RECALL),
                MetricKeys.PREDICTION_MEAN: weighted_mean(logistic, weights, MetricKeys.PREDICTION_MEAN),
                MetricKeys.LABEL_MEAN: labels_mean,
                MetricKeys.ACCURACY_BASELINE: accuracy_baseline(labels_mean),
                MetricKeys.AUC: area(labels, logistic, weights, "ROC", MetricKeys.AUC),
                MetricKeys.AUC_PR: area(labels, logistic, weights, "PR", MetricKeys.AUC_PR),
                **regularization(regularization_loss),
            }
            for threshold in self._thresholds:
                metrics.update(at_threshold(labels, logistic, weights, threshold))
        return metrics

    def _outputs(self, predictions):
        output = self._classification_output(predictions)
        return output, {
            CLASSIFY_SERVING_KEY: output,
            REGRESS_SERVING_KEY: RegressionOutput(value=predictions[PredictionKeys.LOGISTIC]),
        }


def binary_or_multi_class_head(n_classes, weight_column=None, label_vocabulary=None, loss_reduction=Reduction.SUM):
    """The head of a canned classifier."""
    if n_classes == 2:
        return BinaryHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
