"""The confusion matrix, and how labels and predictions are brought to one rank."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.checks import values as check
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.math import elementwise, reductions


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """A matrix that counts at [i, j] how often class i was predicted as class j.

    Args:
        labels: The right classes: a vector of whole numbers.
        predictions: The predicted classes.
        num_classes: How many classes there are; one more than the largest if None.
        dtype: The type of the elements.
        name: The name of the operation in the graph.
        weights: A weight for each prediction.

    Returns:
        A matrix [classes, classes].

    Example:
        >>> sess.run(tf.confusion_matrix([0, 1, 1], [0, 1, 0]))
        array([[1, 0],
               [1, 1]], dtype=int32)
    """
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        predictions = elementwise.cast(predictions, dtypes.int64)
        labels = elementwise.cast(labels, dtypes.int64)
        labels = with_dependencies(
            [check.assert_non_negative(labels, message="`labels` contains negative values")], labels
        )
        non_negative = check.assert_non_negative(predictions, message="`predictions` contains negative values")
        predictions = with_dependencies([non_negative], predictions)
        if num_classes is None:
            num_classes = raw.Maximum(reductions.reduce_max(predictions), reductions.reduce_max(labels)) + 1
        else:
            classes = elementwise.cast(num_classes, dtypes.int64)
            labels = with_dependencies([check.assert_less(labels, classes, message="`labels` out of bound")], labels)
            predictions = with_dependencies(
                [check.assert_less(predictions, classes, message="`predictions` out of bound")], predictions
            )
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = elementwise.cast(weights, dtype)
        shape = array.stack([num_classes, num_classes])
        indices = array.stack([labels, predictions], axis=1)
        values = array.ones_like(predictions, dtype) if weights is None else weights
        counts = SparseTensor(indices=indices, values=values, dense_shape=elementwise.cast(shape, dtypes.int64))
        zeros = array.zeros(elementwise.cast(shape, dtypes.int32), dtype)
        return raw.SparseTensorDenseAdd(counts.indices, counts.values, counts.dense_shape, zeros)


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """Labels and predictions, without a last dimension of size 1 where one of them has it more than the other."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        predictions_rank, labels_rank = predictions.shape.rank, labels.shape.rank
        if labels_rank is not None and predictions_rank is not None:
            difference = predictions_rank - labels_rank
            if difference == expected_rank_diff + 1:
                predictions = array.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = array.squeeze(labels, [-1])
            return labels, predictions
        difference = array.rank(predictions) - array.rank(labels)
        if predictions_rank is None or predictions.shape.dims[-1].is_compatible_with(1):
            full = predictions
            predictions = cond(
                raw.Equal(expected_rank_diff + 1, difference), lambda: array.squeeze(full, [-1]), lambda: full
            )
        if labels_rank is None or labels.shape.dims[-1].is_compatible_with(1):
            full_labels = labels
            labels = cond(
                raw.Equal(expected_rank_diff - 1, difference),
                lambda: array.squeeze(full_labels, [-1]),
                lambda: full_labels,
            )
        return labels, predictions
