"""Convolutions: plain, transposed, separable and in plane."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.dense import applied, finished, fully_connected, layer_scope
from everflow.contrib.layers.model_variables import layer_variable
from everflow.contrib.layers.outputs import check_data_format, last_dimension, two_element_tuple
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import dimension_value
from everflow.layers import convolutional as base
from everflow.ops import array
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, options_of, takes

_LAYERS = {3: base.Conv1D, 4: base.Conv2D, 5: base.Conv3D}
FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _layer_format(data_format):
    """TensorFlow's name of a data format as layers call it."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


@add_arg_scope
@takes(fully_connected)
def convolution(
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, *, conv_dims=None, **given
):
    """A convolution over as many dimensions as the inputs have, then normalizer or biases, then the activation.

    >>> net = layers.conv2d(images, 32, [3, 3], normalizer_fn=layers.batch_norm)
    """
    if data_format not in FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with layer_scope("Conv", inputs, given) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _LAYERS:
            raise ValueError("Convolution not supported for input with rank", rank)
        own = _own(num_outputs, kernel_size, stride, padding, data_format)
        return applied(_LAYERS[rank], inputs, sc, given, dilation_rate=rate, **own)


def _own(num_outputs, kernel_size, stride, padding, data_format):
    """What a convolution takes as its layer calls it."""
    own = {"filters": num_outputs, "kernel_size": kernel_size, "strides": stride, "padding": padding}
    return {**own, "data_format": _layer_format(data_format)}


def _over(spatial, name):
    """`convolution` for so many dimensions."""

    @takes(options_of(convolution, ["conv_dims"]))
    def convolve(inputs, num_outputs, kernel_size, **given):
        return convolution(inputs, num_outputs, kernel_size, **given, conv_dims=spatial)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = f"`convolution` over {spatial} dimension{'s' if spatial > 1 else ''}."
    return add_arg_scope(convolve)


convolution1d = conv1d = _over(1, "convolution1d")
convolution2d = conv2d = _over(2, "convolution2d")
convolution3d = conv3d = _over(3, "convolution3d")


@add_arg_scope
@takes(fully_connected)
def convolution2d_in_plane(inputs, kernel_size, stride=1, padding="SAME", **given):
    """The same small kernel over each channel by itself: image gradients, for example."""
    with variable_scope(given["scope"], "ConvInPlane", [inputs], reuse=given["reuse"]) as sc:
        height, width = two_element_tuple(kernel_size)
        stride_height, stride_width = two_element_tuple(stride)
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        weights = _variable("weights", [height, width, 1, 1], "weights", inputs, given)
        depthwise = array.tile(weights, [1, 1, channels, 1])
        outputs = nn.depthwise_conv2d(inputs, depthwise, [1, stride_height, stride_width, 1], padding)
        if not given["normalizer_fn"] and given["biases_initializer"] is not None:
            outputs = nn.bias_add(outputs, _variable("biases", [channels], "biases", inputs, given))
        return finished(outputs, sc, given)


conv2d_in_plane = convolution2d_in_plane


def _transposed(name, layer_class, default_scope, default_format):
    """A transposed convolution."""

    @takes(fully_connected)
    def convolve(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=default_format, **given):
        check_data_format(data_format, default_format[0] + "C" + default_format[1:-1], default_format)
        with layer_scope(default_scope, inputs, given) as sc:
            own = _own(num_outputs, kernel_size, stride, padding, data_format)
            return applied(layer_class, convert_to_tensor(inputs), sc, given, **own)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = "The transpose of a convolution, which makes images larger: with stride 2, twice as large."
    return add_arg_scope(convolve)


convolution2d_transpose = conv2d_transpose = _transposed(
    "convolution2d_transpose", base.Conv2DTranspose, "Conv2d_transpose", "NHWC"
)
convolution3d_transpose = conv3d_transpose = _transposed(
    "convolution3d_transpose", base.Conv3DTranspose, "Conv3d_transpose", "NDHWC"
)


_SEPARABLE_NAMES = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}


@add_arg_scope
@takes(inserted(options_of(fully_connected), weights_initializer={"pointwise_initializer": None}))
def separable_convolution2d(
    inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME", data_format="NHWC", rate=1, **given
):
    """A convolution of each channel, then one across channels; only the first where `num_outputs` is None."""
    check_data_format(data_format, "NCHW", "NHWC")
    with layer_scope("SeparableConv2d", inputs, given, _SEPARABLE_NAMES) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            window = {"padding": padding, "rate": two_element_tuple(rate), "data_format": data_format}
            return finished(_depthwise(inputs, kernel_size, depth_multiplier, stride, window, given), sc, given)
        own = _own(num_outputs, kernel_size, stride, padding, data_format)
        own.update(dilation_rate=two_element_tuple(rate), depth_multiplier=depth_multiplier)
        if given["pointwise_initializer"] is not None:
            own["pointwise_initializer"] = given["pointwise_initializer"]
        return applied(base.SeparableConv2D, inputs, sc, given, ("depthwise_kernel", "pointwise_kernel"), **own)


separable_conv2d = separable_convolution2d


def _depthwise(inputs, kernel_size, multiplier, stride, window, given):
    """A convolution of each channel alone, by what `separable_convolution2d` was given."""
    height, width = two_element_tuple(kernel_size)
    stride_height, stride_width = two_element_tuple(stride)
    first = window["data_format"].startswith("NC")
    channels = dimension_value(inputs.get_shape()[1 if first else 3])
    weights = _variable("depthwise_weights", [height, width, channels, multiplier], "weights", inputs, given)
    strides = [1, 1, stride_height, stride_width] if first else [1, stride_height, stride_width, 1]
    outputs = nn.depthwise_conv2d(inputs, weights, strides, **window)
    if given["normalizer_fn"] or given["biases_initializer"] is None:
        return outputs
    biases = _variable("biases", [multiplier * channels], "biases", inputs, given)
    return nn.bias_add(outputs, biases, data_format=window["data_format"])


def _variable(name, shape, kind, inputs, given):
    """The weights or the biases of a layer, by what it was given for variables of that kind."""
    start, regularizer = given[f"{kind}_initializer"], given[f"{kind}_regularizer"]
    collections, trainable = given["variables_collections"], given["trainable"]
    dtype = inputs.dtype.base_dtype
    return layer_variable(name, shape, dtype, start, collections, trainable, kind, regularizer=regularizer)
