"""Convolutions with their transposes, by the rank of the image, and grey-scale morphology."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.nn.arguments import per_dimension, split_padding

_ONES = [1, 1, 1, 1]


def _channel_axis(data_format, spatial: int) -> int:
    return 1 if data_format.startswith("NC") else spatial + 1


def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=_ONES,
    name=None,
    filters=None,
):
    """Slide filters of shape [height, width, in, out] over images.

    `padding` is "SAME", "VALID" or a list of (before, after) pairs, one a dimension.

    Args:
        input: Images [batch, height, width, in].
        filter: The filters: [height, width, in, out].
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        use_cudnn_on_gpu: No effect.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.
        filters: Another name of `filter`.

    Returns:
        Images [batch, height, width, out].

    Example:
        >>> images = tf.ones([1, 3, 3, 1])
        >>> sess.run(tf.nn.conv2d(images, tf.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="SAME"))[0, :, :, 0]
        array([[4., 4., 2.],
               [4., 4., 2.],
               [2., 2., 1.]], dtype=float32)
    """
    filter = either("filters", filters, "filter", filter)
    steps = _steps(2, strides, dilations, data_format)
    return _convolved(
        raw.Conv2D, padding, input=input, filter=filter, use_cudnn_on_gpu=use_cudnn_on_gpu, name=name, **steps
    )


def _convolved(build, padding, **arguments):
    """A 2-D convolution, of which the padding may be a list of pairs."""
    padding, explicit_paddings = split_padding(padding)
    return build(padding=padding, explicit_paddings=explicit_paddings, **arguments)


def _steps(spatial, strides, dilations, data_format):
    """The arguments of a convolution that have an entry for each dimension, and the format that says which is which."""
    data_format = {2: "NHWC", 3: "NDHWC"}[spatial] if data_format is None else data_format
    axis = _channel_axis(data_format, spatial)
    return {
        "strides": per_dimension(strides, spatial, axis, "strides"),
        "dilations": per_dimension(dilations, spatial, axis, "dilations"),
        "data_format": data_format,
    }


def conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=_ONES,
    name=None,
):
    """The gradient of `conv2d` with respect to its filters.

    Args:
        input: Images [batch, height, width, in].
        filter_sizes: The shape of the filters.
        out_backprop: The gradient that comes back from the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        use_cudnn_on_gpu: No effect.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        The gradient, of that shape.

    Example:
        >>> images, grad = tf.ones([1, 3, 3, 1]), tf.ones([1, 2, 2, 1])
        >>> sess.run(tf.nn.conv2d_backprop_filter(images, [2, 2, 1, 1], grad, [1, 1, 1, 1], "VALID"))[:, :, 0, 0]
        array([[4., 4.],
               [4., 4.]], dtype=float32)
    """
    return _convolved(raw.Conv2DBackpropFilter, **locals())


def conv2d_backprop_input(
    input_sizes,
    filter=None,
    out_backprop=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=_ONES,
    name=None,
    filters=None,
):
    """The gradient of `conv2d` with respect to its images.

    Args:
        input_sizes: The shape of the images.
        filter: The filters: [height, width, in, out].
        out_backprop: The gradient that comes back from the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        use_cudnn_on_gpu: No effect.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.
        filters: Another name of `filter`.

    Returns:
        The gradient, of that shape.

    Example:
        >>> grad, filters = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> sess.run(tf.nn.conv2d_backprop_input([1, 3, 3, 1], filters, grad, [1, 1, 1, 1], "VALID"))[0, :, :, 0]
        array([[1., 2., 1.],
               [2., 4., 2.],
               [1., 2., 1.]], dtype=float32)
    """
    arguments = dict(locals())
    arguments["filter"] = either("filters", arguments.pop("filters"), "filter", filter)
    return _convolved(raw.Conv2DBackpropInput, **arguments)


def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    """`conv2d` backwards: grow images to `output_shape`. Filters have the shape [height, width, out, in].

    Args:
        value: Images [batch, height, width, in].
        filter: The filters: [height, width, out, in].
        output_shape: The shape of the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.
        filters: Another name of `filter`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.

    Returns:
        Images of that shape.

    Example:
        >>> tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 5, 2]), [1, 8, 8, 5], [1, 2, 2, 1]).shape.as_list()
        [1, 8, 8, 5]
    """
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        return conv2d_transpose_v2(value, filter, output_shape, strides, padding, data_format, dilations, name)


def conv2d_transpose_v2(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NHWC",
    dilations=None,
    name=None,
):
    """`conv2d_transpose` with its newer argument names."""
    with name_scope(name, "conv2d_transpose", [input, filters, output_shape]) as name:
        steps = _steps(2, strides, dilations, data_format)
        operands = {"input_sizes": output_shape, "filter": filters, "out_backprop": input}
        return _convolved(raw.Conv2DBackpropInput, padding, **operands, **steps, name=name)


def conv3d(
    input,
    filter=None,
    strides=None,
    padding=None,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
    filters=None,
):
    """Slide filters of shape [depth, height, width, in, out] over volumes.

    Args:
        input: Volumes [batch, depth, height, width, in].
        filter: The filters: [depth, height, width, in, out].
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.
        filters: Another name of `filter`.

    Returns:
        Volumes [batch, depth, height, width, out].

    Example:
        >>> tf.nn.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([3, 3, 3, 2, 5]), [1, 1, 1, 1, 1], "SAME").shape.as_list()
        [1, 4, 4, 4, 5]
    """
    filter = either("filters", filters, "filter", filter)
    return raw.Conv3D(
        input=input,
        filter=filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def conv3d_transpose(
    value,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NDHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    """`conv3d` backwards: grow volumes to `output_shape`. Filters have the shape [depth, height, width, out, in].

    Args:
        value: Volumes [batch, depth, height, width, in].
        filter: The filters: [depth, height, width, out, in].
        output_shape: The shape of the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.
        filters: Another name of `filter`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.

    Returns:
        Volumes of that shape.

    Example:
        >>> y = tf.nn.conv3d_transpose(tf.ones([1, 2, 2, 2, 2]), tf.ones([3, 3, 3, 5, 2]), [1, 4, 4, 4, 5], [1, 2, 2, 2, 1])
        >>> y.shape.as_list()
        [1, 4, 4, 4, 5]
    """
    filter = either("filters", filters, "filter", filter)
    value = either("input", input, "value", value)
    return conv3d_transpose_v2(value, filter, output_shape, strides, padding, data_format, dilations, name)


def conv3d_transpose_v2(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NDHWC",
    dilations=None,
    name=None,
):
    """`conv3d_transpose` with its newer argument names."""
    with name_scope(name, "conv3d_transpose", [input, filters, output_shape]) as name:
        steps = _steps(3, strides, dilations, data_format)
        return raw.Conv3DBackpropInputV2(output_shape, filters, input, padding=padding, name=name, **steps)


def conv3d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
):
    """The gradient of `conv3d` with respect to its filters.

    Args:
        input: Volumes [batch, depth, height, width, in].
        filter_sizes: The shape of the filters.
        out_backprop: The gradient that comes back from the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        The gradient, of that shape.

    Example:
        >>> volumes, grad = tf.ones([1, 3, 3, 3, 1]), tf.ones([1, 2, 2, 2, 1])
        >>> sess.run(tf.nn.conv3d_backprop_filter(volumes, [2, 2, 2, 1, 1], grad, [1, 1, 1, 1, 1], "VALID")).shape
        (2, 2, 2, 1, 1)
    """
    return raw.Conv3DBackpropFilterV2(**locals())


def _one_dimension(data_format):
    """The 2-D format that a 1-D one becomes, and where the dimension of size one goes."""
    if data_format is None or data_format in ("NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError("data_format must be 'NWC' or 'NCW'.")


def conv1d(
    value=None,
    filters=None,
    stride=None,
    padding=None,
    use_cudnn_on_gpu=None,
    data_format=None,
    name=None,
    input=None,
    dilations=None,
):
    """Slide filters of shape [width, in, out] over sequences; a `conv2d` with images of height one.

    Args:
        value: Sequences [batch, width, in].
        filters: The filters: [width, in, out].
        stride: How far the filter moves.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        use_cudnn_on_gpu: No effect.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.
        dilations: The distance between the inputs that neighbouring weights of the filter see.

    Returns:
        Sequences [batch, width, out].

    Example:
        >>> sess.run(tf.nn.conv1d([[[1.0], [2.0], [3.0]]], [[[1.0]], [[1.0]]], stride=1, padding="VALID"))[0, :, 0]
        array([3., 5.], dtype=float32)
    """
    value = either("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        start, steps = _steps_of_sequence(stride, dilations, data_format)
        result = raw.Conv2D(
            input=array.expand_dims(value, start),
            filter=array.expand_dims(filters, 0),
            padding=padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            name=name,
            **steps,
        )
        return array.squeeze(result, [start])


def _steps_of_sequence(strides, dilations, data_format):
    """As `_steps`, for sequences as images of height one; before it, where the dimension of that height goes."""
    data_format, start = _one_dimension(data_format)
    channel_axis = 2 if start == 1 else 1
    steps = {
        name: [1, *per_dimension(value, 1, channel_axis, name)]
        for name, value in (("strides", strides), ("dilations", dilations))
    }
    return start, {**steps, "data_format": data_format}


def conv1d_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NWC",
    dilations=None,
    name=None,
):
    """`conv1d` backwards: grow sequences to `output_shape`. Filters have the shape [width, out, in].

    Args:
        input: Sequences [batch, width, in].
        filters: The filters: [width, out, in].
        output_shape: The shape of the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        Sequences of that shape.

    Example:
        >>> tf.nn.conv1d_transpose(tf.ones([1, 4, 2]), tf.ones([3, 5, 2]), [1, 8, 5], strides=2).shape.as_list()
        [1, 8, 5]
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        start, steps = _steps_of_sequence(strides, dilations, data_format)
        input = array.expand_dims(input, start)
        filters = array.expand_dims(filters, 0)
        if not hasattr(output_shape, "op"):
            output_shape = list(output_shape)
        output_shape = array.concat([output_shape[:start], [1], output_shape[start:]], axis=0)
        return array.squeeze(
            raw.Conv2DBackpropInput(output_shape, filters, input, padding=padding, name=name, **steps), start
        )


_TRANSPOSES = {1: conv1d_transpose, 2: conv2d_transpose_v2, 3: conv3d_transpose_v2}


def conv_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format=None,
    dilations=None,
    name=None,
):
    """The transpose of a convolution over one, two or three spatial dimensions, as many as `output_shape` says.

    Args:
        input: Sequences, images or volumes.
        filters: The filters: [spatial..., out, in].
        output_shape: The shape of the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If the rank isn't one of these.

    Example:
        >>> tf.nn.conv_transpose(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 5, 2]), [1, 8, 8, 5], 2).shape.as_list()
        [1, 8, 8, 5]
    """
    with name_scope(name, "conv_transpose", [input, filter, output_shape]) as name:
        if hasattr(output_shape, "op"):
            rank = output_shape.shape.as_list()[0]
        elif hasattr(output_shape, "__len__"):
            rank = len(output_shape)
        else:
            raise ValueError(f"output_shape must be a tensor or a list of sizes, not {output_shape!r}")
        if rank - 2 not in _TRANSPOSES:
            raise ValueError(f"output_shape must have three to five sizes, not {rank}")
        return _TRANSPOSES[rank - 2](
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )


def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=_ONES, name=None):
    """A filter of its own for each channel: filters have the shape [height, width, in, multiplier].

    Args:
        input: Images [batch, height, width, in].
        filter: The filters: [height, width, in, multiplier].
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        Images with `in * multiplier` channels.

    Example:
        >>> tf.nn.depthwise_conv2d_native(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME").shape.as_list()
        [1, 4, 4, 6]
    """
    return raw.DepthwiseConv2dNative(**locals())


def depthwise_conv2d_native_backprop_input(
    input_sizes,
    filter,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=_ONES,
    name=None,
):
    """The gradient of `depthwise_conv2d_native` with respect to its images.

    Args:
        input_sizes: The shape of the images.
        filter: The filters: [height, width, in, multiplier].
        out_backprop: The gradient that comes back from the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        The gradient, of that shape.

    Example:
        >>> grad, filters = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> sess.run(tf.nn.depthwise_conv2d_backprop_input([1, 3, 3, 1], filters, grad, [1, 1, 1, 1], "VALID")).shape
        (1, 3, 3, 1)
    """
    return raw.DepthwiseConv2dNativeBackpropInput(**locals())


def depthwise_conv2d_native_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=_ONES,
    name=None,
):
    """The gradient of `depthwise_conv2d_native` with respect to its filters.

    Args:
        input: Images [batch, height, width, in].
        filter_sizes: The shape of the filters.
        out_backprop: The gradient that comes back from the result.
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: The distance, along each axis, between the inputs that neighbouring weights of the filter see.
        name: The name of the operation in the graph.

    Returns:
        The gradient, of that shape.

    Example:
        >>> images, grad = tf.ones([1, 3, 3, 1]), tf.ones([1, 2, 2, 1])
        >>> sess.run(tf.nn.depthwise_conv2d_backprop_filter(images, [2, 2, 1, 1], grad, [1, 1, 1, 1], "VALID")).shape
        (2, 2, 1, 1)
    """
    return raw.DepthwiseConv2dNativeBackpropFilter(**locals())


def dilation2d(
    input,
    filter=None,
    strides=None,
    rates=None,
    padding=None,
    name=None,
    filters=None,
    dilations=None,
):
    """Grey-scale dilation: the largest of image plus structuring function under each window.

    Args:
        input: Images [batch, height, width, in].
        filter: The structuring function: [height, width, channels].
        strides: How far the filter moves along each dimension.
        rates: How far apart the cells of a window are: [1, rows, columns, 1].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.
        filters: Another name of `filter`.
        dilations: Another name of `rates`.

    Returns:
        Images with the same channels.

    Example:
        >>> sess.run(tf.nn.dilation2d([[[[1.0], [5.0]]]], [[[0.0], [0.0]]], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"))[0, :, :, 0]
        array([[5., 5.]], dtype=float32)
    """
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return raw.Dilation2D(input=input, filter=filter, strides=strides, rates=rates, padding=padding, name=name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Grey-scale erosion: the smallest of image minus structuring function under each window.

    Args:
        value: Images [batch, height, width, channels].
        kernel: The structuring function: [height, width, channels].
        strides: How far the filter moves along each dimension.
        rates: How far apart the cells of a window are: [1, rows, columns, 1].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        Images with the same channels.

    Example:
        >>> sess.run(tf.nn.erosion2d([[[[1.0], [5.0]]]], [[[0.0], [0.0]]], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"))[0, :, :, 0]
        array([[1., 5.]], dtype=float32)
    """
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        negative = math_ops.negative(value)
        flipped = array.reverse(kernel, [0, 1])
        dilated = raw.Dilation2D(
            input=negative, filter=flipped, strides=strides, rates=rates, padding=padding, name=name
        )
        return math_ops.negative(dilated)
