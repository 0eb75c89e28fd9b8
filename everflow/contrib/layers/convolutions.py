"""Convolutions: plain, transposed, separable and in plane."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.dense import NAMES, ZEROS, applied, finished
from everflow.contrib.layers.initializers import XAVIER
from everflow.contrib.layers.model_variables import layer_variable, model_variable_getter
from everflow.contrib.layers.outputs import (
    check_data_format,
    last_dimension,
    two_element_tuple,
)
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import dimension_value
from everflow.layers import convolutional as base
from everflow.ops import array
from everflow.ops.variables.scope import variable_scope

_LAYERS = {3: base.Conv1D, 4: base.Conv2D, 5: base.Conv3D}
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _layer_format(data_format):
    """TensorFlow's name of a data format as layers call it."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


@add_arg_scope
def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=nn.relu,
                normalizer_fn=None, normalizer_params=None, weights_initializer=XAVIER, weights_regularizer=None,
                biases_initializer=ZEROS, biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                trainable=True, scope=None, conv_dims=None):  # fmt: skip
    """A convolution over as many dimensions as the inputs have, then normalizer or biases, then the activation.

    >>> net = layers.conv2d(images, 32, [3, 3], normalizer_fn=layers.batch_norm)
    """
    arguments = dict(locals())
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=model_variable_getter(NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _LAYERS:
            raise ValueError("Convolution not supported for input with rank", rank)
        own = {
            "filters": num_outputs,
            "kernel_size": kernel_size,
            "strides": stride,
            "padding": padding,
            "dilation_rate": rate,
        }
        return applied(_LAYERS[rank], inputs, sc, arguments, data_format=_layer_format(data_format), **own)


def _over(spatial, name):
    """`convolution` for so many dimensions."""

    def convolve(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=nn.relu,
                 normalizer_fn=None, normalizer_params=None, weights_initializer=XAVIER, weights_regularizer=None,
                 biases_initializer=ZEROS, biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                 trainable=True, scope=None):  # fmt: skip
        return convolution(
            inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn, normalizer_fn, normalizer_params,
            weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
            outputs_collections, trainable, scope, conv_dims=spatial,
        )  # fmt: skip

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = f"`convolution` over {spatial} dimension{'s' if spatial > 1 else ''}."
    return add_arg_scope(convolve)


convolution1d = conv1d = _over(1, "convolution1d")
convolution2d = conv2d = _over(2, "convolution2d")
convolution3d = conv3d = _over(3, "convolution3d")


@add_arg_scope
def convolution2d_in_plane(inputs, kernel_size, stride=1, padding="SAME", activation_fn=nn.relu, normalizer_fn=None,
                           normalizer_params=None, weights_initializer=XAVIER, weights_regularizer=None,
                           biases_initializer=ZEROS, biases_regularizer=None, reuse=None, variables_collections=None,
                           outputs_collections=None, trainable=True, scope=None):  # fmt: skip
    """The same small kernel over each channel by itself: image gradients, for example."""
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        height, width = two_element_tuple(kernel_size)
        stride_height, stride_width = two_element_tuple(stride)
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        kernel = [height, width, 1, 1]
        weights = layer_variable(
            "weights",
            kernel,
            dtype,
            weights_initializer,
            variables_collections,
            trainable,
            regularizer=weights_regularizer,
        )
        depthwise = array.tile(weights, [1, 1, channels, 1])
        outputs = nn.depthwise_conv2d(inputs, depthwise, [1, stride_height, stride_width, 1], padding)
        if not normalizer_fn and biases_initializer is not None:
            biases = layer_variable(
                "biases",
                [channels],
                dtype,
                biases_initializer,
                variables_collections,
                trainable,
                regularizer=biases_regularizer,
            )
            outputs = nn.bias_add(outputs, biases)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


conv2d_in_plane = convolution2d_in_plane


def _transposed(name, layer_class, default_scope, default_format):
    """A transposed convolution."""

    def convolve(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=default_format, activation_fn=nn.relu,
                 normalizer_fn=None, normalizer_params=None, weights_initializer=XAVIER, weights_regularizer=None,
                 biases_initializer=ZEROS, biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                 trainable=True, scope=None):  # fmt: skip
        arguments = dict(locals())
        first = default_format[0] + "C" + default_format[1:-1]
        check_data_format(data_format, first, default_format)
        with variable_scope(
            scope, default_scope, [inputs], reuse=reuse, custom_getter=model_variable_getter(NAMES)
        ) as sc:
            inputs = convert_to_tensor(inputs)
            own = {"filters": num_outputs, "kernel_size": kernel_size, "strides": stride, "padding": padding}
            return applied(layer_class, inputs, sc, arguments, data_format=_layer_format(data_format), **own)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = "The transpose of a convolution, which makes images larger: with stride 2, twice as large."
    return add_arg_scope(convolve)


convolution2d_transpose = conv2d_transpose = _transposed(
    "convolution2d_transpose", base.Conv2DTranspose, "Conv2d_transpose", "NHWC"
)
convolution3d_transpose = conv3d_transpose = _transposed(
    "convolution3d_transpose", base.Conv3DTranspose, "Conv3d_transpose", "NDHWC"
)


@add_arg_scope
def separable_convolution2d(inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME", data_format="NHWC", rate=1,
                            activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None, weights_initializer=XAVIER,
                            pointwise_initializer=None, weights_regularizer=None, biases_initializer=ZEROS, biases_regularizer=None,
                            reuse=None, variables_collections=None, outputs_collections=None, trainable=True, scope=None):  # fmt: skip
    """A convolution of each channel, then one across channels; only the first where `num_outputs` is None."""
    arguments = dict(locals())
    check_data_format(data_format, "NCHW", "NHWC")
    names = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=model_variable_getter(names)
    ) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            outputs = _depthwise(inputs, arguments)
            return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)
        own = {"filters": num_outputs, "kernel_size": kernel_size, "strides": stride, "padding": padding}
        if pointwise_initializer is not None:
            own["pointwise_initializer"] = pointwise_initializer
        return applied(
            base.SeparableConv2D,
            inputs,
            sc,
            arguments,
            kernels=("depthwise_kernel", "pointwise_kernel"),
            data_format=_layer_format(data_format),
            dilation_rate=two_element_tuple(rate),
            depth_multiplier=depth_multiplier,
            **own,
        )


separable_conv2d = separable_convolution2d


def _depthwise(inputs, given):
    """A convolution of each channel alone, by what `separable_convolution2d` was given."""
    dtype = inputs.dtype.base_dtype
    height, width = two_element_tuple(given["kernel_size"])
    stride_height, stride_width = two_element_tuple(given["stride"])
    data_format, multiplier = given["data_format"], given["depth_multiplier"]
    first = data_format.startswith("NC")
    channels = dimension_value(inputs.get_shape()[1 if first else 3])

    def variable(name, shape, kind):
        start, regularizer = given[f"{kind}_initializer"], given[f"{kind}_regularizer"]
        collections, trainable = given["variables_collections"], given["trainable"]
        return layer_variable(name, shape, dtype, start, collections, trainable, kind, regularizer=regularizer)

    weights = variable("depthwise_weights", [height, width, channels, multiplier], "weights")
    strides = [1, 1, stride_height, stride_width] if first else [1, stride_height, stride_width, 1]
    rate = two_element_tuple(given["rate"])
    outputs = nn.depthwise_conv2d(inputs, weights, strides, given["padding"], rate=rate, data_format=data_format)
    if given["normalizer_fn"] or given["biases_initializer"] is None:
        return outputs
    return nn.bias_add(outputs, variable("biases", [multiplier * channels], "biases"), data_format=data_format)
