"""The layers of tf.contrib.layers with a mask on their weights."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.convolutions import FORMATS
from everflow.contrib.layers.dense import applied, fully_connected, layer_scope
from everflow.contrib.model_pruning.masks import collect
from everflow.framework.conversion import convert_to_tensor
from everflow.layers.base import Layer
from everflow.ops import math
from everflow.ops.nn.atrous import convolution
from everflow.ops.variables import initializers
from everflow.platform.signatures import takes


class _Masked(Layer):
    """Variables of a layer with masked weights; subclasses know their shape and what is computed with them."""

    def __init__(self, num_outputs, use_bias, activation=None, **kwargs):
        self._kernel_options, self._bias_options = (
            {name: kwargs.pop(f"{part}_{name}") for name in ("initializer", "regularizer")}
            for part in ("kernel", "bias")
        )
        super().__init__(**kwargs)
        self.num_outputs, self.use_bias = num_outputs, use_bias

    def _fixed(self, name, shape, initializer):
        return self.add_variable(name, shape=shape, initializer=initializer, trainable=False, dtype=self.dtype)

    def _make_kernel(self, shape):
        self.kernel = self.add_variable("kernel", shape=shape, dtype=self.dtype, **self._kernel_options)

    def _make_mask(self, shape):
        self.mask = self._fixed("mask", shape, initializers.ones_initializer())

    def _finish(self):
        self.threshold = self._fixed("threshold", [], initializers.zeros_initializer())
        self.masked_kernel = collect(self.kernel, self.mask, self.threshold)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_variable("bias", shape=[self.num_outputs], dtype=self.dtype, **self._bias_options)
        self.built = True


class _MaskedDense(_Masked):
    def build(self, input_shape):
        shape = [input_shape.size(-1), self.num_outputs]
        self._make_kernel(shape)
        self._make_mask(shape)
        self._finish()

    def call(self, inputs):
        if inputs.shape.ndims > 2:
            outputs = math.tensordot(inputs, self.masked_kernel, [[inputs.shape.ndims - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.num_outputs])
        else:
            outputs = math.matmul(inputs, self.masked_kernel)
        return nn.bias_add(outputs, self.bias) if self.use_bias else outputs


class _MaskedConvolution(_Masked):
    def __init__(self, num_outputs, kernel_size, stride, padding, data_format, rate, **kwargs):
        super().__init__(num_outputs, **kwargs)
        self._window = {"strides": stride, "padding": padding, "data_format": data_format, "dilation_rate": rate}
        self._kernel_size = kernel_size
        self._channels_first = bool(data_format) and data_format.startswith("NC")

    def build(self, input_shape):
        spatial = input_shape.ndims - 2
        self._window.update({k: _as_list(self._window[k], spatial) for k in ("strides", "dilation_rate")})
        depth = input_shape.size(1 if self._channels_first else -1)
        shape = [*_as_list(self._kernel_size, spatial), depth, self.num_outputs]
        self._make_mask(shape)
        self._make_kernel(shape)
        self._finish()

    def call(self, inputs):
        outputs = convolution(inputs, self.masked_kernel, **self._window)
        data_format = "NCHW" if self._channels_first else "NHWC"
        return nn.bias_add(outputs, self.bias, data_format=data_format) if self.use_bias else outputs


def _as_list(value, count):
    return [value] * count if isinstance(value, int) else list(value)


@add_arg_scope
@takes(fully_connected)
def masked_fully_connected(inputs, num_outputs, **given):
    """`tf.contrib.layers.fully_connected` with a mask on the weights."""
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be an integer, got {num_outputs}")
    with layer_scope("fully_connected", inputs, given) as sc:
        return applied(_MaskedDense, convert_to_tensor(inputs), sc, given, num_outputs=num_outputs)


@add_arg_scope
@takes(fully_connected)
def masked_convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, **given):
    """`tf.contrib.layers.convolution` with a mask on the weights."""
    if data_format not in FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with layer_scope("Conv", inputs, given) as sc:
        own = {"num_outputs": num_outputs, "kernel_size": kernel_size, "stride": stride, "padding": padding}
        inputs = convert_to_tensor(inputs)
        return applied(_MaskedConvolution, inputs, sc, given, data_format=data_format, rate=rate, **own)


masked_conv2d = masked_convolution
