"""tf.losses: losses that can be weighted and reduced, and the collection they join."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    add_to_collection,
    control_dependencies,
    executing_eagerly,
    get_collection,
    name_scope,
)
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.nn.activations import relu
from everflow.ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from everflow.ops.nn.weights import assert_broadcastable, broadcast_weights


class Reduction:
    """How the losses of single elements become one: not at all, their sum, or a mean of some kind.

    Example:
        >>> tf.losses.mean_squared_error([1.0, 2.0], [0.0, 0.0], reduction=tf.losses.Reduction.NONE).shape.as_list()
        [2]
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def _safe_mean(losses, count):
    return math.div_no_nan(math.reduce_sum(losses), count, name="value")


def _num_present(losses, weights, per_batch=False):
    """How many elements have a weight other than zero: in all, or for each of the batch."""
    # Executing eagerly, one weight for all shortens the count: to all elements, `per_batch` or not, as TensorFlow has
    # it.
    if executing_eagerly() and weights.shape.rank == 0 and weights.numpy() != 0:
        return math.cast(array.size(losses), losses.dtype)
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = math.cast(weights, dtypes.float32)
        present = array.where(math.equal(weights, 0.0), array.zeros_like(weights), array.ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return math.reduce_sum(present, axis=math.range(1, array.rank(present)), keepdims=True, name=scope)
        return math.reduce_sum(present, name=scope)


def _num_elements(losses, weights):
    with name_scope(None, "num_elements", values=[losses]) as scope:
        return math.cast(array.size(losses, name=scope), losses.dtype)


# By what a sum of weighted losses is divided.
_DIVISORS = {
    Reduction.MEAN: lambda losses, weights: math.reduce_sum(array.ones_like(losses) * weights),
    Reduction.SUM_BY_NONZERO_WEIGHTS: _num_present,
    Reduction.SUM_OVER_BATCH_SIZE: _num_elements,
}


def compute_weighted_loss(
    losses, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    """Losses times weights, reduced, and put into a collection.

    Args:
        losses: The losses of the elements.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.compute_weighted_loss([1.0, 3.0], weights=[1.0, 0.0]))
        np.float32(1.0)
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", (losses, weights)),
        control_dependencies((assert_broadcastable(weights, losses),)),
    ):
        losses = convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses = math.cast(losses, dtypes.float32)
        weights = math.cast(weights, dtypes.float32)
        weighted = math.multiply(losses, weights)
        loss = weighted if reduction == Reduction.NONE else math.reduce_sum(weighted)
        if reduction in _DIVISORS:
            loss = _safe_mean(loss, _DIVISORS[reduction](losses, weights))
        loss = math.cast(loss, input_dtype)
        add_loss(loss, loss_collection)
        return loss


def _as_floats(labels, predictions):
    predictions = math.cast(predictions, dtypes.float32)
    labels = math.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def _as_logits(labels, logits):
    logits = convert_to_tensor(logits)
    labels = math.cast(labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


def _required(**arguments):
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _loss(name, of_elements, arguments, weights, scope, loss_collection, reduction, prepare=_as_floats):
    """What the losses below do: `arguments` are the labels and the predictions by their names, and
    `of_elements(labels, predictions)` gives the loss of each element once both are prepared."""
    _required(**arguments)
    labels, predictions = arguments.values()
    with name_scope(scope, name, (predictions, labels, weights)) as scope:
        losses = of_elements(*prepare(labels, predictions))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                        reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """|predictions - labels|.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: What was predicted.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.absolute_difference([1.0, 2.0], [1.0, 4.0]))
        np.float32(1.0)
    """

    def distance(labels, predictions):
        return math.abs(math.subtract(predictions, labels))

    arguments = {"labels": labels, "predictions": predictions}
    return _loss("absolute_difference", distance, arguments, weights, scope, loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, dim=None):  # fmt: skip
    """One minus the product of labels and predictions along an axis; both are taken to have unit length.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: What was predicted.
        axis: The axis along which vectors lie.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.
        dim: An older name of `axis`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], axis=1))
        np.float32(0.39999998)
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")

    def distance(labels, predictions):
        return 1 - math.reduce_sum(math.multiply(predictions, labels), axis=(axis,), keepdims=True)

    arguments = {"labels": labels, "predictions": predictions}
    return _loss("cosine_distance_loss", distance, arguments, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels,
    logits,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """The hinge loss; labels are 0 and 1.

    Args:
        labels: 0 or 1, of the shape of `logits`.
        logits: Scores before a softmax or sigmoid.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.hinge_loss([1.0, 0.0], [0.5, 0.5]))
        np.float32(1.0)
    """

    def hinge(labels, logits):
        ones = array.ones_like(labels)
        signs = math.subtract(2 * labels, ones)
        return relu(math.subtract(ones, math.multiply(signs, logits)))

    return _loss("hinge_loss", hinge, {"labels": labels, "logits": logits}, weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
               reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """Half the squared error up to `delta`, and linear beyond.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: What was predicted.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        delta: Where it becomes linear.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.huber_loss([0.0, 0.0], [0.5, 3.0]))
        np.float32(1.3125)
    """

    def huber(labels, predictions):
        error = math.abs(math.subtract(predictions, labels))
        quadratic = math.minimum(error, delta)
        linear = math.subtract(error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        return math.add(math.multiply(half, math.multiply(quadratic, quadratic)), math.multiply(delta, linear))

    arguments = {"labels": labels, "predictions": predictions}
    return _loss("huber_loss", huber, arguments, weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=GraphKeys.LOSSES,
             reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """The cross entropy of probabilities; `epsilon` keeps logarithms finite.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: Probabilities.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        epsilon: A small number that keeps a division from being one by zero.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.log_loss([1.0, 0.0], [0.9, 0.1]))
        np.float32(0.10536041)
    """

    def entropy(labels, predictions):
        happens = math.multiply(labels, math.log(predictions + epsilon))
        return -happens - math.multiply((1 - labels), math.log(1 - predictions + epsilon))

    arguments = {"labels": labels, "predictions": predictions}
    return _loss("log_loss", entropy, arguments, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES):
    """The squared error of differences between the elements of each sample, over all pairs.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: What was predicted.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.mean_pairwise_squared_error([[1.0, 2.0]], [[1.0, 4.0]]))
        np.float32(4.0)
    """
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights = math.cast(weights, dtypes.float32)
        labels = math.cast(labels, dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = math.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            differences = math.subtract(predictions, labels)
            axis = math.range(1, array.rank(differences))
            squares = math.reduce_sum(math.square(differences), axis=axis, keepdims=True)
            present = _num_present(differences, weights, per_batch=True)
            first = 2.0 * math.div_no_nan(squares, math.maximum(present - 1, 0), name="value")
            total = math.reduce_sum(differences, axis=axis, keepdims=True)
            second = 2.0 * math.div_no_nan(
                math.square(total), math.maximum(math.multiply(present, present - 1), 0), name="value"
            )
            loss = math.reduce_sum(math.multiply(first - second, weights))
            mean = array.where(math.reduce_sum(present) > 0, loss, array.zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                       reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """The squared error.

    Args:
        labels: What is right, of the same shape as what was predicted.
        predictions: What was predicted.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.mean_squared_error(labels=[1.0, 2.0], predictions=[1.0, 4.0]))
        np.float32(2.0)
    """

    def square(labels, predictions):
        return math.squared_difference(predictions, labels)

    arguments = {"labels": labels, "predictions": predictions}
    return _loss("mean_squared_error", square, arguments, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=GraphKeys.LOSSES,
                          reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """The cross entropy of each class by itself; smoothing moves labels towards one half.

    Args:
        multi_class_labels: 0 or 1 for each class, of the shape of `logits`.
        logits: Scores before a softmax or sigmoid.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.sigmoid_cross_entropy([[1, 0]], [[2.0, -2.0]]))
        np.float32(0.12692802)
    """

    def entropy(labels, logits):
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")

    arguments = {"multi_class_labels": multi_class_labels, "logits": logits}
    return _loss(
        "sigmoid_cross_entropy_loss", entropy, arguments, weights, scope, loss_collection, reduction, _as_logits
    )


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=GraphKeys.LOSSES,
                          reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """The cross entropy of classes that exclude each other, from one-hot labels; smoothing spreads them over all
    classes.

    Args:
        onehot_labels: The probabilities that are right: [batch, classes].
        logits: Scores before a softmax or sigmoid.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.softmax_cross_entropy([[0, 1]], [[1.0, 3.0]]))
        np.float32(0.12692809)
    """

    def entropy(labels, logits):
        if label_smoothing > 0:
            share = label_smoothing / math.cast(array.shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + share
        labels = array.stop_gradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")

    arguments = {"onehot_labels": onehot_labels, "logits": logits}
    return _loss(
        "softmax_cross_entropy_loss", entropy, arguments, weights, scope, loss_collection, reduction, _as_logits
    )


def _squeezed(labels, predictions, weights=None, expected_rank_diff=0):
    """Labels, predictions and weights without the one dimension of size 1 that one of them has more."""
    labels, predictions = remove_squeezable_dimensions(labels, predictions, expected_rank_diff=expected_rank_diff)
    if weights is None:
        return labels, predictions, None
    weights = convert_to_tensor(weights)
    labels_rank, weights_rank = labels.shape.rank, weights.shape.rank
    if labels_rank is not None and weights_rank is not None:
        if weights_rank - labels_rank == 1:
            weights = array.squeeze(weights, [-1])
        return labels, predictions, weights
    difference = array.rank(weights) - array.rank(labels)
    if weights_rank is None or (weights_rank > 0 and weights.shape.dims[-1].is_compatible_with(1)):
        weights = cond(math.equal(1, difference), lambda: array.squeeze(weights, [-1]), lambda: weights)
    return labels, predictions, weights


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                                 reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
    """The cross entropy of classes that exclude each other, from labels that are class numbers.

    Args:
        labels: The true classes: [batch].
        logits: Scores before a softmax or sigmoid.
        weights: How much each element counts: a scalar, or a tensor that broadcasts to the losses.
        scope: The name of the scope of its operations.
        loss_collection: The collection the loss is added to.
        reduction: How the losses of the elements become one: a value of `tf.losses.Reduction`.

    Returns:
        A scalar; a tensor with `Reduction.NONE`.

    Raises:
        ValueError: If shapes don't fit, or labels or predictions are None.

    Example:
        >>> sess.run(tf.losses.sparse_softmax_cross_entropy(labels=[1], logits=[[1.0, 3.0]]))
        np.float32(0.12692809)
    """
    _required(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits, weights = _squeezed(labels, logits, weights, expected_rank_diff=1)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


# --- the collection of losses ----------------------------------------------------------------


def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Put a loss into a collection; None for none.

    Args:
        loss: The loss.
        loss_collection: The collection the loss is added to.

    Returns:
        None.

    Example:
        >>> tf.losses.add_loss(tf.constant(2.0))
        >>> sess.run(tf.losses.get_total_loss())
        np.float32(2.0)
    """
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """The losses in a collection, those under a scope only where one is given.

    Args:
        scope: Only losses whose names match this at their start, a regular expression.
        loss_collection: The collection the loss is added to.

    Returns:
        A list of tensors.

    Example:
        >>> loss = tf.losses.mean_squared_error([1.0], [2.0])
        >>> tf.losses.get_losses() == [loss]
        True
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The losses that regularizers gave.

    Args:
        scope: Only losses whose names match this at their start, a regular expression.

    Returns:
        A list of tensors.

    Example:
        >>> v = tf.get_variable("v", [], regularizer=tf.contrib.layers.l2_regularizer(0.5))
        >>> len(tf.losses.get_regularization_losses())
        1
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses that regularizers gave; zero where there are none.

    Args:
        scope: Only losses whose names match this at their start, a regular expression.
        name: The name of the operation in the graph.

    Returns:
        A scalar.

    Example:
        >>> v = tf.get_variable("v", [], initializer=tf.ones_initializer(), regularizer=tf.contrib.layers.l2_regularizer(0.5))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.losses.get_regularization_loss())
        np.float32(0.25)
    """
    losses = get_regularization_losses(scope)
    return math.add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses, with those of regularizers.

    Args:
        add_regularization_losses: Whether those of regularizers are added.
        name: The name of the operation in the graph.
        scope: Only losses whose names match this at their start, a regular expression.

    Returns:
        A scalar.

    Example:
        >>> loss = tf.losses.mean_squared_error([1.0], [3.0])
        >>> sess.run(tf.losses.get_total_loss())
        np.float32(4.0)
    """
    regularization = get_regularization_losses(scope) if add_regularization_losses else []
    return math.add_n([*get_losses(scope), *regularization], name=name)
