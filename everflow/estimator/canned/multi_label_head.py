"""The head for several classes of which any number may hold at once."""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import all_classes, check_label_vocabulary, checked_thresholds
from everflow.estimator.canned.head import CLASSIFY_SERVING_KEY, Head
from everflow.estimator.canned.head_inputs import NO_LABELS, checked_labels, checked_logits, checked_range
from everflow.estimator.canned.head_metrics import area, at_threshold, regularization, weighted_mean
from everflow.estimator.canned.keys import MetricKeys, PredictionKeys
from everflow.estimator.export.outputs import ClassificationOutput
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.losses import Reduction, sigmoid_cross_entropy
from everflow.metrics import auc, mean
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.slicing import slice_
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.checks import values as check
from everflow.ops.lookup.static import index_table_from_tensor
from everflow.ops.sparse.functions import sparse_to_indicator


class MultiLabelHead(Head):
    """Tells for each of `n_classes` classes whether it holds. Labels are indicators, or sparse classes or names."""

    def __init__(
        self,
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_reduction,
        loss_fn,
        classes_for_class_based_metrics,
        name,
    ):
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        self._thresholds = checked_thresholds(thresholds)
        check_label_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(label_vocabulary)}"
            )
        super().__init__(loss_reduction, name, weight_column, loss_fn)
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary
        self._classes_for_metrics = chosen_classes(classes_for_class_based_metrics, n_classes, label_vocabulary)

    logits_dimension = property(lambda self: self._n_classes)

    def _processed_labels(self, labels, logits):
        return checked_labels(indicators(labels, self._n_classes, self._label_vocabulary), logits, self._n_classes)

    def _losses(self, labels, logits):
        of_classes = sigmoid_cross_entropy(multi_class_labels=labels, logits=logits, reduction=Reduction.NONE)
        return math.reduce_mean(of_classes, axis=-1, keepdims=True)

    def _predictions(self, logits):
        logits = checked_logits(logits, self._n_classes)
        with name_scope(None, "predictions", (logits,)):
            probabilities = math.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
        return logits, {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities}

    def _metrics(self, predictions, loss, labels, regularization_loss):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        labels, weights = loss.processed_labels, loss.weights
        with name_scope(None, "metrics", (labels, probabilities, weights, loss.unreduced_loss, regularization_loss)):
            metrics = {
                MetricKeys.LOSS_MEAN: mean(values=loss.unreduced_loss, weights=weights, name=MetricKeys.LOSS_MEAN),
                MetricKeys.AUC: auc(labels=labels, predictions=probabilities, weights=weights, name=MetricKeys.AUC),
                MetricKeys.AUC_PR: auc(
                    labels=labels, predictions=probabilities, weights=weights, curve="PR", name=MetricKeys.AUC_PR
                ),
                **regularization(regularization_loss),
            }
            for threshold in self._thresholds:
                metrics.update(at_threshold(labels, probabilities, weights, threshold))
            for class_id in self._classes_for_metrics:
                metrics.update(self._class_metrics(class_id, labels, probabilities, weights))
        return metrics

    def _class_metrics(self, class_id, labels, probabilities, weights):
        """Metrics of one class."""
        begin, size = column_range(probabilities, class_id)
        probabilities, labels = slice_(probabilities, begin, size), slice_(labels, begin, size)
        mean_key, auc_key, pr_key = self._class_keys(class_id)
        return {
            mean_key: weighted_mean(probabilities, weights, mean_key),
            auc_key: area(labels, probabilities, weights, "ROC", auc_key),
            pr_key: area(labels, probabilities, weights, "PR", pr_key),
        }

    def _class_keys(self, class_id):
        """The keys of a class's mean probability and areas, by its name where it has one."""
        if self._label_vocabulary is None:
            keys = MetricKeys.PROBABILITY_MEAN_AT_CLASS, MetricKeys.AUC_AT_CLASS, MetricKeys.AUC_PR_AT_CLASS
            return [key % class_id for key in keys]
        keys = MetricKeys.PROBABILITY_MEAN_AT_NAME, MetricKeys.AUC_AT_NAME, MetricKeys.AUC_PR_AT_NAME
        return [key % self._label_vocabulary[class_id] for key in keys]

    def _outputs(self, predictions):
        scores = predictions[PredictionKeys.PROBABILITIES]
        output = ClassificationOutput(
            scores=scores, classes=all_classes(scores, self._n_classes, self._label_vocabulary)
        )
        return output, {CLASSIFY_SERVING_KEY: output}


def column_range(tensor, class_id):
    """Where what a tensor holds for one class begins, and its size."""
    rank = array.rank(tensor) - 1
    begin = array.concat([array.zeros([rank], dtype=dtypes.int32), [class_id]], axis=0)
    return begin, array.concat([-1 * array.ones([rank], dtype=dtypes.int32), [1]], axis=0)


def column(tensor, class_id):
    """What a tensor holds for one class."""
    return slice_(tensor, *column_range(tensor, class_id))


def chosen_classes(classes, n_classes, label_vocabulary):
    """The numbers of the classes that get metrics of their own, given by number or name."""
    chosen = []
    for value in classes or ():
        if isinstance(value, str):
            if not label_vocabulary or value not in label_vocabulary:
                raise ValueError(
                    f"Invalid class for class-based metrics: {value!r} is not in label_vocabulary {label_vocabulary}."
                )
            value = list(label_vocabulary).index(value)
        if not 0 <= value < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. Given: {value}"
            )
        chosen.append(value)
    return chosen


def indicators(labels, n_classes, label_vocabulary):
    """Labels as a dense tensor of zeros and ones."""
    if labels is None:
        raise ValueError(NO_LABELS)
    if isinstance(labels, SparseTensor):
        if labels.dtype == dtypes.string:
            table = index_table_from_tensor(vocabulary_list=tuple(label_vocabulary), name="class_id_lookup")
            ids = SparseTensor(
                indices=labels.indices, values=table.lookup(labels.values), dense_shape=labels.dense_shape
            )
            return math.to_int64(sparse_to_indicator(ids, n_classes))
        message = f"labels must be an integer SparseTensor with values in [0, {n_classes})"
        checks = [
            check_shapes.assert_integer(labels.values, message=message),
            check.assert_less(labels.values, constant(n_classes, dtype=labels.dtype), message=message),
            check.assert_non_negative(labels.values, message=message),
        ]
        with control_dependencies(checks):
            return math.to_int64(sparse_to_indicator(labels, n_classes))
    return checked_range(
        labels, n_classes=2, message="labels must be an integer indicator Tensor with values in [0, 1]"
    )
