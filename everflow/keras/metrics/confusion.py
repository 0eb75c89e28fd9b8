"""Metrics that count true and false, positive and negative predictions at thresholds."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.keras import backend as K
from everflow.keras.engine import base_layer
from everflow.keras.loss_reduction import squeeze_or_expand_dimensions
from everflow.keras.metrics.metric import Metric
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks.values import assert_greater_equal, assert_less_equal
from everflow.ops.control_flow.grouping import group
from everflow.ops.math.confusion_matrix import confusion_matrix
from everflow.ops.nn.top_k import top_k as _top_k
from everflow.ops.nn.weights import broadcast_weights

# Below every prediction: the threshold where only the k best predictions count, and what the others become.
_NEGATIVE_INFINITY = -1e10


def as_list(thresholds):
    """One threshold or several, as a list."""
    return list(thresholds) if isinstance(thresholds, (list, tuple, np.ndarray)) else [thresholds]


def check_thresholds(thresholds):
    """ValueError for thresholds outside [0, 1]."""
    if thresholds is not None:
        invalid = [t for t in thresholds if t is None or t < 0 or t > 1]
        if invalid:
            raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {invalid}")


def _thresholds_or(thresholds, default):
    if thresholds is not None:
        check_thresholds(as_list(thresholds))
    return as_list(default if thresholds is None else thresholds)


def _only_top_k(x, k):
    """All but the k largest values of each row become a very small one."""
    _, places = _top_k(x, k, sorted=False)
    mask = math.reduce_sum(array.one_hot(places, x.shape[-1], axis=-1), axis=-2)
    return x * mask + _NEGATIVE_INFINITY * (1 - mask)


def _cells(wanted, actual, predicted):
    """{cell of the confusion matrix: (labels, predictions) that are both true there}, with no more negations than wanted."""
    cells = {"true_positives": (actual, predicted)}
    if "false_negatives" in wanted or "true_negatives" in wanted:
        not_predicted = math.logical_not(predicted)
        cells["false_negatives"] = (actual, not_predicted)
    if "false_positives" in wanted or "true_negatives" in wanted:
        not_actual = math.logical_not(actual)
        cells["false_positives"] = (not_actual, predicted)
        if "true_negatives" in wanted:
            cells["true_negatives"] = (not_actual, not_predicted)
    return cells


def update_confusion_matrix_variables(
    counts, y_true, y_pred, thresholds, top_k=None, class_id=None, sample_weight=None
):
    """An op that adds a batch to variables: {"true_positives": variable with an element for each threshold, …}."""
    some = next(iter(counts.values()))
    y_true = math.cast(y_true, some.dtype)
    y_pred = math.cast(y_pred, some.dtype)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    with control_dependencies(
        [
            assert_greater_equal(y_pred, math.cast(0.0, dtype=y_pred.dtype), message="predictions must be >= 0"),
            assert_less_equal(y_pred, math.cast(1.0, dtype=y_pred.dtype), message="predictions must be <= 1"),
        ]
    ):
        if sample_weight is None:
            y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        else:
            y_pred, y_true, sample_weight = squeeze_or_expand_dimensions(
                y_pred, y_true, convert_to_tensor(sample_weight, dtype=None)
            )
    if top_k is not None:
        y_pred = _only_top_k(y_pred, top_k)
    if class_id is not None:
        y_true = y_true[..., class_id]
        y_pred = y_pred[..., class_id]
    thresholds = as_list(thresholds)
    # Everything becomes a matrix: a row for each threshold, a column for each prediction.
    rows, columns = len(thresholds), array.size(y_pred)
    predictions = array.reshape(y_pred, [1, -1])
    labels = array.reshape(math.cast(y_true, dtype=dtypes.bool), [1, -1])
    wide_thresholds = array.tile(array.expand_dims(constant(thresholds), 1), array.stack([1, columns]))
    predicted = math.greater(array.tile(predictions, [rows, 1]), wide_thresholds)
    actual = array.tile(labels, [rows, 1])
    weights = None
    if sample_weight is not None:
        weights = broadcast_weights(math.cast(sample_weight, dtype=some.dtype), y_pred)
        weights = array.tile(array.reshape(weights, [1, -1]), [rows, 1])
    updates = []
    for name, (label, prediction) in _cells(counts, actual, predicted).items():
        if name in counts:
            both = math.cast(math.logical_and(label, prediction), dtype=counts[name].dtype)
            if weights is not None:
                both *= weights
            updates.append(counts[name].assign_add(math.reduce_sum(both, 1)))
    return group(updates)


class _Counts(Metric):
    """Base of metrics on counts at thresholds."""

    def _add_counts(self, *names):
        """Make a variable for each of these cells of the confusion matrix."""
        self._count_names = names
        for name in names:
            setattr(self, name, self.add_weight(name, shape=(len(self.thresholds),), initializer="zeros"))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch of labels and probabilities."""
        counts = {name: getattr(self, name) for name in self._count_names}
        chosen = {name: getattr(self, name, None) for name in ("thresholds", "top_k", "class_id")}
        return update_confusion_matrix_variables(counts, y_true, y_pred, **chosen, sample_weight=sample_weight)

    def reset_states(self):
        K.batch_set_value([(v, np.zeros((len(self.thresholds),))) for v in self.variables])

    def _one_or_all(self, result):
        return result[0] if len(self.thresholds) == 1 else result


class _ConfusionMatrixConditionCount(_Counts):
    """One cell of the confusion matrix."""

    _counted = ""

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = _thresholds_or(thresholds, 0.5)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        return update_confusion_matrix_variables(
            {self._counted: self.accumulator}, y_true, y_pred, thresholds=self.thresholds, sample_weight=sample_weight
        )

    def result(self):
        return convert_to_tensor(self._one_or_all(self.accumulator))

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


def _cell(name, doc):
    counted = base_layer.snake_case(name)
    members = {"_counted": counted, "__doc__": doc, "__module__": __name__}
    return type(name, (_ConfusionMatrixConditionCount,), members)


FalsePositives = _cell(
    "FalsePositives",
    """How many predictions are above the threshold though the label is 0.

Args:
    thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
    name: The name it has in logs.
    dtype: The type in which it is counted.

Example:
    >>> metric = tf.keras.metrics.FalsePositives()
    >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
    >>> _ = sess.run([v.initializer for v in metric.variables])
    >>> _ = sess.run(update)
    >>> sess.run(metric.result())
    np.float32(1.0)
""",
)
FalseNegatives = _cell(
    "FalseNegatives",
    """How many predictions are below the threshold though the label is 1.

Args:
    thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
    name: The name it has in logs.
    dtype: The type in which it is counted.

Example:
    >>> metric = tf.keras.metrics.FalseNegatives()
    >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
    >>> _ = sess.run([v.initializer for v in metric.variables])
    >>> _ = sess.run(update)
    >>> sess.run(metric.result())
    np.float32(1.0)
""",
)
TrueNegatives = _cell(
    "TrueNegatives",
    """How many predictions are rightly below the threshold.

Args:
    thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
    name: The name it has in logs.
    dtype: The type in which it is counted.

Example:
    >>> metric = tf.keras.metrics.TrueNegatives()
    >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
    >>> _ = sess.run([v.initializer for v in metric.variables])
    >>> _ = sess.run(update)
    >>> sess.run(metric.result())
    np.float32(0.0)
""",
)
TruePositives = _cell(
    "TruePositives",
    """How many predictions are rightly above the threshold.

Args:
    thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
    name: The name it has in logs.
    dtype: The type in which it is counted.

Example:
    >>> metric = tf.keras.metrics.TruePositives()
    >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
    >>> _ = sess.run([v.initializer for v in metric.variables])
    >>> _ = sess.run(update)
    >>> sess.run(metric.result())
    np.float32(2.0)
""",
)


class _Share(_Counts):
    """What Precision and Recall have in common: true positives over these and something else."""

    _others = ""

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = _thresholds_or(thresholds, 0.5 if top_k is None else _NEGATIVE_INFINITY)
        self._add_counts("true_positives", self._others)

    def result(self):
        return self._one_or_all(math.div_no_nan(self.true_positives, self.true_positives + getattr(self, self._others)))

    def get_config(self):
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


class Precision(_Share):
    """How many of the positive predictions are right.

    Args:
        thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
        top_k: Look only at the k highest predictions; all of them if None.
        class_id: Look only at this class; all of them if None.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.Precision()
        >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.6666667)
    """

    _others = "false_positives"


class Recall(_Share):
    """How many of the positive labels are found.

    Args:
        thresholds: Above which predictions count as positive: a number, or a list; 0.5 if None.
        top_k: Look only at the k highest predictions; all of them if None.
        class_id: Look only at this class; all of them if None.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.Recall()
        >>> update = metric.update_state([0.0, 1.0, 1.0, 1.0], [0.9, 0.8, 0.7, 0.1])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.6666667)
    """

    _others = "false_negatives"


class SensitivitySpecificityBase(_Counts):
    """Base of metrics that look for the threshold where one share comes close to a wanted value."""

    # What the value is called; of which share, and at which threshold of another, each a pair (counted, others).
    _argument, _of, _at = "value", (), ()

    def __init__(self, value, num_thresholds=200, name=None, dtype=None):
        if not 0 <= value <= 1:
            raise ValueError(f"`{self._argument}` must be in the range [0, 1], not {value}.")
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        between = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0, *between, 1.0]
        self.num_thresholds = num_thresholds
        self._add_counts("true_positives", "true_negatives", "false_positives", "false_negatives")

    def _shares(self, names):
        """One count over it and another, at each threshold."""
        one, other = (getattr(self, name) for name in names)
        return math.div_no_nan(one, one + other)

    def result(self):
        at = math.cast(math.argmin(math.abs(self._shares(self._at) - self.value), axis=0), dtypes.int32)
        one, other = (getattr(self, name) for name in self._of)
        return math.div_no_nan(one[at], one[at] + other[at])

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds, self._argument: self.value}


_SENSITIVITY, _SPECIFICITY = ("true_positives", "false_negatives"), ("true_negatives", "false_positives")


class SensitivityAtSpecificity(SensitivitySpecificityBase):
    """The sensitivity at the threshold where the specificity is closest to a value.

    Args:
        specificity: The share of negatives to be told.
        num_thresholds: How many thresholds the curve is taken at.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.SensitivityAtSpecificity(0.5)
        >>> update = metric.update_state([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.3, 0.9])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(1.0)
    """

    _argument, _of, _at = "specificity", _SENSITIVITY, _SPECIFICITY

    def __init__(self, specificity, num_thresholds=200, name=None, dtype=None):
        self.specificity = specificity
        super().__init__(specificity, num_thresholds=num_thresholds, name=name, dtype=dtype)


class SpecificityAtSensitivity(SensitivitySpecificityBase):
    """The specificity at the threshold where the sensitivity is closest to a value.

    Args:
        sensitivity: The share of positives to be found.
        num_thresholds: How many thresholds the curve is taken at.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.SpecificityAtSensitivity(0.5)
        >>> update = metric.update_state([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.3, 0.9])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.5)
    """

    _argument, _of, _at = "sensitivity", _SPECIFICITY, _SENSITIVITY

    def __init__(self, sensitivity, num_thresholds=200, name=None, dtype=None):
        self.sensitivity = sensitivity
        super().__init__(sensitivity, num_thresholds=num_thresholds, name=name, dtype=dtype)


def _in_a_row(x):
    return array.reshape(x, [-1]) if x.shape.ndims > 1 else x


class MeanIoU(Metric):
    """The mean over classes of intersection over union.

    Args:
        num_classes: How many classes there are.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.MeanIoU(num_classes=2)
        >>> update = metric.update_state([0, 0, 1, 1], [0, 1, 0, 1])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.33333334)
    """

    def __init__(self, num_classes, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros", dtype=dtypes.float64
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch of numbers of classes."""
        y_true = math.cast(y_true, self._dtype)
        y_pred = math.cast(y_pred, self._dtype)
        y_pred, y_true = _in_a_row(y_pred), _in_a_row(y_true)
        if sample_weight is not None:
            sample_weight = _in_a_row(math.cast(sample_weight, self._dtype))
        current = confusion_matrix(y_true, y_pred, self.num_classes, weights=sample_weight, dtype=dtypes.float64)
        return self.total_cm.assign_add(current)

    def result(self):
        predicted = math.cast(math.reduce_sum(self.total_cm, axis=0), dtype=self._dtype)
        actual = math.cast(math.reduce_sum(self.total_cm, axis=1), dtype=self._dtype)
        both = math.cast(array.diag_part(self.total_cm), dtype=self._dtype)
        union = predicted + actual - both
        # Classes that were neither seen nor predicted don't count.
        seen = math.reduce_sum(math.cast(math.not_equal(union, 0), dtype=self._dtype))
        return math.div_no_nan(math.reduce_sum(math.div_no_nan(both, union), name="mean_iou"), seen)

    def reset_states(self):
        K.set_value(self.total_cm, np.zeros((self.num_classes, self.num_classes)))

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}
