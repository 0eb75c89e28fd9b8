"""Streaming statistics that tf.metrics doesn't have: covariance, correlation, Cohen's kappa, F1, and all values joined."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.metrics.thresholds import TINY, counts_at_thresholds, spread_thresholds
from everflow.metrics.variables import aligned, collected, metric_variable
from everflow.ops import array, math
from everflow.ops.control_flow import cond, no_op
from everflow.ops.math.confusion_matrix import confusion_matrix, remove_squeezable_dimensions
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope


def streaming_covariance(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The unbiased sample covariance of predictions and labels, updated batch by batch without loss of precision."""
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        count = metric_variable([], dtypes.float32, name="count")
        mean_prediction = metric_variable([], dtypes.float32, name="mean_prediction")
        mean_label = metric_variable([], dtypes.float32, name="mean_label")
        comoment = metric_variable([], dtypes.float32, name="comoment")
        if weights is None:
            batch = math.cast(array.size(labels), dtypes.float32)
            weighted_predictions, weighted_labels = predictions, labels
        else:
            weights = broadcast_weights(weights, labels)
            batch = math.reduce_sum(weights)
            weighted_predictions = math.multiply(predictions, weights)
            weighted_labels = math.multiply(labels, weights)
        update_count = state.assign_add(count, batch)
        before = update_count - batch

        def moved(mean, weighted):
            """(mean of this batch, running mean before it)."""
            batch_mean = math.div_no_nan(math.reduce_sum(weighted), batch)
            step = math.div_no_nan((batch_mean - mean) * batch, update_count)
            updated = state.assign_add(mean, step)
            return batch_mean, updated - step

        batch_prediction, previous_prediction = moved(mean_prediction, weighted_predictions)
        batch_label, previous_label = moved(mean_label, weighted_labels)
        products = (predictions - batch_prediction) * (labels - batch_label)
        if weights is not None:
            products = products * weights
        delta = math.reduce_sum(products) + (previous_prediction - batch_prediction) * (
            previous_label - batch_label
        ) * (before * batch / update_count)
        update_comoment = state.assign_add(comoment, delta)
        value = array.where(
            math.less_equal(count, 1.0), float("nan"), math.truediv(comoment, count - 1), name="covariance"
        )
        with control_dependencies([update_comoment]):
            update_op = array.where(
                math.less_equal(count, 1.0), float("nan"), math.truediv(comoment, count - 1), name="update_op"
            )
        return collected(value, update_op, metrics_collections, updates_collections)


def streaming_pearson_correlation(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """Pearson's correlation of predictions and labels."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        # Spread once here, so that no covariance does it again.
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        covariance, update_covariance = streaming_covariance(predictions, labels, weights, name="covariance")
        variance, update_variance = streaming_covariance(predictions, predictions, weights, name="variance_predictions")
        label_variance, update_label_variance = streaming_covariance(labels, labels, weights, name="variance_labels")
        deviations = math.multiply(math.sqrt(variance), math.sqrt(label_variance))
        value = math.truediv(covariance, deviations, name="pearson_r")
        deviations = math.multiply(math.sqrt(update_variance), math.sqrt(update_label_variance))
        update_op = math.truediv(update_covariance, deviations, name="update_op")
        return collected(value, update_op, metrics_collections, updates_collections)


def cohen_kappa(
    labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """Cohen's kappa: how much predictions agree with labels beyond what chance would give."""
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels, predictions_idx = remove_squeezable_dimensions(labels, predictions_idx, expected_rank_diff=0)
        predictions_idx.shape.assert_is_compatible_with(labels.shape)
        stat_dtype = dtypes.int64 if weights is None or weights.dtype.is_integer else dtypes.float32
        agreed = metric_variable([num_classes], stat_dtype, name="po")
        by_prediction = metric_variable([num_classes], stat_dtype, name="pe_row")
        by_label = metric_variable([num_classes], stat_dtype, name="pe_col")
        settings = {"weights": weights, "dtype": stat_dtype, "name": "counts_in_table"}
        table = confusion_matrix(labels, predictions_idx, num_classes=num_classes, **settings)
        diagonal = array.diag_part(table)
        rows = math.reduce_sum(table, axis=0)
        columns = math.reduce_sum(table, axis=1)
        counted = ((agreed, diagonal), (by_prediction, rows), (by_label, columns))
        updates = [state.assign_add(total, value) for total, value in counted]

        def kappa(agreed, by_prediction, by_label, name):
            observed = math.reduce_sum(agreed)
            total = math.reduce_sum(by_prediction)
            counted = math.cast(by_prediction * by_label, dtypes.float64)
            expected = math.reduce_sum(math.div_no_nan(counted, math.cast(total, dtypes.float64)))
            observed, total = math.cast(observed, dtypes.float64), math.cast(total, dtypes.float64)
            return math.div_no_nan(observed - expected, total - expected, name=name)

        value = kappa(agreed, by_prediction, by_label, "value")
        update_op = kappa(*updates, "update_op")
        return collected(value, update_op, metrics_collections, updates_collections)


def f1_score(
    labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None, name=None
):
    """The best F1 score over many thresholds."""
    with variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        given = spread_thresholds(num_thresholds), weights, ("tp", "fp", "fn")
        values, updates = counts_at_thresholds(labels, predictions, *given)

        def best(tp, fn, fp, name):
            precision = math.div(tp, TINY + tp + fp, name=f"precision_{name}")
            recall = math.div(tp, TINY + tp + fn, name=f"recall_{name}")
            return math.reduce_max(2.0 * precision * recall / (precision + recall + TINY))

        value = best(values["tp"], values["fn"], values["fp"], "value")
        update_op = best(updates["tp"], updates["fn"], updates["fp"], "update")
        return collected(value, update_op, metrics_collections, updates_collections)


def _next_size(required, growth=1.5):
    """The size to grow to, so that growing costs little on the whole."""
    exponent = math.ceil(math.log(math.cast(required, dtypes.float32)) / math.log(math.cast(growth, dtypes.float32)))
    return math.cast(math.ceil(growth**exponent), dtypes.int32)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """All values so far, joined along an axis; at most `max_size` of them."""
    with variable_scope(name, "streaming_concat", (values,)):
        values = convert_to_tensor(values)
        rank = values.shape.rank
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        fixed = [values.shape.size(i) for i in range(rank) if i != axis]
        if any(size is None for size in fixed):
            raise ValueError(f"Sizes but that along axis {axis} must be known; `values` have the shape {values.shape}")
        held = metric_variable([max_size or 0, *fixed], values.dtype, validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        # Kept along the first dimension; the axis goes back to its place when the value is read.
        valid = held[:size]
        valid.set_shape([None, *fixed])
        value = array.transpose(valid, [*range(1, axis + 1), 0, *range(axis + 1, rank)], name="concat")
        batch = array.shape(values)[axis]
        if max_size is not None:
            batch = math.minimum(batch, max_size - size)
        batch_values = array.transpose(values, [axis, *(i for i in range(rank) if i != axis)])[:batch]

        def reallocate():
            larger = array.zeros(array.stack([_next_size(new_size), *fixed]), dtype=values.dtype)
            old = held.value()
            with control_dependencies([old]):
                replaced = state.assign(held, larger, validate_shape=False)
            with control_dependencies([replaced]):
                copied = held[:size].assign(old[:size])
            with control_dependencies([copied]):
                return no_op()

        new_size = size + batch
        room = array.shape_internal(held, optimize=False)[0]
        with control_dependencies([cond(new_size > room, reallocate, no_op)]):
            appended = held[size:new_size].assign(batch_values)
        with control_dependencies([appended]):
            update_op = size.assign(new_size)
        return collected(value, update_op, metrics_collections, updates_collections)
