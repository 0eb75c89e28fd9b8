"""Metrics of probabilities at many thresholds at once: areas under curves, precision and recall, sensitivity and
specificity.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.metrics.variables import aligned, collected, metric_variable, named
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope
from everflow.platform import logging

_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
TINY = 1e-7


def counts_at_thresholds(
    labels, predictions, thresholds, weights=None, includes=("tp", "fn", "tn", "fp"), checked=True
):
    """({kind: variable}, {kind: update op}): how many of each kind there are at each threshold.

    `checked`: predictions outside [0, 1] are refused when run.
    """
    for kind in includes:
        if kind not in _NAMES:
            raise ValueError(f"Invalid key: {kind}.")
    if checked:
        predictions, labels, weights = _in_unit_interval(predictions, labels, weights)
    else:
        predictions, labels, weights = aligned(predictions=predictions, labels=labels, weights=weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    number = len(thresholds)
    column = array.reshape(predictions, [-1, 1])
    row = array.reshape(math.cast(labels, dtype=dtypes.bool), [1, -1])
    count = column.shape.size(0)
    if count is None:
        count = array.shape(column)[0]
    tiled_thresholds = array.tile(array.expand_dims(constant(thresholds), [1]), array.stack([1, count]))
    positive = math.greater(array.tile(array.transpose(column), [number, 1]), tiled_thresholds)
    negative = math.logical_not(positive) if "fn" in includes or "tn" in includes else None
    label_positive = array.tile(row, [number, 1])
    label_negative = math.logical_not(label_positive) if "fp" in includes or "tn" in includes else None
    tiled_weights = None
    if weights is not None:
        weights = broadcast_weights(math.cast(weights, dtypes.float32), predictions)
        tiled_weights = array.tile(array.reshape(weights, [1, -1]), [number, 1])
        tiled_thresholds.shape.assert_is_compatible_with(tiled_weights.shape)
    pairs = {
        "tp": (label_positive, positive),
        "fn": (label_positive, negative),
        "tn": (label_negative, negative),
        "fp": (label_negative, positive),
    }
    values, updates = {}, {}
    for kind, (label, prediction) in pairs.items():
        if kind not in includes:
            continue
        variable = metric_variable([number], dtypes.float32, name=_NAMES[kind])
        hits = math.cast(math.logical_and(label, prediction), dtypes.float32)
        if tiled_weights is not None:
            hits *= tiled_weights
        updates[kind] = state.assign_add(variable, math.reduce_sum(hits, 1))
        values[kind] = variable
    return values, updates


def _in_unit_interval(predictions, labels, weights):
    """The three, aligned, once it is known that predictions are probabilities."""
    message = "predictions must be in [0, 1]"
    with control_dependencies(
        [
            check.assert_greater_equal(predictions, math.cast(0.0, dtype=predictions.dtype), message=message),
            check.assert_less_equal(predictions, math.cast(1.0, dtype=predictions.dtype), message=message),
        ]
    ):
        return aligned(
            predictions=math.cast(predictions, dtypes.float32),
            labels=math.cast(labels, dtype=dtypes.bool),
            weights=weights,
        )


def spread_thresholds(number):
    """So many thresholds from just below zero to just above one."""
    inner = [(i + 1) * 1.0 / (number - 1) for i in range(number - 2)]
    return [0.0 - TINY, *inner, 1.0 + TINY]


def auc(
    labels,
    predictions,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
    summation_method="trapezoidal",
    thresholds=None,
):
    """The area under the ROC or precision-recall curve, approximated at many thresholds.

    Args:
        labels: What is right: bools, or 0 and 1.
        predictions: Numbers from 0 to 1.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        num_thresholds: How many thresholds the curve is taken at.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        curve: `ROC` or `PR`.
        name: The name of the scope of its variables.
        summation_method: `trapezoidal`, `careful_interpolation`, `minoring` or `majoring`.
        thresholds: The thresholds; `num_thresholds` of them, evenly spread, if None.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.
        ValueError: If the curve or method isn't known.

    Example:
        >>> auc, update = tf.metrics.auc(tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8]))
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(0.74999976)
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, not {curve!r}")
        if thresholds is not None:
            thresholds = [0.0 - TINY, *sorted(thresholds), 1.0 + TINY]
            num_thresholds = len(thresholds)
        else:
            thresholds = spread_thresholds(num_thresholds)
        counts = counts_at_thresholds(labels, predictions, thresholds, weights)
        last, epsilon = num_thresholds - 1, 1.0e-6

        def area(tp, fn, tn, fp, name):
            if curve == "PR":
                if summation_method == "careful_interpolation":
                    return _interpolated_area(tp, fp, fn, last)
                if summation_method == "trapezoidal":
                    logging.warning(
                        "The area below a PR curve is wrong by the trapezoidal rule: "
                        "use summation_method='careful_interpolation'."
                    )
            rec = math.div(tp + epsilon, tp + fn + epsilon)
            if curve == "ROC":
                x, y = math.div(fp, fp + tn + epsilon), rec
            else:
                x, y = rec, math.div(tp + epsilon, tp + fp + epsilon)
            if summation_method not in _HEIGHTS:
                raise ValueError(f"Invalid summation_method: {summation_method}")
            return math.reduce_sum(
                math.multiply(x[:last] - x[1:], _HEIGHTS[summation_method](y[:last], y[1:])), name=name
            )

        return _of_both(area, counts, metrics_collections, updates_collections)


# The height of a strip below a curve, by those of its two sides.
_HEIGHTS = {
    "trapezoidal": lambda left, right: (left + right) / 2.0,
    "careful_interpolation": lambda left, right: (left + right) / 2.0,
    "minoring": math.minimum,
    "majoring": math.maximum,
}


def _interpolated_area(tp, fp, fn, last):
    """The exact area under the precision-recall curve between its points."""
    dtp = tp[:last] - tp[1:]
    p = tp + fp
    slope = math.div_no_nan(dtp, math.maximum(p[:last] - p[1:], 0), name="prec_slope")
    intercept = tp[1:] - math.multiply(slope, p[1:])
    ratio = array.where(
        math.logical_and(p[:last] > 0, p[1:] > 0),
        math.div_no_nan(p[:last], math.maximum(p[1:], 0), name="recall_relative_ratio"),
        array.ones_like(p[1:]),
    )
    return math.reduce_sum(
        math.div_no_nan(
            slope * (dtp + intercept * math.log(ratio)), math.maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment"
        ),
        name="interpolate_pr_auc",
    )


def _of_both(compute, counts, metrics_collections, updates_collections, name=""):
    """(value, update op) of a function of counts: of what was counted, and of that with this batch."""
    values, updates = counts
    value, update_op = compute(**values, name=f"{name}value"), compute(**updates, name=f"{name}update_op")
    return collected(value, update_op, metrics_collections, updates_collections)


def sensitivity_at_specificity(
    labels,
    predictions,
    specificity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """The share of positives found at the threshold whose specificity is nearest to the one given.

    Args:
        labels: What is right.
        predictions: What was predicted.
        specificity: The share of negatives to be told.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        num_thresholds: How many thresholds the curve is taken at.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.
        ValueError: If the share isn't in [0, 1].

    Example:
        >>> value, update = tf.metrics.sensitivity_at_specificity(tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8]), 0.5)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(1.0)
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        counts = counts_at_thresholds(labels, predictions, spread_thresholds(num_thresholds), weights)

        def compute(tp, tn, fp, fn, name):
            specificities = math.div(tn, tn + fp + TINY)
            index = math.cast(math.argmin(math.abs(specificities - specificity), 0), dtypes.int32)
            return math.div(tp[index], tp[index] + fn[index] + TINY, name)

        return _of_both(compute, counts, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels,
    predictions,
    sensitivity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """The share of negatives told at the last threshold whose sensitivity is nearest to the one given.

    Args:
        labels: What is right.
        predictions: What was predicted.
        sensitivity: The share of positives to be found.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        num_thresholds: How many thresholds the curve is taken at.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.
        ValueError: If the share isn't in [0, 1].

    Example:
        >>> value, update = tf.metrics.specificity_at_sensitivity(tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8]), 0.5)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(1.0)
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        # Here the last threshold is just below one, not above.
        thresholds = [*spread_thresholds(num_thresholds)[:-1], 1.0 - TINY]
        counts = counts_at_thresholds(labels, predictions, thresholds, weights)

        def compute(tp, tn, fp, fn, name):
            sensitivities = math.div(tp, tp + fn + TINY)
            # The last of equals: the running count of minima is largest from there on.
            nearest = math.reduce_min(math.abs(sensitivities - sensitivity))
            at = math.cast(math.equal(math.abs(sensitivities - sensitivity), nearest), dtypes.int64)
            index = math.cast(math.argmax(math.cumsum(at), 0), dtypes.int32)
            return math.div(tn[index], tn[index] + fp[index] + TINY, name)

        return _of_both(compute, counts, metrics_collections, updates_collections)


def _share_at_thresholds(word, other, doc):
    scope = f"{word}_at_thresholds"

    def share(tp, name, **others):
        return math.div(tp, TINY + tp + others[other], name=name)

    @named(scope, doc)
    def metric(
        labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
    ):
        with variable_scope(name, scope, (predictions, labels, weights)):
            counts = counts_at_thresholds(labels, predictions, thresholds, weights, includes=("tp", other))
            return _of_both(share, counts, metrics_collections, updates_collections, f"{word}_")

    return metric


precision_at_thresholds = _share_at_thresholds(
    "precision",
    "fp",
    """The share of positive predictions that are right, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.precision_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([0.6666667, 0.5      ], dtype=float32)
    """,
)
recall_at_thresholds = _share_at_thresholds(
    "recall",
    "fn",
    """The share of positive labels that are found, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.recall_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([1. , 0.5], dtype=float32)
    """,
)


def _count_at_thresholds(kind, doc):
    @named(f"{_NAMES[kind]}_at_thresholds", doc)
    def metric(
        labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
    ):
        with variable_scope(name, _NAMES[kind], (predictions, labels, weights)):
            values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, includes=(kind,))
            return collected(array.identity(values[kind]), updates[kind], metrics_collections, updates_collections)

    return metric


true_positives_at_thresholds = _count_at_thresholds(
    "tp",
    """How often label and prediction are both true, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.true_positives_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([2., 1.], dtype=float32)
    """,
)
true_negatives_at_thresholds = _count_at_thresholds(
    "tn",
    """How often label and prediction are both false, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.true_negatives_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([1., 1.], dtype=float32)
    """,
)
false_positives_at_thresholds = _count_at_thresholds(
    "fp",
    """How often a prediction is true and its label false, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.false_positives_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([1., 1.], dtype=float32)
    """,
)
false_negatives_at_thresholds = _count_at_thresholds(
    "fn",
    """How often a prediction is false and its label true, at each threshold.

    Args:
        labels: What is right.
        predictions: What was predicted.
        thresholds: Above which predictions count as positive, in a list.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the values so far, and an operation that takes in a batch and gives the new values.

    Example:
        >>> labels, predictions = tf.constant([True, True, False, False]), tf.constant([0.9, 0.4, 0.6, 0.1])
        >>> values, update = tf.metrics.false_negatives_at_thresholds(labels, predictions, [0.3, 0.5])
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(values)
        array([0., 1.], dtype=float32)
    """,
)
