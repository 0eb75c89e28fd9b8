"""The backend's convolutions and pooling, with channels last or first. Channels that come second are moved to the end
and back: a processor
wants them there."""

from __future__ import annotations

import itertools

from everflow.keras.backend.config import normalize_data_format
from everflow.keras.backend.values import int_shape, ndim
from everflow.ops import array, math
from everflow.ops.nn import activations as nn_ops
from everflow.ops.nn import atrous as nn_atrous
from everflow.ops.nn import convolution as nn_convolution
from everflow.ops.nn import pooling as nn_pooling

_PADDINGS = {"same": "SAME", "valid": "VALID"}


def _padding(padding):
    if padding not in _PADDINGS:
        raise ValueError("Invalid padding: " + str(padding))
    return _PADDINGS[padding]


def _channels_last(x, data_format, spatial):
    """The input and its layout by TensorFlow's name, with channels moved to the end where they are second."""
    last = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[spatial]
    if data_format == "channels_first":
        x = array.transpose(x, (0, *range(2, spatial + 2), 1))
    return x, last


def _as_it_was(x, data_format, spatial):
    return array.transpose(x, (0, spatial + 1, *range(1, spatial + 1))) if data_format == "channels_first" else x


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution over sequences; with padding "causal" no output sees what comes later.

    Args:
        x: A tensor, or what can be made one.
        kernel: The kernel: [spatial..., in, out].
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.conv1d(tf.ones([1, 8, 3]), tf.ones([3, 3, 5]), padding="causal").shape.as_list()
        [1, 8, 5]
    """
    data_format = normalize_data_format(data_format)
    length = kernel.shape.as_list()[0]
    if padding == "causal":
        before = dilation_rate * (length - 1)
        x = array.pad(x, [[0, 0], [before, 0], [0, 0]])
        padding = "valid"
    padding = _padding(padding)
    x, layout = _channels_last(x, data_format, 1)
    x = nn_atrous.convolution(
        input=x, filter=kernel, dilation_rate=(dilation_rate,), strides=(strides,), padding=padding, data_format=layout
    )
    return _as_it_was(x, data_format, 1)


def _convolution(x, kernel, strides, padding, data_format, dilation_rate, spatial):
    data_format = normalize_data_format(data_format)
    x, layout = _channels_last(x, data_format, spatial)
    how = {"dilation_rate": dilation_rate, "strides": strides, "padding": _padding(padding), "data_format": layout}
    x = nn_atrous.convolution(input=x, filter=kernel, **how)
    return _as_it_was(x, data_format, spatial)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution over images.

    Args:
        x: A tensor, or what can be made one.
        kernel: The kernel: [spatial..., in, out].
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.conv2d(tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 5])).shape.as_list()
        [1, 6, 6, 5]
    """
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    """A convolution over volumes.

    Args:
        x: A tensor, or what can be made one.
        kernel: The kernel: [spatial..., in, out].
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([3, 3, 3, 2, 5])).shape.as_list()
        [1, 2, 2, 2, 5]
    """
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 3)


def _transposed_output_shape(x, output_shape, data_format, spatial):
    """The output's shape with channels last, the batch size taken from the input where it isn't known."""
    if data_format == "channels_first":
        output_shape = tuple(output_shape[i] for i in (0, *range(2, spatial + 2), 1))
    if output_shape[0] is None:
        output_shape = (array.shape(x)[0], *tuple(output_shape[1:]))
    return array.stack(list(output_shape)) if isinstance(output_shape, (list, tuple)) else output_shape


def conv2d_transpose(x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """The transpose of a convolution over images: from the shape of its output to that of its input.

    Args:
        x: A tensor, or what can be made one.
        kernel: The kernel: [height, width, out, in].
        output_shape: The shape of the result.
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.conv2d_transpose(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 5, 2]), [1, 6, 6, 5]).shape.as_list()
        [1, 6, 6, 5]
    """
    data_format = normalize_data_format(data_format)
    x, layout = _channels_last(x, data_format, 2)
    output_shape = _transposed_output_shape(x, output_shape, data_format, 2)
    padding = _padding(padding)
    if tuple(dilation_rate) == (1, 1):
        x = nn_convolution.conv2d_transpose(
            x, kernel, output_shape, (1, *strides, 1), padding=padding, data_format=layout
        )
    else:
        if dilation_rate[0] != dilation_rate[1]:
            raise ValueError(
                f"Expected the 2 dimensions of the `dilation_rate` argument to be equal to each other. Received: {dilation_rate}"
            )
        x = nn_atrous.atrous_conv2d_transpose(x, kernel, output_shape, rate=dilation_rate[0], padding=padding)
    return _as_it_was(x, data_format, 2)


def conv3d_transpose(x, kernel, output_shape, strides=(1, 1, 1), padding="valid", data_format=None):
    """The transpose of a convolution over volumes."""
    data_format = normalize_data_format(data_format)
    x, layout = _channels_last(x, data_format, 3)
    output_shape = _transposed_output_shape(x, output_shape, data_format, 3)
    x = nn_convolution.conv3d_transpose(
        x, kernel, output_shape, (1, *strides, 1), padding=_padding(padding), data_format=layout
    )
    return _as_it_was(x, data_format, 3)


def separable_conv1d(
    x, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    """A convolution over sequences of each channel by itself, then one that mixes the channels."""
    data_format = normalize_data_format(data_format)
    strides = strides if isinstance(strides, int) else strides[0]
    dilation_rate = dilation_rate if isinstance(dilation_rate, int) else dilation_rate[0]
    x, _ = _channels_last(x, data_format, 1)
    # As images of one row.
    how = {"padding": _padding(padding), "rate": (1, dilation_rate), "data_format": "NHWC"}
    x, *kernels = array.expand_dims(x, 1), *(array.expand_dims(k, 0) for k in (depthwise_kernel, pointwise_kernel))
    x = nn_atrous.separable_conv2d(x, *kernels, strides=(1, strides, strides, 1), **how)
    return _as_it_was(array.squeeze(x, [1]), data_format, 1)


def separable_conv2d(
    x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """A convolution over images of each channel by itself, then one that mixes the channels.

    Args:
        x: A tensor, or what can be made one.
        depthwise_kernel: The kernel of each channel: [height, width, in, multiplier].
        pointwise_kernel: What mixes the channels: [1, 1, in * multiplier, out].
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.separable_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5])).shape.as_list()
        [1, 2, 2, 5]
    """
    data_format = normalize_data_format(data_format)
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    x, layout = _channels_last(x, data_format, 2)
    how = {"padding": _padding(padding), "rate": dilation_rate, "data_format": layout}
    x = nn_atrous.separable_conv2d(x, depthwise_kernel, pointwise_kernel, (1, *strides, 1), **how)
    return _as_it_was(x, data_format, 2)


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution over images of each channel by itself."""
    data_format = normalize_data_format(data_format)
    x, layout = _channels_last(x, data_format, 2)
    x = nn_atrous.depthwise_conv2d(
        x, depthwise_kernel, strides=(1, *strides, 1), padding=_padding(padding), rate=dilation_rate, data_format=layout
    )
    return _as_it_was(x, data_format, 2)


# --- pooling -------------------------------------------------------------------------------------


def _pool(builders, x, pool_size, strides, padding, data_format, pool_mode):
    spatial = ndim(x) - 2
    x, layout = _channels_last(x, normalize_data_format(data_format), spatial)
    padding = _padding(padding)
    if pool_mode not in builders:
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    x = builders[pool_mode](x, (1, *pool_size, 1), (1, *strides, 1), padding=padding, data_format=layout)
    return _as_it_was(x, normalize_data_format(data_format), spatial)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest value or the mean of windows over images.

    Args:
        x: A tensor, or what can be made one.
        pool_size: The extent of the window along each axis.
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        pool_mode: `max` or `avg`.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.pool2d(tf.ones([1, 4, 4, 3]), (2, 2), (2, 2)).shape.as_list()
        [1, 2, 2, 3]
    """
    for name, value in (("pool_size", pool_size), ("strides", strides)):
        if len(value) != 2:
            raise ValueError(f"`{name}` must be a tuple of 2 integers.")
    builders = {"max": nn_pooling.max_pool, "avg": nn_pooling.avg_pool}
    return _pool(builders, x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest value or the mean of windows over volumes.

    Args:
        x: A tensor, or what can be made one.
        pool_size: The extent of the window along each axis.
        strides: How far the window moves from one place to the next.
        padding: `same` or `valid`; of sequences, `causal`, too.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        pool_mode: `max` or `avg`.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.pool3d(tf.ones([1, 4, 4, 4, 3]), (2, 2, 2), (2, 2, 2)).shape.as_list()
        [1, 2, 2, 2, 3]
    """
    builders = {"max": nn_pooling.max_pool3d, "avg": nn_pooling.avg_pool3d}
    return _pool(builders, x, pool_size, strides, padding, data_format, pool_mode)


# --- each place with weights of its own ----------------------------------------------------------


def local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """A convolution whose kernel differs from place to place: kernel has a matrix for each of `output_shape`."""
    data_format = normalize_data_format(data_format)
    kernel_shape = int_shape(kernel)
    features, filters = kernel_shape[1], kernel_shape[-1]
    spatial = len(output_shape)
    windows = []
    for place in itertools.product(*[range(size) for size in output_shape]):
        window = [slice(at * stride, at * stride + size) for at, stride, size in zip(place, strides, kernel_size)]
        everything = slice(None)
        window = (
            (everything, everything, *window) if data_format == "channels_first" else (everything, *window, everything)
        )
        windows.append(array.reshape(inputs[window], (1, -1, features)))
    output = math.matmul(array.concat(windows, axis=0), kernel)
    output = array.reshape(output, (*output_shape, -1, filters))
    if data_format == "channels_first":
        return array.transpose(output, [spatial, spatial + 1, *range(spatial)])
    return array.transpose(output, [spatial, *range(spatial), spatial + 1])


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """A convolution over sequences whose kernel differs from place to place.

    Args:
        inputs: The tensor to work on.
        kernel: The kernels of all places: [places, kernel * in, out].
        kernel_size: The extent of the kernel.
        strides: How far the window moves from one place to the next.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.local_conv1d(tf.ones([1, 4, 2]), tf.ones([3, 4, 5]), (2,), (1,)).shape.as_list()
        [1, 3, 5]
    """
    return local_conv(inputs, kernel, kernel_size, strides, (kernel.shape.as_list()[0],), data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """A convolution over images whose kernel differs from place to place.

    Args:
        inputs: The tensor to work on.
        kernel: The kernels of all places: [places, kernel * in, out].
        kernel_size: The extent of the kernel.
        strides: How far the window moves from one place to the next.
        output_shape: How many rows and columns of places there are.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.local_conv2d(tf.ones([1, 3, 3, 1]), tf.ones([4, 4, 5]), (2, 2), (1, 1), (2, 2)).shape.as_list()
        [1, 2, 2, 5]
    """
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def bias_add(x, bias, data_format=None):
    """A bias for each channel, or for each place and channel, added to a tensor.

    Args:
        x: A tensor, or what can be made one.
        bias: The bias.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If the data format isn't known, or the bias has the wrong rank.

    Example:
        >>> sess.run(tf.keras.backend.bias_add(tf.constant([[1.0, 2.0]]), tf.constant([10.0, 20.0])))
        array([[11., 22.]], dtype=float32)
    """
    data_format = normalize_data_format(data_format)
    bias_shape = int_shape(bias)
    if len(bias_shape) != 1 and len(bias_shape) != ndim(x) - 1:
        raise ValueError(
            f"A bias of {len(bias_shape)} dimensions can't be added to a tensor of {ndim(x)}: it has 1, or {ndim(x) - 1}."
        )
    rank, first = ndim(x), data_format == "channels_first"
    if rank not in (3, 4, 5) or (rank == 4 and len(bias_shape) == 1 and not first):
        return nn_ops.bias_add(x, bias)
    if len(bias_shape) == 1:
        shape = (1, *bias_shape, *(1,) * (rank - 2)) if first else (1,) * (2 if rank == 3 else rank - 2) + bias_shape
    else:
        shape = (1, bias_shape[-1], *bias_shape[:-1]) if first else (1, *bias_shape)
    return x + array.reshape(bias, shape)
