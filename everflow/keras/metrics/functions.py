"""Metrics as functions that give a number for each sample: kinds of accuracy."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.keras import backend as K
from everflow.ops import array, math
from everflow.ops.nn.top_k import in_top_k


def accuracy(y_true, y_pred):
    """Whether labels and predictions are equal, for each element."""
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    if y_true.dtype != y_pred.dtype:
        y_pred = math.cast(y_pred, y_true.dtype)
    return math.cast(math.equal(y_true, y_pred), K.floatx())


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """How many predictions are on the right side of the threshold, over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.
        threshold: Above which a prediction counts as 1.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.metrics.binary_accuracy(tf.constant([[1.0, 0.0]]), tf.constant([[0.9, 0.8]])))
        array([0.5], dtype=float32)
    """
    threshold = math.cast(threshold, y_pred.dtype)
    y_pred = math.cast(y_pred > threshold, y_pred.dtype)
    return K.mean(math.equal(y_true, y_pred), axis=-1)


def categorical_accuracy(y_true, y_pred):
    """Whether the largest prediction is that of the one-hot label.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.metrics.categorical_accuracy(tf.constant([[0.0, 1.0]]), tf.constant([[0.1, 0.9]])))
        array([1.], dtype=float32)
    """
    return math.cast(math.equal(math.argmax(y_true, axis=-1), math.argmax(y_pred, axis=-1)), K.floatx())


def sparse_categorical_accuracy(y_true, y_pred):
    """Whether the largest prediction is that of the label, a number.

    Args:
        y_true: What is right.
        y_pred: What was predicted: one axis more.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.metrics.sparse_categorical_accuracy(tf.constant([1.0]), tf.constant([[0.1, 0.9]])))
        array([1.], dtype=float32)
    """
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    pred_rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    if pred_rank is not None and true_rank is not None and pred_rank == true_rank:
        y_true = array.squeeze(y_true, [-1])
    y_pred = math.argmax(y_pred, axis=-1)
    if K.dtype(y_pred) != K.dtype(y_true):
        y_pred = math.cast(y_pred, K.dtype(y_true))
    return math.cast(math.equal(y_true, y_pred), K.floatx())


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Whether the one-hot label is among the k largest predictions.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.
        k: How many of the highest predictions may hold the label.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.metrics.top_k_categorical_accuracy(tf.constant([[0.0, 0.0, 1.0]]), tf.constant([[0.1, 0.6, 0.3]]), k=2))
        array([1.], dtype=float32)
    """
    return math.cast(in_top_k(y_pred, math.argmax(y_true, axis=-1), k), K.floatx())


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Whether the label, a number, is among the k largest predictions.

    Args:
        y_true: What is right.
        y_pred: What was predicted: one axis more.
        k: How many of the highest predictions may hold the label.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.metrics.sparse_top_k_categorical_accuracy(tf.constant([2.0]), tf.constant([[0.1, 0.6, 0.3]]), k=2))
        array([1.], dtype=float32)
    """
    pred_rank, true_rank = convert_to_tensor(y_pred).shape.ndims, convert_to_tensor(y_true).shape.ndims
    if pred_rank is not None and true_rank is not None:
        if pred_rank > 2:
            y_pred = array.reshape(y_pred, [-1, y_pred.shape[-1]])
        if true_rank > 1:
            y_true = array.reshape(y_true, [-1])
    return math.cast(in_top_k(y_pred, math.cast(y_true, "int32"), k), K.floatx())
