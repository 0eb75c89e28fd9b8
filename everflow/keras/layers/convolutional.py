"""Convolutional layers over one, two and three dimensions, separable, depthwise and transposed ones."""

from __future__ import annotations

import functools

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer, takes, weight_of
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.nn import activations as nn
from everflow.ops.nn import convolution as nn_convolution
from everflow.ops.nn.atrous import Convolution
from everflow.ops.nn.atrous import separable_conv2d as separable_op
from everflow.platform.signatures import constructor, parameters_of


class Conv(ConfiguredLayer):
    """What convolutional layers have in common: a kernel, a bias, an activation."""

    @takes(
        """rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation=None,
        use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
        name=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        self.rank = rank = given.pop("rank")
        filters, padding = given["filters"], given["padding"]
        self._keep_given(
            given,
            filters=int(filters) if filters is not None else None,
            padding=arguments.padding(padding, allow_causal=rank == 1),
            data_format=arguments.data_format(given["data_format"]),
            **{name: arguments.sizes(given[name], rank, name) for name in ("kernel_size", "strides", "dilation_rate")},
        )
        self.input_spec = InputSpec(ndim=rank + 2)

    _is_channels_first = property(lambda self: self.data_format == "channels_first")

    def _channels(self, input_shape):
        depth = arguments.channels(self, input_shape)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={1 if self._is_channels_first else -1: depth})
        return depth

    def _add_bias(self, size):
        self.bias = weight_of(self, "bias", (size,)) if self.use_bias else None

    def build(self, input_shape):
        depth = self._channels(input_shape)
        self.kernel = weight_of(self, "kernel", (*self.kernel_size, depth, self.filters))
        self._add_bias(self.filters)
        padding = "valid" if self.padding == "causal" else self.padding
        layout = arguments.op_format(self.data_format, self.rank)
        steps = {"strides": self.strides, "dilation_rate": self.dilation_rate, "data_format": layout}
        self._convolve = Convolution(TensorShape(input_shape), self.kernel.shape, padding.upper(), **steps)
        if all(rate == 1 for rate in self.dilation_rate):
            # Graphs of all times hold the rates, also where nothing uses them.
            constant(self.dilation_rate, dtype=dtypes.int32, name="dilation_rate")
        self.built = True

    def call(self, inputs):
        if self.padding == "causal":
            inputs = array.pad(inputs, self._compute_causal_padding())
        return self._finished(self._convolve(inputs, self.kernel))

    def _compute_causal_padding(self):
        """Zeros before a sequence, so that no place sees what comes after it."""
        left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return [[0, 0], [0, 0], [left, 0]] if self._is_channels_first else [[0, 0], [left, 0], [0, 0]]

    def _finished(self, outputs):
        """Add the bias and apply the activation."""
        if self.use_bias:
            outputs = self._biased(outputs)
        return self.activation(outputs) if self.activation is not None else outputs

    def _biased(self, outputs):
        if not self._is_channels_first:
            return nn.bias_add(outputs, self.bias, data_format="NHWC")
        if self.rank == 1:
            return outputs + array.reshape(self.bias, (1, self.filters, 1))
        return nn.bias_add(outputs, self.bias, data_format="NCHW")

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start = 2 if self._is_channels_first else 1
        windows = zip(sides[start:], self.kernel_size, self.strides, self.dilation_rate)
        lengths = [arguments.output_length(side, *window, self.padding, rate) for side, *window, rate in windows]
        return TensorShape([sides[0], self.filters, *lengths] if start == 2 else [sides[0], *lengths, self.filters])


def _of_base(given):
    """What a plain convolution takes as well, of the arguments of a layer that has other kernels."""
    return {name: value for name, value in given.items() if name in parameters_of(Conv.__init__)}


def _of_rank(base, rank, **defaults):
    """The constructor of a layer over so many dimensions, with steps of one in each."""
    ones = 1 if rank == 1 else (1,) * rank
    parameters = parameters_of(
        base.__init__, ("rank", "trainable", "name"), strides=ones, dilation_rate=ones, **defaults
    )
    return constructor(parameters, functools.partial(base.__init__, rank=rank))


class Conv1D(Conv):
    """Convolution over one dimension, such as time.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Conv1D(32, 5, activation="relu")(tf.ones([2, 10, 3])).shape.as_list()
        [2, 6, 32]
    """

    __init__ = _of_rank(Conv, 1, data_format="channels_last")


class Conv2D(Conv):
    """Convolution over images.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 8, 8, 32]
    """

    __init__ = _of_rank(Conv, 2)


class Conv3D(Conv):
    """Convolution over volumes.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Conv3D(4, 3)(tf.ones([2, 5, 5, 5, 1])).shape.as_list()
        [2, 3, 3, 3, 4]
    """

    __init__ = _of_rank(Conv, 3)


class _Transposed:
    """The gradient of a convolution, used as a layer that makes images larger."""

    @staticmethod
    def _constructor(base, without=()):
        """That of a convolution, with `output_padding` after `padding`."""
        parameters = {}
        for name, default in parameters_of(base.__init__, without).items():
            parameters |= {name: default, "output_padding": None} if name == "padding" else {name: default}

        def start(self, output_padding, **arguments):
            base.__init__(self, **arguments)
            self._keep_output_padding(output_padding)

        return constructor(parameters, start)

    def _keep_output_padding(self, output_padding):
        if output_padding is not None:
            output_padding = arguments.sizes(output_padding, self.rank, "output_padding")
            for stride, padding in zip(self.strides, output_padding):
                if stride <= padding:
                    raise ValueError(f"Stride {self.strides} must be greater than output padding {output_padding}")
        self._keep(output_padding=output_padding)

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise ValueError(f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}")
        depth = self._channels(shape)
        self.kernel = weight_of(self, "kernel", (*self.kernel_size, self.filters, depth))
        self._add_bias(self.filters)
        self.built = True

    def call(self, inputs):
        shape = array.shape(inputs)
        first = self._is_channels_first
        batch = shape[0]
        sides = [shape[axis] for axis in range(1 + first, 1 + first + self.rank)]
        lengths = [self._length(side, i) for i, side in enumerate(sides)]
        sizes = array.stack((batch, self.filters, *lengths) if first else (batch, *lengths, self.filters))
        outputs = self._transposed(inputs, sizes)
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)

    def _length(self, side, i):
        extra = None if self.output_padding is None else self.output_padding[i]
        window = self.kernel_size[i], self.padding, extra, self.strides[i], self.dilation_rate[i]
        return arguments.deconv_output_length(side, *window)

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start, channels = (2, 1) if self._is_channels_first else (1, -1)
        for i in range(self.rank):
            sides[start + i] = self._length(sides[start + i], i)
        sides[channels] = self.filters
        return TensorShape(sides)


class Conv2DTranspose(_Transposed, Conv2D):
    """Transposed convolution over images, sometimes called deconvolution.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        output_padding: How much longer the result is than strides alone would say.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same")(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 16, 16, 8]
    """

    __init__ = _Transposed._constructor(Conv2D)

    def _transposed(self, inputs, sizes):
        where = self.strides, self.padding, self.data_format
        return K.conv2d_transpose(inputs, self.kernel, sizes, *where, dilation_rate=self.dilation_rate)


class Conv3DTranspose(_Transposed, Conv3D):
    """Transposed convolution over volumes.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        output_padding: How much longer the result is than strides alone would say.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Conv3DTranspose(4, 3, strides=2, padding="same")(tf.ones([2, 5, 5, 5, 1])).shape.as_list()
        [2, 10, 10, 10, 4]
    """

    __init__ = _Transposed._constructor(Conv3D, without=("dilation_rate",))

    def get_config(self):
        config = super().get_config()
        del config["dilation_rate"]  # it has none
        return config

    def _transposed(self, inputs, sizes):
        strides = (1, 1, *self.strides) if self._is_channels_first else (1, *self.strides, 1)
        where = {"padding": self.padding.upper(), "data_format": arguments.op_format(self.data_format, 3)}
        return nn_convolution.conv3d_transpose(inputs, self.kernel, sizes, strides, **where)


class SeparableConv(Conv):
    """A convolution of each channel by itself, then one that mixes channels."""

    @takes(
        """rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, depth_multiplier=1,
        activation=None, use_bias=True, depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
        bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None,
        trainable=True, name=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**_of_base(given), **kwargs)
        self._keep_given(given)

    def build(self, input_shape):
        depth = self._channels(input_shape)
        depthwise = (*self.kernel_size, depth, self.depth_multiplier)
        self.depthwise_kernel = weight_of(self, "depthwise", depthwise, "depthwise_kernel")
        pointwise = (*(1,) * self.rank, self.depth_multiplier * depth, self.filters)
        self.pointwise_kernel = weight_of(self, "pointwise", pointwise, "pointwise_kernel")
        self._add_bias(self.filters)
        self.built = True


class SeparableConv1D(SeparableConv):
    """Depthwise separable convolution over one dimension.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        depth_multiplier: How many outputs each input channel gets.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        depthwise_initializer: What the depthwise kernel starts as.
        pointwise_initializer: What the pointwise kernel starts as.
        bias_initializer: What the bias starts as.
        depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
        pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        depthwise_constraint: A function that gives the depthwise kernel back as it may be.
        pointwise_constraint: A function that gives the pointwise kernel back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SeparableConv1D(8, 3)(tf.ones([2, 10, 3])).shape.as_list()
        [2, 8, 8]
    """

    __init__ = _of_rank(SeparableConv, 1)

    def call(self, inputs):
        if self.padding == "causal":
            inputs = array.pad(inputs, self._compute_causal_padding())
        first = self._is_channels_first
        axis = 2 if first else 1
        # As images of one row.
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
        return self.activation(outputs) if self.activation is not None else outputs


class SeparableConv2D(SeparableConv):
    """Depthwise separable convolution over images.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        depth_multiplier: How many outputs each input channel gets.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        depthwise_initializer: What the depthwise kernel starts as.
        pointwise_initializer: What the pointwise kernel starts as.
        bias_initializer: What the bias starts as.
        depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
        pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        depthwise_constraint: A function that gives the depthwise kernel back as it may be.
        pointwise_constraint: A function that gives the pointwise kernel back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SeparableConv2D(8, 3)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 8]
    """

    __init__ = _of_rank(SeparableConv, 2)

    def call(self, inputs):
        strides = (1, 1, *self.strides) if self._is_channels_first else (1, *self.strides, 1)
        layout = arguments.op_format(self.data_format, 2)
        how = {"padding": self.padding.upper(), "rate": self.dilation_rate, "data_format": layout}
        outputs = separable_op(inputs, self.depthwise_kernel, self.pointwise_kernel, strides=strides, **how)
        return self._finished(outputs)


class DepthwiseConv2D(Conv2D):
    """Convolution of each channel by itself.

    Args:
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        depth_multiplier: How many outputs each input channel gets.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        depthwise_initializer: What the depthwise kernel starts as.
        bias_initializer: What the bias starts as.
        depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        depthwise_constraint: A function that gives the depthwise kernel back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 6]
    """

    @takes(
        """kernel_size, strides=(1, 1), padding="valid", depth_multiplier=1, data_format=None, activation=None,
        use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
        bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, bias_constraint=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(None, **_of_base(given), **kwargs)
        self._keep_given(given)

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.rank is not None and shape.rank < 4:
            raise ValueError(f"DepthwiseConv2D takes images, of rank 4, not inputs of shape {input_shape}.")
        axis, depth = 1 if self._is_channels_first else 3, arguments.channels(self, shape)
        self.depthwise_kernel = weight_of(
            self, "depthwise", (*self.kernel_size, depth, self.depth_multiplier), "depthwise_kernel"
        )
        self._add_bias(depth * self.depth_multiplier)
        self.input_spec = InputSpec(ndim=4, axes={axis: depth})
        self.built = True

    def call(self, inputs):
        where = self.strides, self.padding, self.data_format, self.dilation_rate
        return self._finished(K.depthwise_conv2d(inputs, self.depthwise_kernel, *where))

    def _biased(self, outputs):
        return K.bias_add(outputs, self.bias, data_format=self.data_format)

    @shape_tuples
    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        first = self._is_channels_first
        rows, columns = sides[2:] if first else sides[1:3]
        channels = sides[1 if first else 3] * self.depth_multiplier
        lengths = [
            arguments.output_length(side, self.kernel_size[i], self.strides[i], self.padding)
            for i, side in enumerate((rows, columns))
        ]
        return TensorShape([sides[0], channels, *lengths] if first else [sides[0], *lengths, channels])

    def get_config(self):
        left_out = ("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
        return {key: value for key, value in super().get_config().items() if key not in left_out}


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
