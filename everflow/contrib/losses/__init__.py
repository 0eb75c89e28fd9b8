"""tf.contrib.losses: the losses before `tf.losses`, which average over weights that are not zero."""

from __future__ import annotations

from everflow import losses as losses_now
from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.losses import metric_learning as metric_learning
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.losses import get_losses as get_losses
from everflow.losses import get_regularization_losses as get_regularization_losses
from everflow.ops import array, math


def _sum_of_weighted(losses, weights):
    """The sum of losses, each times its weight; a weight counts for all dimensions after its own."""
    reduced = math.reduce_sum(losses, axis=list(range(weights.get_shape().ndims, losses.get_shape().ndims)))
    return math.reduce_sum(math.multiply(reduced, weights))


def _count_of_weighted(losses, weights, per_batch=False):
    """How many losses have a weight that is not zero: in all, or for each example."""
    if weights.get_shape().ndims == 0:
        batch_size = array.reshape(array.slice_(array.shape(losses), [0], [1]), [])
        each = math.div(math.cast(array.size(losses), dtypes.float32), math.cast(batch_size, dtypes.float32))
        each = array.where(math.equal(weights, 0), 0.0, each)
        counts = math.multiply(array.ones(array.reshape(batch_size, [1])), each)
    else:
        axes = list(range(1, weights.get_shape().ndims))
        nonzero = math.reduce_sum(math.cast(math.not_equal(weights, 0), dtypes.float32), axis=axes)
        covered = array.slice_(array.shape(losses), [weights.get_shape().ndims], [-1])
        counts = math.multiply(nonzero, math.cast(math.reduce_prod(covered), dtypes.float32))
    return counts if per_batch else math.reduce_sum(counts)


def _safe_mean(losses, count):
    return math.div_no_nan(math.reduce_sum(losses), count, name="value")


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The mean of losses over weights that are not zero, put among the losses."""
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses = math.cast(losses, dtypes.float32)
        weights = math.cast(convert_to_tensor(weights), dtypes.float32)
        if losses.get_shape().ndims is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        shape = weights.get_shape()
        if shape.ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        if shape.ndims > 1 and shape.dims[-1].is_compatible_with(1):
            weights = array.squeeze(weights, [-1])
        total = _sum_of_weighted(losses, weights)
        mean = math.cast(_safe_mean(total, _count_of_weighted(losses, weights)), input_dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Put a loss among the losses, which are those of tf.losses."""
    losses_now.add_loss(loss, loss_collection)


def get_total_loss(add_regularization_losses=True, name="total_loss"):
    """The sum of all losses, with regularization unless told otherwise."""
    return losses_now.get_total_loss(add_regularization_losses, name)


def _as_floats(predictions, labels):
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return math.cast(predictions, dtypes.float32), math.cast(labels, dtypes.float32)


def _of_pairs(name, losses_of, predictions, labels, weights, scope):
    """The weighted loss of what `losses_of(predictions, labels)` gives."""
    with name_scope(scope, name, [predictions, labels, weights]) as scope:
        return compute_weighted_loss(losses_of(*_as_floats(predictions, labels)), weights, scope=scope)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """|predictions - labels|."""

    def losses(p, y):
        return math.abs(math.subtract(p, y))

    return _of_pairs("absolute_difference", losses, predictions, labels, weights, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """Cross entropy of independent yes-or-no classes; smoothing moves labels towards one half."""
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = math.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """Cross entropy of one class among several; smoothing moves labels towards all classes alike.

    Args:
        logits: Scores before a softmax or sigmoid.
        onehot_labels: The probabilities that are right: [batch, classes].
        weights: How much each element counts: a scalar, or a tensor that broadcasts.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.
        scope: The name scope of its operations.

    Returns:
        A scalar.

    Raises:
        ValueError: If shapes don't fit.

    Example:
        >>> sess.run(tf.contrib.losses.softmax_cross_entropy(tf.constant([[1.0, 3.0]]), tf.constant([[0.0, 1.0]])))
        np.float32(0.12692809)
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = math.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = math.cast(array.shape(labels)[1], logits.dtype)
            positives, others = 1.0 - label_smoothing, label_smoothing / classes
            labels = labels * positives + others
        losses = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """Cross entropy of one class among several, labels being the numbers of classes."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = array.reshape(labels, shape=[array.shape(labels)[0]])
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions)."""

    def losses(p, y):
        return -math.multiply(y, math.log(p + epsilon)) - math.multiply((1 - y), math.log(1 - p + epsilon))

    return _of_pairs("log_loss", losses, predictions, labels, weights, scope)


def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - logits * labels), labels being made -1 and 1 of 0 and 1; each element's own, not averaged."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        zeros_and_ones = math.cast(labels, dtypes.float32)
        ones = array.ones_like(zeros_and_ones)
        margins = math.multiply(math.subtract(2 * zeros_and_ones, ones), logits)
        return nn.relu(math.subtract(ones, margins))


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """(predictions - labels)².

    Args:
        predictions: What was predicted.
        labels: What is right.
        weights: How much each element counts: a scalar, or a tensor that broadcasts.
        scope: The name scope of its operations.

    Returns:
        A scalar.

    Raises:
        ValueError: If shapes don't fit.

    Example:
        >>> sess.run(tf.contrib.losses.mean_squared_error(tf.constant([1.0, 2.0]), tf.constant([1.0, 4.0])))
        np.float32(2.0)
    """
    return _of_pairs("mean_squared_error", math.squared_difference, predictions, labels, weights, scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The mean square of how differences between an example's predictions differ from those between its labels."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        weights = math.cast(convert_to_tensor(weights), dtypes.float32)
        differences = math.subtract(predictions, labels)
        if weights.get_shape().ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        axes = list(range(1, differences.get_shape().ndims))
        squares = math.reduce_sum(math.square(differences), axis=axes)
        count = _count_of_weighted(differences, weights, per_batch=True)
        of_squares = 2.0 * math.div_no_nan(squares, count, name="value")
        sums = math.reduce_sum(differences, axis=axes)
        of_sums = 2.0 * math.div_no_nan(math.square(sums), math.square(count), name="value")
        loss = _sum_of_weighted(of_squares - of_sums, weights)
        mean = array.where(math.reduce_sum(count) > 0, loss, array.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """1 - the product of predictions and labels summed over `axis`; both are taken to have length 1."""
    axis = dim if dim is not None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")

    def losses(p, y):
        return 1 - math.reduce_sum(math.multiply(p, y), axis=[axis])

    return _of_pairs("cosine_distance_loss", losses, predictions, labels, weights, scope)
