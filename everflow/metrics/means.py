"""Means over batches: of values, errors, hits, and of classes."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.metrics.variables import aligned, as_vector, collected, metric_variable
from everflow.ops import array, math
from everflow.ops.math.confusion_matrix import confusion_matrix, remove_squeezable_dimensions
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import variable_scope


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of values.

    Args:
        values: The numbers to take in.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean([1.0, 2.0, 6.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(3.0)
    """
    with variable_scope(name, "mean", (values, weights)):
        values = math.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math.cast(array.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            number = math.reduce_sum(weights)
        update_total = state.assign_add(total, math.reduce_sum(values))
        return collected(
            *_quotients(total, update_total, count, number, values), metrics_collections, updates_collections
        )


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of tensors, element by element.

    Args:
        values: The tensor to take in.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_tensor([1.0, 2.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        array([1., 2.], dtype=float32)
    """
    with variable_scope(name, "mean", (values, weights)):
        values = math.cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = array.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = math.multiply(number, weights)
        update_total = state.assign_add(total, values)
        return collected(
            *_quotients(total, update_total, count, number, values), metrics_collections, updates_collections
        )


def _weighted(values, weights):
    """(values times their weights, a weight for each value)"""
    values, _, weights = aligned(values, None, weights)
    weights = broadcast_weights(math.cast(weights, dtypes.float32), values)
    return math.multiply(values, weights), weights


def _quotients(total, update_total, count, number, values):
    """(total by count, the same after an update that counts `number` more)."""
    with control_dependencies([values]):
        update_count = state.assign_add(count, number)
    value = math.div_no_nan(total, math.maximum(count, 0), name="value")
    return value, math.div_no_nan(update_total, math.maximum(update_count, 0), name="update_op")


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often predictions equal labels.

    Args:
        labels: What is right.
        predictions: What was predicted.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> accuracy, update = tf.metrics.accuracy(labels=[1, 2, 3, 4], predictions=[1, 2, 0, 4])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update), sess.run(accuracy)
        (np.float32(0.75), np.float32(0.75))
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    if labels.dtype != predictions.dtype:
        predictions = math.cast(predictions, labels.dtype)
    hits = math.cast(math.equal(predictions, labels), dtypes.float32)
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of |predictions - labels|.

    Args:
        labels: What is right.
        predictions: What was predicted.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_absolute_error([1.0, 2.0], [1.0, 4.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(1.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math.abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of one minus the product of labels and predictions along a dimension.

    Args:
        labels: What is right.
        predictions: What was predicted.
        dim: The axis along which vectors lie.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], dim=1)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(0.39999998)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = math.multiply(predictions, labels)
    products = math.reduce_sum(products, axis=[dim], keepdims=True)
    means = mean(products, weights, None, None, name or "mean_cosine_distance")
    return collected(*(math.subtract(1.0, each) for each in means), metrics_collections, updates_collections)


def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of |labels - predictions| / normalizer; zero where the normalizer is.

    Args:
        labels: What is right.
        predictions: What was predicted.
        normalizer: What errors are divided by.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_relative_error([1.0, 2.0], [1.0, 4.0], normalizer=[1.0, 2.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(0.5)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = array.where(
        math.equal(normalizer, 0.0), array.zeros_like(labels), math.div(math.abs(labels - predictions), normalizer)
    )
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of the squared error.

    Args:
        labels: What is right.
        predictions: What was predicted.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(2.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math.squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The root of the mean of the squared error.

    Args:
        labels: What is right.
        predictions: What was predicted.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.root_mean_squared_error([1.0, 2.0], [1.0, 4.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(1.4142135)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    means = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(*map(math.sqrt, means), metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of values below a threshold.

    Args:
        values: The numbers to take in.
        threshold: The threshold.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 2.5)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(0.5)
    """
    below = math.cast(math.less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def confusion_update(labels, predictions, num_classes, weights=None):
    """(the variable that holds the confusion matrix of all batches, the op that adds this one)."""
    total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    predictions = math.cast(predictions, dtypes.int64)
    labels = math.cast(labels, dtypes.int64)
    num_classes = math.cast(num_classes, dtypes.int64)
    predictions, labels = as_vector(predictions), as_vector(labels)
    weights = None if weights is None else as_vector(weights)
    current = confusion_matrix(labels, predictions, num_classes, weights=weights, dtype=dtypes.float64)
    return total, state.assign_add(total, current)


def mean_iou(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over classes of intersection over union; classes that never came up don't count.

    Args:
        labels: What is right.
        predictions: What was predicted.
        num_classes: How many classes there are.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_iou(tf.constant([0, 0, 1, 1]), tf.constant([0, 1, 1, 1]), num_classes=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(value)
        np.float32(0.5833334)
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        weights = None if weights is None else convert_to_tensor(weights)
        total, update_op = confusion_update(labels, predictions, num_classes, weights)
        over_rows = math.cast(math.reduce_sum(total, 0), dtypes.float32)
        over_columns = math.cast(math.reduce_sum(total, 1), dtypes.float32)
        diagonal = math.cast(array.diag_part(total), dtypes.float32)
        union = over_rows + over_columns - diagonal
        valid = math.reduce_sum(math.cast(math.not_equal(union, 0), dtype=dtypes.float32))
        union = array.where(math.greater(union, 0), union, array.ones_like(union))
        ratios = math.div(diagonal, union)
        value = array.where(math.greater(valid, 0), math.reduce_sum(ratios, name="mean_iou") / valid, 0)
        return collected(value, update_op, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over classes of how often each was predicted right; a class that never came up counts as zero.

    Args:
        labels: What is right.
        predictions: What was predicted.
        num_classes: How many classes there are.
        weights: How much each element counts: None for all alike, or a tensor that broadcasts.
        metrics_collections: The collections the value is added to.
        updates_collections: The collections the update operation is added to.
        name: The name of the scope of its variables.

    Returns:
        A tensor with the value so far, and an operation that takes in a batch and gives the new value.

    Raises:
        RuntimeError: When executing eagerly: there, use `tf.keras.metrics`.

    Example:
        >>> value, update = tf.metrics.mean_per_class_accuracy(tf.constant([0, 0, 1, 1]), tf.constant([0, 1, 1, 1]), num_classes=2)
        >>> sess.run(tf.local_variables_initializer())
        >>> _ = sess.run(update)
        >>> sess.run(value)
        np.float32(0.75)
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = as_vector(math.cast(labels, dtypes.int64))
        predictions = as_vector(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = array.ones([array.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = math.cast(predictions, labels.dtype)
        hits = math.cast(math.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = math.cast(as_vector(weights), dtypes.float32)
            hits *= weights
            ones *= weights
        update_total = state.scatter_add(total, labels, ones)
        update_count = state.scatter_add(count, labels, hits)
        per_class = math.div_no_nan(count, math.maximum(total, 0), name=None)
        value = math.reduce_mean(per_class, name="mean_accuracy")
        update_op = math.div_no_nan(update_count, math.maximum(update_total, 0), name="update_op")
        return collected(value, update_op, metrics_collections, updates_collections)
