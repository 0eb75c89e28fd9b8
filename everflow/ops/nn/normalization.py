"""Moments, batch normalization by hand and fused, and normalizing by norms."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, same_size
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.array.constants import constant

# The fused kernels take no smaller epsilon.
_SMALLEST_EPSILON = 1.001e-5


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by the root of its summed squares along axes; `epsilon` is the least sum.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis or axes to sum along; all if None.
        epsilon: The least sum of squares.
        name: The name of the operation in the graph.
        dim: An older name of `axis`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.nn.l2_normalize([3.0, 4.0], axis=0))
        array([0.6, 0.8], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
        inverse = math_ops.rsqrt(math_ops.maximum(squares, epsilon))
        return math_ops.multiply(x, inverse, name=name)


def l2_normalize_v2(x, axis=None, epsilon=1e-12, name=None):
    """As `l2_normalize`, without the name that its `axis` had once."""
    return l2_normalize(x, axis, epsilon, name)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Images divided by `(bias + alpha * sum of squares over neighbouring channels) ** beta`.

    Args:
        input: Images [batch, height, width, channels].
        depth_radius: How many neighbouring channels on each side count.
        bias: What is added to the sum.
        alpha: What the sum is multiplied by.
        beta: The power.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.nn.local_response_normalization([[[[1.0, 2.0]]]]))
        array([[[[0.40824828, 0.81649655]]]], dtype=float32)
    """
    return raw.LRN(input=input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """What mean and variance over axes are computed from: the count, the sum, the sum of squares, and the shift.

    Args:
        x: A tensor, or what can be made one.
        axes: The axes to reduce.
        shift: What is subtracted first, so that squares stay small.
        keep_dims: An older name of `keepdims`.
        name: The name of the operation in the graph.
        keepdims: Whether axes that are reduced stay, with the length 1.

    Returns:
        The count, the sum, the sum of squares, and the shift or None.

    Example:
        >>> counts, total, squares, shift = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])
        >>> sess.run([counts, total, squares])
        [np.float32(2.0), np.float32(4.0), np.float32(10.0)]
    """
    axes = list(set(axes))
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        sizes = x.shape.as_list() if x.shape.rank is not None else None
        if sizes is not None and all(sizes[axis] is not None for axis in axes):
            counts = 1
            for axis in axes:
                counts *= sizes[axis]
            counts = constant(counts, dtype=x.dtype)
        else:
            sizes = array.gather(math_ops.cast(array.shape(x), x.dtype), axes)
            counts = math_ops.reduce_prod(sizes, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            mean_terms = math_ops.subtract(x, shift)
            variance_terms = math_ops.squared_difference(x, shift)
        else:
            mean_terms = x
            variance_terms = math_ops.square(x)
        mean_sum = math_ops.reduce_sum(mean_terms, axes, keepdims=keep_dims, name="mean_ss")
        variance_sum = math_ops.reduce_sum(variance_terms, axes, keepdims=keep_dims, name="var_ss")
    return counts, mean_sum, variance_sum, shift


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """Mean and variance from `sufficient_statistics`.

    Args:
        counts: How many entries there were.
        mean_ss: The sum, less the shift.
        variance_ss: The sum of squares, less the shift.
        shift: The shift, or None.
        name: The name of the operation in the graph.

    Returns:
        The mean and the variance.

    Example:
        >>> counts, total, squares, shift = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])
        >>> sess.run(tf.nn.normalize_moments(counts, total, squares, shift))
        (np.float32(2.0), np.float32(1.0))
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math_ops.add(shifted, shift, name="mean")
        else:
            shifted = mean = math_ops.multiply(mean_ss, divisor, name="mean")
        variance = math_ops.subtract(math_ops.multiply(variance_ss, divisor), math_ops.square(shifted), name="variance")
    return mean, variance


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """Mean and variance over axes; half precision is computed in float32. `shift` is not used.

    Args:
        x: A tensor, or what can be made one.
        axes: The axes to reduce.
        shift: No effect.
        name: The name of the operation in the graph.
        keep_dims: An older name of `keepdims`.
        keepdims: Whether axes that are reduced stay, with the length 1.

    Returns:
        The mean and the variance.

    Example:
        >>> sess.run(tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axes=[0]))
        (array([2., 4.], dtype=float32), array([1., 4.], dtype=float32))
    """
    del shift  # kept from when it helped precision
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        y = math_ops.cast(x, dtypes.float32) if x.dtype.base_dtype == dtypes.float16 else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(
            math_ops.squared_difference(y, array.stop_gradient(mean)), axes, keepdims=True, name="variance"
        )
        return _finished(mean, variance, axes, keep_dims, x.dtype)


def _finished(mean, variance, axes, keep_dims, dtype):
    """Both without the reduced dimensions where these are not kept, and in half precision where x was."""
    if not keep_dims:
        mean, variance = array.squeeze(mean, axes), array.squeeze(variance, axes)
    if dtype.base_dtype == dtypes.float16:
        return math_ops.cast(mean, dtypes.float16), math_ops.cast(variance, dtypes.float16)
    return mean, variance


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """Mean and variance over axes of entries that count as often as `frequency_weights` says.

    Args:
        x: A tensor, or what can be made one.
        axes: The axes to reduce.
        frequency_weights: How often each entry counts.
        name: The name of the operation in the graph.
        keep_dims: An older name of `keepdims`.
        keepdims: Whether axes that are reduced stay, with the length 1.

    Returns:
        The mean and the variance.

    Example:
        >>> sess.run(tf.nn.weighted_moments([1.0, 4.0], [0], [3.0, 1.0]))
        (np.float32(1.75), np.float32(1.6875))
    """
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        dtype = x.dtype
        if dtype.base_dtype == dtypes.float16:
            x = math_ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        total = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # Adding zeros of x's shape broadcasts the weights to it.
        spread = weights + array.zeros_like(x)
        weight_sum = math_ops.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        divisor = math_ops.reciprocal(weight_sum, name="inv_weight_sum")
        mean = math_ops.multiply(total, divisor)
        squares = math_ops.reduce_sum(
            weights * math_ops.squared_difference(x, mean), axes, name="weighted_distsq", keepdims=True
        )
        variance = math_ops.multiply(squares, divisor)
        return _finished(mean, variance, axes, keep_dims, dtype)


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`; scale and offset may be None.

    Args:
        x: A tensor, or what can be made one.
        mean: The mean, which broadcasts.
        variance: The variance, which broadcasts.
        offset: What is added, or None.
        scale: What the result is multiplied by before, or None.
        variance_epsilon: A small number that keeps the division finite.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of `x`.

    Example:
        >>> x = tf.constant([[1.0], [3.0]])
        >>> mean, variance = tf.nn.moments(x, axes=[0])
        >>> sess.run(tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3))
        array([[-0.9995004],
               [ 0.9995005]], dtype=float32)
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        return x * math_ops.cast(inverse, x.dtype) + math_ops.cast(
            offset - mean * inverse if offset is not None else -mean * inverse, x.dtype
        )


def batch_norm_with_global_normalization(
    t=None,
    m=None,
    v=None,
    beta=None,
    gamma=None,
    variance_epsilon=None,
    scale_after_normalization=None,
    name=None,
    input=None,
    mean=None,
    variance=None,
):
    """The oldest form of batch normalization; gamma counts only with `scale_after_normalization`.

    Args:
        t: Images [batch, height, width, channels].
        m: The mean of each channel.
        v: The variance of each channel.
        beta: What is added to each channel.
        gamma: What each channel is multiplied by.
        variance_epsilon: A small number that keeps the division finite.
        scale_after_normalization: Whether `gamma` counts.
        name: The name of the operation in the graph.
        input: Another name of `t`.
        mean: Another name of `m`.
        variance: Another name of `v`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> y = tf.nn.batch_norm_with_global_normalization(
        ...     tf.constant([[[[3.0]]]]), tf.constant([1.0]), tf.constant([4.0]), tf.constant([0.5]), tf.constant([2.0]), 0.0, True)
        >>> sess.run(y)
        array([[[[2.5]]]], dtype=float32)
    """
    renamed = (("input", input, "t", t), ("mean", mean, "m", m), ("variance", variance, "v", v))
    scale = gamma if scale_after_normalization else None
    return batch_normalization(*(either(*names) for names in renamed), beta, scale, variance_epsilon, name)


def fused_batch_norm(
    x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True, name=None
):
    """Batch normalization of images in one op. Returns y, and the mean and variance used.

    In training these are the batch's, the variance without bias; else they are those given.

    Args:
        x: Images [batch, height, width, channels].
        scale: What each channel is multiplied by.
        offset: What is added to each channel.
        mean: The mean of each channel, where it is not training.
        variance: The variance of each channel, where it is not training.
        epsilon: A small number that keeps a division from being one by zero.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        is_training: Whether the batch's own mean and variance are used.
        name: The name of the operation in the graph.

    Returns:
        The images, the mean and the variance.

    Raises:
        ValueError: If a mean or variance is given in training.

    Example:
        >>> y, mean, variance = tf.nn.fused_batch_norm([[[[1.0]]], [[[3.0]]]], [1.0], [0.0])
        >>> sess.run([mean, variance])
        [array([2.], dtype=float32), array([2.], dtype=float32)]
    """
    if is_training and (mean is not None or variance is not None):
        raise ValueError("In training, mean and variance are the batch's: leave them out, or set is_training=False")
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    mean = constant([]) if mean is None else mean
    variance = constant([]) if variance is None else variance
    y, batch_mean, batch_variance, *_ = raw.FusedBatchNormV3(
        x=x,
        scale=scale,
        offset=offset,
        mean=mean,
        variance=variance,
        epsilon=max(epsilon, _SMALLEST_EPSILON),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, batch_mean, batch_variance


# Static shapes


def _channels(op, image):
    image = image.with_rank(4)
    return image, image.dims[1 if op.attrs.get("data_format") == b"NCHW" else 3]


@shape_rule("LRN", "LRNGrad")
def _lrn_shape(op):
    image = op.inputs[0].shape.with_rank(4)
    for other in op.inputs[1:]:
        image = image.merge_with(other.shape)
    return image


@shape_rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm_shape(op):
    image, channels = _channels(op, op.inputs[0].shape)
    vectors = op.inputs[1:3] if op.attrs["is_training"] else op.inputs[1:5]
    for vector in vectors:
        channels = same_size(channels, vector.shape.with_rank(1).size(0))
    dims = image.dims
    dims[1 if op.attrs["data_format"] == b"NCHW" else 3] = channels
    shapes = [TensorShape(dims)] + [TensorShape([channels])] * 4
    return shapes + [TensorShape(None)] * (op.type == "FusedBatchNormV3")


@shape_rule("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _fused_batch_norm_grad_shape(op):
    image, channels = _channels(op, op.inputs[0].shape)
    image = image.merge_with(op.inputs[1].shape)
    for vector in op.inputs[2:5]:
        channels = same_size(channels, vector.shape.with_rank(1).size(0))
    vector = TensorShape([channels])
    # The statistics have gradients only where they were given rather than computed.
    statistics = TensorShape([0]) if op.attrs["is_training"] else vector
    return [image, vector, vector, statistics, statistics]


@shape_rule("BatchNormWithGlobalNormalization")
def _global_normalization_shape(op):
    image, channels = _channels(op, op.inputs[0].shape)
    for vector in op.inputs[1:]:
        channels = same_size(channels, vector.shape.with_rank(1).size(0))
    return TensorShape([*image.dims[:3], channels])


@shape_rule("BatchNormWithGlobalNormalizationGrad")
def _global_normalization_grad_shape(op):
    image, channels = _channels(op, op.inputs[0].shape.merge_with(op.inputs[4].shape))
    for vector in op.inputs[1:4]:
        channels = same_size(channels, vector.shape.with_rank(1).size(0))
    return [TensorShape([*image.dims[:3], channels])] + [TensorShape([channels])] * 4
