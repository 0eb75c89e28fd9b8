"""Losses from logits: cross entropies of softmax and sigmoid, the Poisson loss, and half the sum of squares."""

from __future__ import annotations

import math

from everflow.framework import dtypes, strategy_context
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape, broadcast
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.checks.values import assert_equal
from everflow.ops.nn.activations import relu
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.shape_rules import scalar_output


def _named_arguments(function_name, sentinel, labels, logits):
    """Labels and logits are easily mixed up, so both must be named."""
    if sentinel is not None:
        raise ValueError(f"Only call `{function_name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _check_same_shape(logits, labels, labels_name="labels", logits_name="logits"):
    try:
        labels.shape.merge_with(logits.shape)
    except ValueError:
        raise ValueError(
            f"{logits_name} and {labels_name} must have the same shape ({logits.shape} vs {labels.shape})"
        ) from None


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """`-(z log p + (1 - z) log(1 - p))` with p = sigmoid(logits), computed so that nothing overflows. Classes don't exclude
    each other: every entry is a question of its own. Arguments are given by name.

    Args:
        labels: The probabilities that are right, of the shape of `logits`.
        logits: Scores before the sigmoid.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the shapes differ, or arguments are given by position.

    Example:
        >>> sess.run(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[2.0, 2.0]))
        array([0.12692802, 2.126928  ], dtype=float32)
    """
    _named_arguments("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(logits, labels)
        # max(x, 0) - x * z + log(1 + exp(-|x|)), with selections in place of max and abs, whose gradients are none at
        # zero.
        zeros = array.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        upper = array.where(positive, logits, zeros)
        negative_absolute = array.where(positive, -logits, logits)
        return math_ops.add(upper - logits * labels, math_ops.log1p(math_ops.exp(negative_absolute)), name=name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """`sigmoid_cross_entropy_with_logits` in which positive labels count `pos_weight` times.

    Args:
        labels: The probabilities that are right, of the shape of `logits`.
        logits: Scores before a softmax or sigmoid.
        pos_weight: How often positive labels count.
        name: The name of the operation in the graph.
        targets: An older name of `labels`.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the shapes differ.

    Example:
        >>> sess.run(tf.nn.weighted_cross_entropy_with_logits(labels=[1.0], logits=[2.0], pos_weight=3.0))
        array([0.38078403], dtype=float32)
    """
    labels = either("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(logits, labels, "targets")
        weight = 1 + (pos_weight - 1) * labels
        return math_ops.add(
            (1 - labels) * logits,
            weight * (math_ops.log1p(math_ops.exp(-math_ops.abs(logits))) + relu(-logits)),
            name=name,
        )


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """`exp(c) - z * c`: minus the log likelihood of counts z, where exp(c) is their expectation.

    `compute_full_loss` adds Stirling's approximation of log z!.

    Args:
        targets: The counts.
        log_input: The logarithms of their expectations.
        compute_full_loss: Whether Stirling's approximation of log z! is added.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the shapes differ.

    Example:
        >>> sess.run(tf.nn.log_poisson_loss([2.0], [0.5]))
        array([0.6487212], dtype=float32)
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _check_same_shape(log_input, targets, "targets", "log_input")
        result = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = constant(0.5, dtype=targets.dtype)
            circle = constant(2 * math.pi, dtype=targets.dtype)
            stirling = (targets * math_ops.log(targets)) - targets + (half * math_ops.log(circle * targets))
            zeros = array.zeros_like(targets, dtype=targets.dtype)
            ones = array.ones_like(targets, dtype=targets.dtype)
            small = math_ops.logical_and(targets >= zeros, targets <= ones)
            result += array.where(small, zeros, stirling)
        return result


def _flattened(x):
    """x as a matrix whose columns are its last dimension."""
    rank = array.rank(x)
    last = array.slice_(array.shape(x), [math_ops.subtract(rank, 1)], [1])
    flat = array.reshape(x, array.concat([[-1], last], 0))
    if x.shape.rank is not None and x.shape[:-1].is_fully_defined():
        flat.set_shape(TensorShape([x.shape[:-1].num_elements(), x.shape.dims[-1]]))
    return flat


def _moved_last(x, axis, rank):
    order = array.concat([math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]], 0)
    return array.transpose(x, order)


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """`-sum(labels * log softmax(logits))` along an axis. Gradients flow to the labels, too.

    Args:
        labels: The probabilities that are right: [batch, classes].
        logits: Scores before the softmax, of the same shape.
        axis: The axis of classes; the last if None.
        name: The name of the operation in the graph.
        dim: An older name of `axis`.

    Returns:
        A loss for each row.

    Example:
        >>> sess.run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[1.0, 3.0]]))
        array([0.12692809], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    return softmax_cross_entropy(labels, logits, -1 if axis is None else axis, name)


def softmax_cross_entropy(labels, logits, axis, name):
    """What both softmax losses build."""
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        narrow = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if narrow else logits
        labels = math_ops.cast(labels, precise.dtype)
        rank = array.rank(precise)
        shape = logits.shape
        if axis != -1:
            precise, labels = _moved_last(precise, axis, rank), _moved_last(labels, axis, rank)
        input_shape = array.shape(precise)
        cost = raw.SoftmaxCrossEntropyWithLogits(features=_flattened(precise), labels=_flattened(labels), name=name)[0]
        output_shape = array.slice_(input_shape, [0], [math_ops.subtract(rank, 1)])
        cost = array.reshape(cost, output_shape)
        if shape.rank is not None:
            dims = shape.as_list()
            del dims[axis]
            cost.set_shape(dims)
        return math_ops.cast(cost, logits.dtype) if narrow else cost


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """`softmax_cross_entropy_with_logits_v2` without a gradient to the labels. Arguments are given by name.

    Args:
        labels: The probabilities that are right: [batch, classes].
        logits: Scores before the softmax, of the same shape.
        dim: The axis of classes.
        name: The name of the operation in the graph.
        axis: Another name of `dim`.

    Returns:
        A loss for each row.

    Raises:
        ValueError: If arguments are given by position.

    Example:
        >>> sess.run(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[1.0, 3.0]]))
        array([0.12692809], dtype=float32)
    """
    dim = either("axis", axis, "dim", dim)  # `dim` always has a value, so TensorFlow 1.15 refuses every `axis`
    _named_arguments("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = array.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy(labels, logits, dim, name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The softmax cross entropy of one true class for each row: labels are class numbers. Arguments are given by name.

    Args:
        labels: The true classes: [batch].
        logits: Scores before the softmax: [batch, classes].
        name: The name of the operation in the graph.

    Returns:
        A loss for each row.

    Raises:
        ValueError: If ranks or shapes don't fit, or arguments are given by position.

    Example:
        >>> sess.run(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[1.0, 3.0]]))
        array([0.12692809], dtype=float32)
    """
    _named_arguments("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        narrow = logits.dtype == dtypes.float16
        precise = math_ops.cast(logits, dtypes.float32) if narrow else logits
        labels_shape = array.shape(labels)
        static = labels.shape.is_fully_defined() and logits.shape[:-1].is_fully_defined()
        if logits.shape.rank == 0:
            raise ValueError(f"Logits cannot be scalars - received shape {logits.shape}.")
        if logits.shape.rank is not None and labels.shape.rank not in (None, logits.shape.rank - 1):
            raise ValueError(
                f"Rank mismatch: labels have rank {labels.shape.rank}, logits {logits.shape.rank}; there must be one dimension more of logits, "
                "their classes. Are the labels one-hot? Those are for softmax_cross_entropy_with_logits"
            )
        if static and labels.shape != logits.shape[:-1]:
            raise ValueError(
                f"Shape mismatch: labels have shape {labels.shape}, but logits without their classes {logits.shape[:-1]}"
            )
        if logits.shape.rank == 2:
            cost = raw.SparseSoftmaxCrossEntropyWithLogits(features=precise, labels=labels, name=name)[0]
            return math_ops.cast(cost, dtypes.float16) if narrow else cost
        checks = [] if static else [_same_sizes(labels, logits)]
        with control_dependencies(checks):
            shape = array.shape(logits)
            classes = shape[array.rank(logits) - 1]
            matrix = array.reshape(precise, [-1, classes])
            flat = array.reshape(labels, [-1])
            cost = raw.SparseSoftmaxCrossEntropyWithLogits(features=matrix, labels=flat, name=name)[0]
            cost = array.reshape(cost, labels_shape)
            cost.set_shape(labels.shape)
            return math_ops.cast(cost, dtypes.float16) if narrow else cost


def _same_sizes(labels, logits):
    return assert_equal(array.shape(labels), array.shape(logits)[:-1])


def l2_loss(t, name=None):
    """Half the sum of squares: `sum(t ** 2) / 2`.

    Args:
        t: The tensor.
        name: The name of the operation in the graph.

    Returns:
        A scalar.

    Example:
        >>> sess.run(tf.nn.l2_loss([3.0, 4.0]))
        np.float32(12.5)
    """
    return raw.L2Loss(t=t, name=name)


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of weighted losses over the batch size, by default that of this batch.

    Args:
        per_example_loss: The loss of each example.
        sample_weight: How much each example counts.
        global_batch_size: How many examples there are on all replicas.

    Returns:
        A scalar.

    Raises:
        ValueError: If the losses are no tensor of floats, or the weights don't fit them.
        RuntimeError: If it is called outside of a replica, under a strategy.

    Example:
        >>> sess.run(tf.nn.compute_average_loss(tf.constant([1.0, 3.0]), global_batch_size=4))
        np.float32(1.0)
    """
    per_example_loss = convert_to_tensor(per_example_loss)
    dtype = per_example_loss.dtype
    message = f"Losses of examples have one dimension at least; there is one number in {per_example_loss}"
    if per_example_loss.shape.rank == 0:
        raise ValueError(message)
    has_rows = []
    if per_example_loss.shape.rank is None:
        rank = array.rank(per_example_loss)
        has_rows = [check.assert_greater_equal(rank, math_ops.cast(1, rank.dtype), message=message)]
    with control_dependencies(has_rows):
        if sample_weight is not None:
            losses = math_ops.cast(per_example_loss, dtypes.float32)
            weights = _beside_losses(math_ops.cast(sample_weight, dtypes.float32), losses)
            weighted = math_ops.multiply(losses, broadcast_weights(weights, losses))
            per_example_loss = math_ops.cast(weighted, dtype)
        if global_batch_size is None:
            global_batch_size = array.shape(per_example_loss)[0] * _replicas("compute_average_loss")
            global_batch_size = math_ops.cast(global_batch_size, dtype)
        return math_ops.reduce_sum(per_example_loss) / global_batch_size


def _replicas(function):
    """How many replicas a strategy runs, 1 without one; RuntimeError where all are looked at together."""
    frame = strategy_context.current()
    if frame is None:
        return 1
    if frame.replica_context is None:
        raise RuntimeError(f"{function} is for the loss of a replica: call it inside of strategy.experimental_run_v2")
    return frame.strategy.num_replicas_in_sync


def _beside_losses(weights, losses):
    """Weights with a last axis of size 1 more or less than they came with, where losses have it so."""
    if weights.shape.rank is None or losses.shape.rank is None or weights.shape.rank == 0:
        return weights
    more = weights.shape.rank - losses.shape.rank
    if more == 1:
        return array.squeeze(weights, [-1])
    return array.expand_dims(weights, -1) if more == -1 else weights


def scale_regularization_loss(regularization_loss):
    """The sum of regularization losses over the number of replicas, which is one.

    Args:
        regularization_loss: The losses.

    Returns:
        A scalar.

    Example:
        >>> sess.run(tf.nn.scale_regularization_loss(tf.constant([1.0, 3.0])))
        np.float32(4.0)
    """
    replicas = _replicas("scale_regularization_loss")
    return math_ops.reduce_sum(regularization_loss) / replicas


shape_rule("L2Loss")(scalar_output)


@shape_rule("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy_shape(op):
    features, labels = op.inputs[0].shape, op.inputs[1].shape
    both = broadcast(features, labels) if features.rank == labels.rank == 2 else features.merge_with(labels)
    both = both.with_rank(2)
    return [TensorShape(both.dims[:1]), both]


@shape_rule("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy_shape(op):
    features, labels = op.inputs[0].shape.with_rank(2), op.inputs[1].shape.with_rank(1)
    batch = features.dims[0].merge_with(labels.dims[0])
    return [TensorShape([batch]), TensorShape([batch, features.dims[1]])]
