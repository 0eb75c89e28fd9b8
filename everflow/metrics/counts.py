"""Counts of true and false positives and negatives of bool predictions, and what is made of them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.metrics.variables import aligned, collected, metric_variable, named
from everflow.ops import array, math
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope


def _count(values, weights=None, metrics_collections=None, updates_collections=None):
    """How often a bool is true, weighted."""
    check_shapes.assert_type(values, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = math.cast(values, dtypes.float32)
    if weights is not None:
        with control_dependencies((_assert_rank_fits(weights, values),)):
            weights = math.cast(weights, dtypes.float32)
            values = math.multiply(values, weights)
    value = array.identity(count)
    update_op = state.assign_add(count, math.reduce_sum(values))
    return collected(value, update_op, metrics_collections, updates_collections)


def _assert_rank_fits(weights, values):
    return check_shapes.assert_rank_in(weights, (0, array.rank(values)))


# metric: (what labels are, what predictions are)
_KINDS = {
    "true_positives": (True, True),
    "true_negatives": (False, False),
    "false_positives": (False, True),
    "false_negatives": (True, False),
}


def _as_bools(predictions, labels, weights):
    predictions = math.cast(predictions, dtype=dtypes.bool)
    return aligned(predictions=predictions, labels=math.cast(labels, dtype=dtypes.bool), weights=weights)


def _metric(kind, doc):
    label, prediction = _KINDS[kind]

    @named(kind, doc)
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, kind, (predictions, labels, weights)):
            predictions, labels, weights = _as_bools(predictions, labels, weights)
            hits = math.logical_and(math.equal(labels, label), math.equal(predictions, prediction))
            return _count(hits, weights, metrics_collections, updates_collections)

    return metric


true_positives = _metric(
    "true_positives",
    """How often labels and predictions are both true, weighted.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.true_positives([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(1.0)
""",
)
true_negatives = _metric(
    "true_negatives",
    """How often labels and predictions are both false, weighted.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.true_negatives([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(1.0)
""",
)
false_positives = _metric(
    "false_positives",
    """How often a prediction is true and its label false, weighted.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.false_positives([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(1.0)
""",
)
false_negatives = _metric(
    "false_negatives",
    """How often a prediction is false and its label true, weighted.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.false_negatives([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(1.0)
""",
)


def ratio(hits, misses, name):
    """hits / (hits + misses), zero where there are neither."""
    return array.where(math.greater(hits + misses, 0), math.div(hits, hits + misses), 0, name)


def _share(kind, other, doc):
    """A metric of the form true positives / (true positives + something)."""

    @named(kind, doc)
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, kind, (predictions, labels, weights)):
            predictions, labels, weights = _as_bools(predictions, labels, weights)
            hits, hits_update = true_positives(labels, predictions, weights)
            misses, misses_update = other(labels, predictions, weights)
            value = ratio(hits, misses, "value")
            update_op = ratio(hits_update, misses_update, "update_op")
            return collected(value, update_op, metrics_collections, updates_collections)

    return metric


precision = _share(
    "precision",
    false_positives,
    """The share of positive predictions that are right.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.precision([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.5)
""",
)
recall = _share(
    "recall",
    false_negatives,
    """The share of positive labels that are found.

Args:
    labels: What is right.
    predictions: What was predicted.
    weights: How much each element counts: None for all alike, or a tensor that broadcasts.
    metrics_collections: The collections the value is added to.
    updates_collections: The collections the update operation is added to.
    name: The name of the scope of its variables.

Returns:
    A tensor with the value so far, and an operation that takes in a batch and gives the new value.

Example:
    >>> value, update = tf.metrics.recall([True, True, False, False], [True, False, True, False])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.5)
""",
)
