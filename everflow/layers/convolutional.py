"""Convolutional layers over one, two and three dimensions, separable and transposed ones, and their functional forms."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.keras.engine import arguments
from everflow.keras.engine.input_spec import InputSpec
from everflow.layers import activations
from everflow.layers.base import Layer
from everflow.layers.core import initializer_of
from everflow.ops import array, initializers, nn, nn_convolution
from everflow.ops.constants import constant
from everflow.ops.nn_atrous import Convolution
from everflow.ops.nn_atrous import separable_conv2d as separable_op

_ZEROS = initializers.zeros_initializer()


class _Conv(Layer):
    """What convolutional layers have in common: a kernel, a bias, an activation."""

    spatial = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank = self.spatial
        self.filters = int(filters) if filters is not None else None
        self.kernel_size = arguments.sizes(kernel_size, self.spatial, "kernel_size")
        self.strides = arguments.sizes(strides, self.spatial, "strides")
        self.padding = arguments.padding(padding, allow_causal=self.spatial == 1)
        self.data_format = arguments.data_format(data_format)
        self.dilation_rate = arguments.sizes(dilation_rate, self.spatial, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    @property
    def _channel_axis(self):
        return 1 if self.data_format == "channels_first" else -1

    def _channels(self, input_shape):
        depth = TensorShape(input_shape)[self._channel_axis].value
        if depth is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={self._channel_axis: depth})
        return depth

    def _add_kernel(self, shape, name="kernel"):
        return self.add_weight(
            name,
            shape=shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
            dtype=self.dtype,
        )

    def _add_bias(self):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=(self.filters,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
                dtype=self.dtype,
            )

    def build(self, input_shape):
        depth = self._channels(input_shape)
        self.kernel = self._add_kernel((*self.kernel_size, depth, self.filters))
        self._add_bias()
        padding = "valid" if self.padding == "causal" else self.padding
        if all(rate == 1 for rate in self.dilation_rate):
            # Graphs of all times hold the rates, also where nothing uses them.
            constant(self.dilation_rate, dtype=dtypes.int32, name="dilation_rate")
        self._convolve = Convolution(
            TensorShape(input_shape),
            self.kernel.shape,
            padding.upper(),
            strides=self.strides,
            dilation_rate=self.dilation_rate,
            data_format=arguments.op_format(self.data_format, self.spatial),
        )
        self.built = True

    def call(self, inputs):
        if self.padding == "causal":
            left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = array.pad(inputs, [[0, 0], [left, 0], [0, 0]] if self.data_format == "channels_last" else [[0, 0], [0, 0], [left, 0]])
        return self._finished(self._convolve(inputs, self.kernel))

    def _finished(self, outputs):
        """Add the bias and apply the activation."""
        if self.use_bias:
            outputs = self._biased(outputs)
        return self.activation(outputs) if self.activation is not activations.linear else outputs

    def _biased(self, outputs):
        if self.data_format == "channels_last":
            return nn.bias_add(outputs, self.bias, data_format="NHWC")
        if self.spatial == 1:
            return outputs + array.reshape(self.bias, (1, self.filters, 1))
        return nn.bias_add(outputs, self.bias, data_format="NCHW")

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        lengths = [
            arguments.output_length(sides[start + i], self.kernel_size[i], self.strides[i], self.padding, self.dilation_rate[i])
            for i in range(self.spatial)
        ]
        return TensorShape([sides[0], self.filters, *lengths] if start == 2 else [sides[0], *lengths, self.filters])


class Conv1D(_Conv):
    """Convolution over one dimension, such as time.

    >>> y = tf.layers.Conv1D(32, 5, activation=tf.nn.relu)(x)
    """

    spatial = 1


class Conv2D(_Conv):
    """Convolution over images.

    >>> y = tf.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)(images)
    """

    spatial = 2


class Conv3D(_Conv):
    """Convolution over volumes."""

    spatial = 3


class _ConvTranspose(_Conv):
    """The gradient of a convolution, used as a layer that makes images larger."""

    def build(self, input_shape):
        depth = self._channels(input_shape)
        self.kernel = self._add_kernel((*self.kernel_size, self.filters, depth))
        self._add_bias()
        self.built = True

    def call(self, inputs):
        shape = array.shape(inputs)
        first = self.data_format == "channels_first"
        axes = range(2, 2 + self.spatial) if first else range(1, 1 + self.spatial)
        batch = shape[0]
        sides = [shape[axis] for axis in axes]
        lengths = [self._length(side, i) for i, side in enumerate(sides)]
        wanted = (batch, self.filters, *lengths) if first else (batch, *lengths, self.filters)
        strides = (1, 1, *self.strides) if first else (1, *self.strides, 1)
        transpose = nn_convolution.conv2d_transpose if self.spatial == 2 else nn_convolution.conv3d_transpose
        wanted = array.stack(wanted)
        if self.spatial == 2:
            wanted[0]  # a node that nothing uses, but that graphs of TensorFlow 1.15 have
        outputs = transpose(
            inputs,
            self.kernel,
            wanted,
            strides,
            padding=self.padding.upper(),
            data_format=arguments.op_format(self.data_format, self.spatial),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)

    def _length(self, side, i):
        return arguments.deconv_output_length(side, self.kernel_size[i], self.padding, stride=self.strides[i])

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start, channels = (2, 1) if self.data_format == "channels_first" else (1, -1)
        for i in range(self.spatial):
            sides[start + i] = self._length(sides[start + i], i)
        sides[channels] = self.filters
        return TensorShape(sides)


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution over images, sometimes called deconvolution."""

    spatial = 2

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer, bias_initializer,
                         kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                         **kwargs)  # fmt: skip


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution over volumes."""

    spatial = 3

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer, bias_initializer,
                         kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                         **kwargs)  # fmt: skip

    def _biased(self, outputs):
        if self.data_format == "channels_last":
            return nn.bias_add(outputs, self.bias, data_format="NHWC")
        # BiasAdd knows no volumes with the channels first; depth and height count as one dimension for it.
        shape = outputs.shape.as_list()
        sides = [-1 if s is None else s for s in shape]
        if sides[0] == -1 and any(s == -1 for s in sides[1:]):
            return outputs + array.reshape(self.bias, (1, self.filters, 1, 1, 1))
        flat = array.reshape(outputs, [sides[0], sides[1], sides[2] * sides[3], sides[4]])
        return array.reshape(nn.bias_add(flat, self.bias, data_format="NCHW"), sides)


class _SeparableConv(_Conv):
    """A convolution of each channel by itself, then one that mixes channels."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, depth_multiplier=1,
                 activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None, bias_initializer=_ZEROS,
                 depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializer_of(depthwise_initializer)
        self.pointwise_initializer = initializer_of(pointwise_initializer)
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint

    def build(self, input_shape):
        depth = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            shape=(*self.kernel_size, depth, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
            trainable=True,
            dtype=self.dtype,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            shape=(*(1,) * self.spatial, self.depth_multiplier * depth, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            trainable=True,
            dtype=self.dtype,
        )
        self._add_bias()
        self.built = True


class SeparableConv2D(_SeparableConv):
    """Depthwise separable convolution over images."""

    spatial = 2

    def call(self, inputs):
        first = self.data_format == "channels_first"
        outputs = separable_op(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=(1, 1, *self.strides) if first else (1, *self.strides, 1),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=arguments.op_format(self.data_format, 2),
        )
        return self._finished(outputs)


class SeparableConv1D(_SeparableConv):
    """Depthwise separable convolution over one dimension."""

    spatial = 1

    def call(self, inputs):
        if self.padding == "causal":
            left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = array.pad(inputs, [[0, 0], [left, 0], [0, 0]] if self.data_format == "channels_last" else [[0, 0], [0, 0], [left, 0]])
        first = self.data_format == "channels_first"
        axis = 2 if first else 1
        outputs = separable_op(
            array.expand_dims(inputs, axis),
            array.expand_dims(self.depthwise_kernel, 0),
            array.expand_dims(self.pointwise_kernel, 0),
            strides=(1, 1, *self.strides * 2) if first else (1, *self.strides * 2, 1),
            padding=("valid" if self.padding == "causal" else self.padding).upper(),
            rate=(1, *self.dilation_rate),
            data_format=arguments.op_format(self.data_format, 2),
        )
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias, data_format=arguments.op_format(self.data_format, 2))
        outputs = array.squeeze(outputs, [axis])
        return self.activation(outputs) if self.activation is not activations.linear else outputs


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, activation=None,
           use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over one dimension, with variables `name/kernel` and `name/bias`."""
    return Conv1D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer, bias_initializer,
                  kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                  _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1), activation=None,
           use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over images, with variables `name/kernel` and `name/bias`.

    >>> y = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu)
    """
    return Conv2D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer, bias_initializer,
                  kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                  _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip


def conv3d(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1, 1),
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over volumes, with variables `name/kernel` and `name/bias`."""
    return Conv3D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer, bias_initializer,
                  kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                  _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                     kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Transposed convolution over images, sometimes called deconvolution."""
    return Conv2DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer, bias_initializer,
                           kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                           _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip


def conv3d_transpose(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", activation=None,
                     use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Transposed convolution over volumes."""
    return Conv3DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer, bias_initializer,
                           kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                           _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip


def _separable(layer, one):
    def separable(inputs, filters, kernel_size, strides=one, padding="valid", data_format="channels_last", dilation_rate=one,
                  depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                  bias_initializer=_ZEROS, depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                  activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                  name=None, reuse=None):  # fmt: skip
        return layer(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
                     depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
                     bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name,
                     _scope=name, _reuse=reuse).apply(inputs)  # fmt: skip

    separable.__doc__ = layer.__doc__
    return separable


separable_conv1d = _separable(SeparableConv1D, 1)
separable_conv2d = _separable(SeparableConv2D, (1, 1))

# Older names.
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Deconvolution2D, Deconv2D = Conv2DTranspose, Conv2DTranspose, Conv2DTranspose
Convolution3DTranspose, Deconvolution3D, Deconv3D = Conv3DTranspose, Conv3DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
convolution2d_transpose, deconvolution2d, deconv2d = conv2d_transpose, conv2d_transpose, conv2d_transpose
convolution3d_transpose, deconvolution3d, deconv3d = conv3d_transpose, conv3d_transpose, conv3d_transpose
separable_convolution2d = separable_conv2d
