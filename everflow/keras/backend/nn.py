"""The backend's activations, losses and normalisations."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.keras.backend.arithmetic import constant_to_tensor
from everflow.keras.backend.config import epsilon
from everflow.keras.backend.values import named, ndim
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn import activations as nn_ops
from everflow.ops.nn.dropout import dropout_v2
from everflow.ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from everflow.ops.nn.normalization import batch_normalization as _batch_normalization
from everflow.ops.nn.normalization import fused_batch_norm, moments
from everflow.ops.nn.top_k import in_top_k as _in_top_k
from everflow.ops.variables.variable import Variable

# --- activations ---------------------------------------------------------------------------------


def relu(x, alpha=0.0, max_value=None, threshold=0):
    """Zero, or alpha times the distance to it, below the threshold; x itself above; at most `max_value`.

    Args:
        x: A tensor, or what can be made one.
        alpha: The slope, or scale, below.
        max_value: The greatest value; None for any.
        threshold: Where it begins.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.relu(tf.constant([-1.0, 2.0, 9.0]), alpha=0.1, max_value=6.0))
        array([-0.1,  2. ,  6. ], dtype=float32)
    """
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return nn_ops.leaky_relu(x, alpha=alpha)
        negative_part = nn_ops.relu(-x + threshold if threshold != 0 else -x)
    clip_max = max_value is not None
    if threshold != 0:
        x = x * math.cast(math.greater(x, threshold), x.dtype.base_dtype)
    elif max_value == 6:
        x = nn_ops.relu6(x)
        clip_max = False
    else:
        x = nn_ops.relu(x)
    if clip_max:
        highest = constant_to_tensor(max_value, x.dtype.base_dtype)
        x = clip_by_value(x, constant_to_tensor(0.0, x.dtype.base_dtype), highest)
    if alpha != 0.0:
        alpha = constant_to_tensor(alpha, x.dtype.base_dtype)
        x -= alpha * negative_part
    return x


def elu(x, alpha=1.0):
    """x above zero, alpha * (exp(x) - 1) below.

    Args:
        x: A tensor, or what can be made one.
        alpha: The slope, or scale, below.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.elu(tf.constant([-1.0, 2.0])))
        array([-0.63212055,  2.        ], dtype=float32)
    """
    result = nn_ops.elu(x)
    return result if alpha == 1 else array.where(x > 0, result, alpha * result)


softmax = named(
    "softmax",
    """Probabilities from scores, along an axis.

Args:
    x: A tensor, or what can be made one.
    axis: The axis to work along; negative ones count from the last.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.backend.softmax(tf.constant([[1.0, 3.0]])))
    array([[0.11920291, 0.880797  ]], dtype=float32)
""",
    lambda x, axis=-1: nn_ops.softmax(x, axis=axis),
)
softplus = named(
    "softplus",
    """log(exp(x) + 1).

Args:
    x: A tensor, or what can be made one.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.activations.softplus(tf.constant([-1.0, 2.0])))
    array([0.3132617, 2.126928 ], dtype=float32)
""",
    lambda x: nn_ops.softplus(x),
)
softsign = named(
    "softsign",
    """x / (1 + |x|).

Args:
    x: A tensor, or what can be made one.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.activations.softsign(tf.constant([-1.0, 2.0])))
    array([-0.5      ,  0.6666667], dtype=float32)
""",
    lambda x: nn_ops.softsign(x),
)
sigmoid = named(
    "sigmoid",
    """1 / (1 + exp(-x)).

Args:
    x: A tensor, or what can be made one.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.activations.sigmoid(tf.constant([-1.0, 2.0])))
    array([0.26894143, 0.880797  ], dtype=float32)
""",
    lambda x: math.sigmoid(x),
)


def hard_sigmoid(x):
    """A sigmoid of three straight lines: 0.2 * x + 0.5 within [0, 1].

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.activations.hard_sigmoid(tf.constant([-1.0, 2.0])))
        array([0.3, 0.9], dtype=float32)
    """
    slope = constant_to_tensor(0.2, x.dtype.base_dtype)
    middle = constant_to_tensor(0.5, x.dtype.base_dtype)
    return clip_by_value(math.add(math.multiply(x, slope), middle), 0.0, 1.0)


tanh = named(
    "tanh",
    """The hyperbolic tangent.

Args:
    x: A tensor, or what can be made one.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.activations.tanh(tf.constant([-1.0, 2.0])))
    array([-0.7615942,  0.9640276], dtype=float32)
""",
    lambda x: math.tanh(x),
)


def dropout(x, level, noise_shape=None, seed=None):
    """A fraction `level` of elements set to zero, the others made larger to keep the sum.

    Args:
        x: A tensor, or what can be made one.
        level: The part that is dropped.
        noise_shape: The shape of what is decided; 1 where all entries along an axis are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A tensor of the same shape.

    Example:
        >>> set(sess.run(tf.keras.backend.dropout(tf.ones([8]), 0.5)).tolist()) <= {0.0, 2.0}
        True
    """
    if seed is None:
        seed = np.random.randint(int(10e6))
    return dropout_v2(x, rate=level, noise_shape=noise_shape, seed=seed)


# --- losses --------------------------------------------------------------------------------------


def _logits_behind(output, op_type):
    """The scores that an activation made these probabilities of, where the graph shows them: they are more precise."""
    if hasattr(output, "numpy") or isinstance(output, Variable) or output.op.type != op_type:
        return None
    if len(output.op.inputs) != 1:
        raise AssertionError(f"{op_type} has one input")
    return output.op.inputs[0]


def _clipped(output):
    small = constant_to_tensor(epsilon(), output.dtype.base_dtype)
    return small, clip_by_value(output, small, 1.0 - small)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross entropy between rows of probabilities, or scores where `from_logits` is set.

    Args:
        target: What is right.
        output: What was predicted.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        axis: The axis of classes.

    Returns:
        A tensor without that axis.

    Raises:
        ValueError: If the axis is out of range.

    Example:
        >>> sess.run(tf.keras.backend.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.6931472], dtype=float32)
    """
    if not from_logits:
        logits = _logits_behind(output, "Softmax")
        if logits is None:
            output = output / math.reduce_sum(output, axis, True)
            _, output = _clipped(output)
            return -math.reduce_sum(target * math.log(output), axis)
        output = logits
    return softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross entropy between numbers of classes and rows of probabilities, or scores where `from_logits` is set.

    Args:
        target: What is right.
        output: What was predicted.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        axis: The axis of classes.

    Returns:
        A tensor without that axis.

    Raises:
        ValueError: If the axis is out of range.

    Example:
        >>> sess.run(tf.keras.backend.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])))
        array([0.6931472], dtype=float32)
    """
    output = convert_to_tensor(output)
    if not from_logits:
        logits = _logits_behind(output, "Softmax")
        if logits is None:
            _, output = _clipped(output)
            logits = math.log(output)
        output = logits
    rank = output.shape.ndims
    if rank is not None:
        axis %= rank
        if axis != rank - 1:
            output = array.transpose(output, perm=[*range(axis), *range(axis + 1, rank), axis])
    elif axis != -1:
        raise ValueError(
            f"With `axis={axis}` the rank of the output has to be known, and that of {output} isn't; -1 always works."
        )
    target = math.cast(target, dtypes.int64)
    # What isn't a plain matrix of scores becomes one, and the losses get the shape of the targets back.
    output_shape = array.shape(output)
    target_rank = target.shape.ndims
    update_shape = target_rank is not None and rank is not None and target_rank != rank - 1
    if update_shape:
        target = array.reshape(target, [-1])
        output = array.reshape(output, [-1, output_shape[-1]])
    result = sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    if update_shape and rank >= 3:
        return array.reshape(result, output_shape[:-1])
    return result


def binary_crossentropy(target, output, from_logits=False):
    """The cross entropy of single probabilities, or scores where `from_logits` is set.

    Args:
        target: What is right.
        output: What was predicted.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.binary_crossentropy(tf.constant([1.0]), tf.constant([0.5])))
        array([0.69314694], dtype=float32)
    """
    if not from_logits:
        logits = _logits_behind(output, "Sigmoid")
        if logits is None:
            _, output = _clipped(output)
            loss = target * math.log(output + epsilon())
            loss += (1 - target) * math.log(1 - output + epsilon())
            return -loss
        output = logits
    return sigmoid_cross_entropy_with_logits(labels=target, logits=output)


in_top_k = named(
    "in_top_k",
    """Whether each target is among the k largest predictions of its row.

    Args:
        predictions: Scores [batch, classes].
        targets: The right classes [batch].
        k: How many predictions count.

    Returns:
        Bools [batch].

    Example:
        >>> sess.run(tf.keras.backend.in_top_k(tf.constant([[0.1, 0.6, 0.3]]), tf.constant([2]), 2))
        array([ True])
    """,
    lambda predictions, targets, k: _in_top_k(predictions, targets, k),
)


# --- normalisation -------------------------------------------------------------------------------


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """x brought to mean 0 and variance 1 with the given statistics, then scaled by gamma and moved by beta.

    Args:
        x: A tensor, or what can be made one.
        mean: The mean.
        var: The variance.
        beta: What is added, or None.
        gamma: What the result is multiplied by before, or None.
        axis: The axis to work along; negative ones count from the last.
        epsilon: A small number that keeps a division from being one by zero.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.batch_normalization(tf.constant([[3.0]]), 1.0, 4.0, 0.5, 2.0, epsilon=0.0))
        array([[2.5]], dtype=float32)
    """
    data_format = {1: "NCHW", 3: "NHWC", -1: "NHWC"}.get(axis) if ndim(x) == 4 else None
    if data_format is None:
        return _batch_normalization(x, mean, var, beta, gamma, epsilon)
    if beta is None:
        beta = array.zeros_like(mean)
    if gamma is None:
        gamma = array.ones_like(mean)
    result, _, _ = fused_batch_norm(
        x, gamma, beta, epsilon=epsilon, mean=mean, variance=var, data_format=data_format, is_training=False
    )
    return result


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """x brought to mean 0 and variance 1 over these axes, scaled and moved; and the mean and the variance.

    Args:
        x: A tensor, or what can be made one.
        gamma: What the result is multiplied by.
        beta: What is added.
        reduction_axes: The axes.
        epsilon: A small number that keeps a division from being one by zero.

    Returns:
        A tensor of the same shape, the mean and the variance.

    Example:
        >>> y, mean, variance = tf.keras.backend.normalize_batch_in_training(tf.constant([[1.0], [3.0]]), [1.0], [0.0], [0])
        >>> sess.run([mean, variance])
        [array([2.], dtype=float32), array([1.], dtype=float32)]
    """
    if ndim(x) == 4 and list(reduction_axes) == [0, 1, 2]:
        channels = [x.shape.as_list()[3]]
        if beta is None:
            beta = constant(0.0, dtype=x.dtype, shape=channels)
        if gamma is None:
            gamma = constant(1.0, dtype=x.dtype, shape=channels)
        return fused_batch_norm(x, gamma, beta, epsilon=epsilon, data_format="NHWC")
    mean, variance = moments(x, reduction_axes, None, None, False)
    if sorted(reduction_axes) == list(range(ndim(x)))[:-1]:
        return _batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance
    shape = array.stack([1 if axis in reduction_axes else array.shape(x)[axis] for axis in range(ndim(x))])
    spread = [None if part is None else array.reshape(part, shape) for part in (mean, variance, gamma, beta)]
    wide_mean, wide_variance, wide_gamma, wide_beta = spread
    return _batch_normalization(x, wide_mean, wide_variance, wide_beta, wide_gamma, epsilon), mean, variance
