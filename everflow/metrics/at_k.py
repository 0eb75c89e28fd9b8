"""Metrics of the k best predictions: precision, recall and average precision, with labels dense or sparse."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_sparse_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.metrics.variables import collected, metric_variable, named
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.math.reduction_gradients import kept_shape
from everflow.ops.nn.top_k import top_k
from everflow.ops.nn.weights import assert_broadcastable, broadcast_weights
from everflow.ops.sparse import functions as sparse
from everflow.ops.sparse import sets
from everflow.ops.variables import assign as state


def _at_k_name(name, k=None, class_id=None):
    name = f"{name}_at_{k}" if k is not None else f"{name}_at_k"
    return name if class_id is None else f"{name}_class{class_id}"


def _expanded_labels(labels, predictions):
    """Labels with a last dimension for several of them, where they have none."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                math.equal(array.rank(predictions), array.size(labels.dense_shape) + 1),
                lambda: sparse.sparse_reshape(labels, shape=array.concat((labels.dense_shape, (1,)), 0), name=scope),
                lambda: labels,
            )
        labels_rank, predictions_rank = labels.shape.rank, predictions.shape.rank
        if labels_rank is not None and predictions_rank is not None:
            if predictions_rank == labels_rank:
                return labels
            if predictions_rank == labels_rank + 1:
                return array.expand_dims(labels, -1, name=scope)
            raise ValueError(f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}.")
        return cond(
            math.equal(array.rank(predictions), array.rank(labels) + 1),
            lambda: array.expand_dims(labels, -1, name=scope),
            lambda: labels,
        )


def _select_class(ids, class_id):
    """Only the ids of one class, as a sparse tensor."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse.sparse_retain(ids, math.equal(ids.values, class_id))
    shape = array.shape(ids, out_type=dtypes.int64)
    last = array.size(shape) - 1
    filled = array.fill(kept_shape(shape, array.reshape(last, [1])), math.cast(class_id, dtypes.int64))
    found = sets.set_intersection(filled, ids)
    return SparseTensor(indices=found.indices, values=found.values, dense_shape=shape)


# kind: (name of the count, set operation on (predictions, labels))
_SETS = {
    "true_positive": ("true_positives", lambda p, y: sets.set_intersection(p, y)),
    "false_positive": ("false_positives", lambda p, y: sets.set_difference(p, y, aminusb=True)),
    "false_negative": ("false_negatives", lambda p, y: sets.set_difference(p, y, aminusb=False)),
}


def _count(kind, labels, predictions_idx, class_id=None, weights=None, name=None):
    """How many of a kind each row has, weighted."""
    default, operation = _SETS[kind]
    with name_scope(name, default, (predictions_idx, labels, weights)):
        if class_id is not None:
            labels, predictions_idx = _select_class(labels, class_id), _select_class(predictions_idx, class_id)
        count = math.cast(sets.set_size(operation(predictions_idx, labels)), dtypes.float64)
        if weights is not None:
            with control_dependencies((assert_broadcastable(weights, count),)):
                count = math.multiply(count, math.cast(weights, dtypes.float64))
        return count


def _streaming_count(kind, labels, predictions_idx, k, class_id, weights):
    with name_scope(None, _at_k_name(kind, k, class_id=class_id), (predictions_idx, labels, weights)) as scope:
        total = math.cast(math.reduce_sum(_count(kind, labels, predictions_idx, class_id, weights)), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, state.assign_add(variable, total, name="update")


def _top_k_share(word, other, doc):
    """A metric of the form true positives / (true positives + something) among k predicted classes."""

    @named(f"{word}_at_top_k", doc)
    def metric(
        labels,
        predictions_idx,
        k=None,
        class_id=None,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        with name_scope(name, _at_k_name(word, k, class_id=class_id), (predictions_idx, labels, weights)) as scope:
            labels = _expanded_labels(labels, predictions_idx)
            indices = math.cast(predictions_idx, dtypes.int64)
            hits, hits_update = _streaming_count("true_positive", labels, indices, k, class_id, weights)
            misses, misses_update = _streaming_count(other, labels, indices, k, class_id, weights)
            value = math.div(hits, math.add(hits, misses), name=scope)
            update = math.div(hits_update, math.add(hits_update, misses_update), name="update")
            return collected(value, update, metrics_collections, updates_collections)

    return metric


precision_at_top_k = _top_k_share(
    "precision",
    "false_positive",
    """The share of the k predicted classes that are right.

Args:
    labels: The right classes: [batch, labels] of int64, or a SparseTensor.
    predictions_idx: The predicted classes, the best first: [batch, k] of int64.
    k: How many of the highest predictions are looked at.
    class_id: Look only at this class; all of them if None.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> labels, predicted = tf.constant([[2]], tf.int64), tf.constant([[1, 2]], tf.int64)
    >>> value, update = tf.metrics.precision_at_top_k(labels, predicted, k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float64(0.5)
""",
)
recall_at_top_k = _top_k_share(
    "recall",
    "false_negative",
    """The share of the labels that are among the k predicted classes.

    Args:
        labels: The right classes: [batch, labels] of int64, or a SparseTensor.
        predictions_idx: The predicted classes, the best first: [batch, k] of int64.
        k: How many of the highest predictions are looked at.
        class_id: Look only at this class; all of them if None.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Example:
        >>> labels, predicted = tf.constant([[2]], tf.int64), tf.constant([[1, 2]], tf.int64)
        >>> value, update = tf.metrics.recall_at_top_k(labels, predicted, k=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float64(1.0)
    """,
)


def _k_best(word, at_top_k, doc):
    """A metric of the k classes with the highest predictions, by one of predicted classes."""

    @named(f"{word}_at_k", doc)
    def metric(
        labels,
        predictions,
        k,
        class_id=None,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        with name_scope(name, _at_k_name(word, k, class_id=class_id), (predictions, labels, weights)) as scope:
            _, indices = top_k(predictions, k)
            return at_top_k(labels, indices, k, class_id, weights, metrics_collections, updates_collections, name=scope)

    return metric


precision_at_k = _k_best(
    "precision",
    precision_at_top_k,
    """The share of the k classes with the highest predictions that are right.

    Args:
        labels: The right classes: [batch, labels] of int64, or a SparseTensor.
        predictions: Scores: [batch, classes].
        k: How many of the highest predictions are looked at.
        class_id: Look only at this class; all of them if None.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Example:
        >>> labels = tf.constant([[2]], tf.int64)
        >>> value, update = tf.metrics.precision_at_k(labels, tf.constant([[0.1, 0.6, 0.3]]), k=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float64(0.5)
    """,
)
recall_at_k = _k_best(
    "recall",
    recall_at_top_k,
    """The share of the labels that are among the k classes with the highest predictions.

    Args:
        labels: The right classes: [batch, labels] of int64, or a SparseTensor.
        predictions: Scores: [batch, classes].
        k: How many of the highest predictions are looked at.
        class_id: Look only at this class; all of them if None.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Example:
        >>> labels = tf.constant([[2]], tf.int64)
        >>> value, update = tf.metrics.recall_at_k(labels, tf.constant([[0.1, 0.6, 0.3]]), k=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float64(1.0)
    """,
)


def average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over rows of the precision averaged over the ranks 1 to k at which right classes stand.

    Args:
        labels: The right classes: [batch, labels] of int64, or a SparseTensor.
        predictions: Scores: [batch, classes].
        k: How many of the highest predictions are looked at.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.average_precision_at_k(tf.constant([[2]], tf.int64), [[0.1, 0.6, 0.3]], k=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float64(0.5)
    """
    with name_scope(name, _at_k_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, indices = top_k(predictions, k)
        labels = _in_range(labels, math.cast(array.shape(predictions)[-1], dtypes.int64))
        return average_precision_at_top_k(labels, indices, weights, metrics_collections, updates_collections, scope)


# Deprecated names.
sparse_precision_at_k, sparse_average_precision_at_k = precision_at_k, average_precision_at_k


def _in_range(labels, num_classes):
    """Labels with those beyond the last class made -1, which matches nothing."""
    labels = convert_to_tensor_or_sparse_tensor(labels)

    def replaced(values):
        return array.where_v2(math.greater_equal(values, num_classes), -1 * array.ones_like(values), values)

    if isinstance(labels, SparseTensor):
        highest = math.reduce_max(labels.values)
        values = cond(math.greater_equal(highest, num_classes), lambda: replaced(labels.values), lambda: labels.values)
        return SparseTensor(indices=labels.indices, values=values, dense_shape=labels.dense_shape)
    highest = math.reduce_max(labels)
    return cond(math.greater_equal(highest, num_classes), lambda: replaced(labels), lambda: labels)


def _added_up(name, precision, of_batch):
    """(a variable, the op that adds what this batch gives)"""
    with name_scope(None, name, (precision,)) as scope:
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, state.assign_add(variable, of_batch(), name="update")


def average_precision_at_top_k(labels, predictions_idx, weights, metrics_collections, updates_collections, name):
    """The mean average precision of predicted classes, best first."""
    with name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        precision = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(math.cast(weights, dtypes.float64), precision)
            precision = math.multiply(precision, weights)

        def batch_max():
            if weights is None:
                return math.cast(array.size(precision, name="batch_max"), dtypes.float64)
            return math.reduce_sum(weights, name="batch_max")

        best, best_update = _added_up("max", precision, batch_max)
        total, total_update = _added_up("total", precision, lambda: math.reduce_sum(precision, name="batch_total"))
        value = math.div_no_nan(total, best, name="mean")
        update = math.div_no_nan(total_update, best_update, name=scope)
        return collected(value, update, metrics_collections, updates_collections)


def _average_precision(labels, predictions_idx):
    """The average precision of each row."""
    with name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        predictions_idx = math.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if predictions_idx.shape.rank == 0:
            raise ValueError(
                f"predictions_idx must have a dimension for the top classes, but it is a scalar: {predictions_idx}"
            )
        k = predictions_idx.shape.size(-1)
        if k is None:
            raise ValueError(f"predictions_idx must have a known last dimension (its k), not {predictions_idx.shape}")
        labels = _expanded_labels(labels, predictions_idx)
        per_k = array.expand_dims(predictions_idx, -1, name="predictions_idx_per_k")
        labels_per_k = _expand_and_tile(labels, k, name="labels_per_k")
        relevant = _count("true_positive", labels_per_k, per_k, name="relevant_per_k")
        hits = math.cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = math.cumsum(array.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = math.div(
            math.cast(hits, dtypes.float64), math.cast(retrieved, dtypes.float64), name="precision_per_k"
        )
        relevant_precision = math.multiply(
            precision, math.cast(relevant, dtypes.float64), name="relevant_precision_per_k"
        )
        total = math.reduce_sum(relevant_precision, axis=(-1,), name="precision_sum")
        return math.div(total, math.cast(_num_relevant(labels, k), dtypes.float64), name=scope)


def _expand_and_tile(tensor, multiple, name):
    """A tensor repeated along a new dimension before its last."""
    with name_scope(name, "expand_and_tile", (tensor, multiple)) as scope:
        if isinstance(tensor, SparseTensor):
            shape = array.concat((tensor.dense_shape[:-1], (1,), tensor.dense_shape[-1:]), 0, name="expanded_shape")
            expanded = sparse.sparse_reshape(tensor, shape=shape, name="expand")
            if multiple == 1:
                return expanded
            return sparse.sparse_concat(-2, [expanded] * multiple, name=scope)
        tensor = convert_to_tensor(tensor)
        expanded = array.expand_dims(tensor, -2, name="expand")
        if multiple == 1:
            return expanded
        ones = array.ones_like(array.shape(tensor))
        multiples = array.concat((ones[:-1], (multiple,), ones[-1:]), 0, name="multiples")
        return array.tile(expanded, multiples, name=scope)


def _num_relevant(labels, k):
    """How many labels a row has, at most k."""
    with name_scope(None, "num_relevant", (labels,)) as scope:
        if isinstance(labels, SparseTensor):
            return math.minimum(sets.set_size(labels), k, name=scope)
        relevant = array.where_v2(math.greater_equal(labels, 0), array.ones_like(labels), array.zeros_like(labels))
        return math.minimum(math.reduce_sum(relevant, -1), k, name=scope)
