"""Convolutions with their transposes, by the rank of the image, and grey-scale morphology."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array_basic import either
from everflow.ops.nn_arguments import per_dimension, split_padding

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
    """
    filter = either("filters", filters, "filter", filter)
    padding, explicit_paddings = split_padding(padding)
    data_format = "NHWC" if data_format is None else data_format
    axis = _channel_axis(data_format, 2)
    return raw.Conv2D(
        input=input,
        filter=filter,
        strides=per_dimension(strides, 2, axis, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=per_dimension(dilations, 2, axis, "dilations"),
        name=name,
    )


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
    """The gradient of `conv2d` with respect to its filters."""
    padding, explicit_paddings = split_padding(padding)
    return raw.Conv2DBackpropFilter(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


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
    """The gradient of `conv2d` with respect to its images."""
    filter = either("filters", filters, "filter", filter)
    padding, explicit_paddings = split_padding(padding)
    return raw.Conv2DBackpropInput(
        input_sizes=input_sizes,
        filter=filter,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


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
    """`conv2d` backwards: grow images to `output_shape`. Filters have the shape [height, width, out, in]."""
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
    with name_scope(name, "conv2d_transpose", [input, filter, output_shape]) as name:
        data_format = "NHWC" if data_format is None else data_format
        axis = _channel_axis(data_format, 2)
        padding, explicit_paddings = split_padding(padding)
        return raw.Conv2DBackpropInput(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=per_dimension(strides, 2, axis, "strides"),
            padding=padding,
            explicit_paddings=explicit_paddings,
            data_format=data_format,
            dilations=per_dimension(dilations, 2, axis, "dilations"),
            name=name,
        )


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
    """Slide filters of shape [depth, height, width, in, out] over volumes."""
    filter = either("filters", filters, "filter", filter)
    return raw.Conv3D(
        input=input, filter=filter, strides=strides, padding=padding, data_format=data_format, dilations=list(dilations), name=name
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
    """`conv3d` backwards: grow volumes to `output_shape`. Filters have the shape [depth, height, width, out, in]."""
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
        data_format = "NDHWC" if data_format is None else data_format
        axis = _channel_axis(data_format, 3)
        return raw.Conv3DBackpropInputV2(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=per_dimension(strides, 3, axis, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_dimension(dilations, 3, axis, "dilations"),
            name=name,
        )


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
    """The gradient of `conv3d` with respect to its filters."""
    return raw.Conv3DBackpropFilterV2(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


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
    """Slide filters of shape [width, in, out] over sequences; a `conv2d` with images of height one."""
    value = either("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        data_format, start = _one_dimension(data_format)
        axis = 3 if start == 1 else 1
        strides = [1, *_of_sequence(stride, axis, "stride")]
        dilations = [1, *_of_sequence(dilations, axis, "dilations")]
        value = array.expand_dims(value, start)
        filters = array.expand_dims(filters, 0)
        result = raw.Conv2D(
            input=value,
            filter=filters,
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return array.squeeze(result, [start])


def _of_sequence(value, channel_axis, name):
    """Strides or dilations of a sequence [batch, width, channels] or [batch, channels, width]; the first goes before, for the height."""
    return per_dimension(value, 1, 2 if channel_axis == 3 else 1, name)


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
    """`conv1d` backwards: grow sequences to `output_shape`. Filters have the shape [width, out, in]."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        data_format, start = _one_dimension(data_format)
        axis = 3 if start == 1 else 1
        strides = [1, *_of_sequence(strides, axis, "strides")]
        dilations = [1, *_of_sequence(dilations, axis, "dilations")]
        input = array.expand_dims(input, start)
        filters = array.expand_dims(filters, 0)
        if hasattr(output_shape, "op"):
            output_shape = array.concat([output_shape[:start], [1], output_shape[start:]], axis=0)
        else:
            output_shape = list(output_shape)
            output_shape = array.concat([output_shape[:start], [1], output_shape[start:]], axis=0)
        result = raw.Conv2DBackpropInput(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return array.squeeze(result, start)


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
    """The transpose of a convolution over one, two or three spatial dimensions, as many as `output_shape` says."""
    with name_scope(name, "conv_transpose", [input, filter, output_shape]) as name:
        if hasattr(output_shape, "op"):
            rank = output_shape.shape.as_list()[0]
        elif isinstance(output_shape, TensorShape):
            rank = len(output_shape)
        else:
            try:
                rank = len(output_shape)
            except TypeError:
                raise ValueError(f"output_shape must be a tensor or a list of sizes, not {output_shape!r}") from None
        if rank - 2 not in _TRANSPOSES:
            raise ValueError(f"output_shape must have three to five sizes, not {rank}")
        return _TRANSPOSES[rank - 2](
            input, filters, output_shape, strides, padding=padding, data_format=data_format, dilations=dilations, name=name
        )


def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=_ONES, name=None):
    """A filter of its own for each channel: filters have the shape [height, width, in, multiplier]."""
    return raw.DepthwiseConv2dNative(
        input=input, filter=filter, strides=strides, padding=padding, data_format=data_format, dilations=dilations, name=name
    )


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
    """The gradient of `depthwise_conv2d_native` with respect to its images."""
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
    """The gradient of `depthwise_conv2d_native` with respect to its filters."""
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
    """Grey-scale dilation: the largest of image plus structuring function under each window."""
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return raw.Dilation2D(input=input, filter=filter, strides=strides, rates=rates, padding=padding, name=name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Grey-scale erosion: the smallest of image minus structuring function under each window."""
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        negative = math_ops.negative(value)
        flipped = array.reverse(kernel, [0, 1])
        dilated = raw.Dilation2D(input=negative, filter=flipped, strides=strides, rates=rates, padding=padding, name=name)
        return math_ops.negative(dilated)
