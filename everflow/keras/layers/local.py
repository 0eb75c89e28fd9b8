"""Locally connected layers: convolutions whose weights differ from place to place."""

from __future__ import annotations

import itertools

import numpy as np

from everflow.framework import raw_ops as raw
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer, takes, weight_of
from everflow.ops import array, math
from everflow.platform.signatures import constructor, parameters_of


class _LocallyConnected(ConfiguredLayer):
    """The common part of one and two dimensions.

    Implementation 1 keeps a small kernel for each place; 2 a large matrix from all inputs to all outputs, most of it
    masked away; 3 the entries of that matrix that are not.
    """

    rank = 0

    @takes(
        """filters, kernel_size, strides=1, padding="valid", data_format=None, activation=None, use_bias=True,
        kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, bias_constraint=None, implementation=1"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        padding = arguments.padding(given["padding"])
        if padding != "valid" and given["implementation"] == 1:
            raise ValueError(
                f'Implementation 1 of LocallyConnected{self.rank}D needs padding "valid"; 2 and 3 also take {padding!r}.'
            )
        self._keep_given(
            given,
            padding=padding,
            data_format=arguments.data_format(given["data_format"]),
            **{name: arguments.sizes(given[name], self.rank, name) for name in ("kernel_size", "strides")},
        )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    _is_channels_first = property(lambda self: self.data_format == "channels_first")

    def _input_sizes(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return (sizes[2:], sizes[1]) if self._is_channels_first else (sizes[1:-1], sizes[-1])

    def _lengths(self, sides):
        return [
            arguments.output_length(side, self.kernel_size[i], self.strides[i], self.padding)
            for i, side in enumerate(sides)
        ]

    @shape_tuples
    def build(self, input_shape):
        sides, depth = self._input_sizes(input_shape)
        if None in sides or depth is None:
            raise ValueError(
                f"{type(self).__name__} has weights for each place: all sizes but the batch must be known in "
                f"{input_shape}."
            )
        self._output_sides = self._lengths(sides)
        if self.implementation == 1:
            shape = (int(np.prod(self._output_sides)), int(np.prod(self.kernel_size)) * depth, self.filters)
        elif self.implementation == 2:
            shape = self._matrix_shape(sides, depth)
            self.kernel_mask = self._mask(sides, depth)
        elif self.implementation == 3:
            self._places = self._connected_places(sides, depth)
            shape = (len(self._places),)
        else:
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        self.kernel_shape = shape
        self.kernel = weight_of(self, "kernel", shape)
        self.bias = weight_of(self, "bias", (*self._output_sides, self.filters)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={1 if self._is_channels_first else -1: depth})
        self.built = True

    def _with_channels(self, sides, channels):
        """Sides, or a place, with channels where the data format has them."""
        return (channels, *sides) if self._is_channels_first else (*sides, channels)

    def _output_shape(self):
        return self._with_channels(self._output_sides, self.filters)

    def _matrix_shape(self, sides, depth):
        return self._with_channels(sides, depth) + self._output_shape()

    def _connections(self, sides):
        """(input place, output place) for all that are connected."""
        ranges = []
        for i, side in enumerate(sides):
            pairs = []
            # Other than convolutions: the middle of the window, or what is right of it, is over the place itself.
            before = self.kernel_size[i] // 2 if self.padding == "same" else 0
            for output in range(self._output_sides[i]):
                start = output * self.strides[i] - before
                pairs += [(at, output) for at in range(start, start + self.kernel_size[i]) if 0 <= at < side]
            ranges.append(pairs)
        for pairs in itertools.product(*ranges):
            yield tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)

    def _mask(self, sides, depth):
        mask = np.zeros(self._matrix_shape(sides, depth), "float32")
        for source, target in self._connections(sides):
            mask[self._with_channels(source, slice(None)) + self._with_channels(target, slice(None))] = 1.0
        return mask

    def _connected_places(self, sides, depth):
        """(output number, input number) of the entries of the transposed matrix, in order."""
        in_sizes, out_sizes = self._with_channels(sides, depth), self._output_shape()
        places = []
        for source, target in self._connections(sides):
            for channel, filter_ in itertools.product(range(depth), range(self.filters)):
                one, other = self._with_channels(source, channel), self._with_channels(target, filter_)
                places.append((int(np.ravel_multi_index(other, out_sizes)), int(np.ravel_multi_index(one, in_sizes))))
        return sorted(places)

    @shape_tuples
    def compute_output_shape(self, input_shape):
        sides, _ = self._input_sizes(input_shape)
        batch, lengths = TensorShape(input_shape).size(0), self._lengths(sides)
        return TensorShape([batch, *self._with_channels(lengths, self.filters)])

    def call(self, inputs):
        outputs = {1: self._place_by_place, 2: self._with_matrix, 3: self._with_entries}[self.implementation](inputs)
        if self.use_bias:
            outputs = K.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def _place_by_place(self, inputs):
        return K.local_conv(
            inputs, self.kernel, self.kernel_size, self.strides, tuple(self._output_sides), self.data_format
        )

    def _with_matrix(self, inputs):
        flat = array.reshape(inputs, (array.shape(inputs)[0], -1))
        kernel = self.kernel_mask * self.kernel
        sizes, half = array.shape(kernel), (len(self.kernel_shape)) // 2
        rows, columns = sizes[:half], sizes[half:]
        matrix = array.reshape(kernel, (math.reduce_prod(rows), math.reduce_prod(columns)))
        outputs = raw.SparseMatMul(a=flat, b=matrix, b_is_sparse=True)
        return array.reshape(outputs, (array.shape(outputs)[0], *self._output_shape()))

    def _with_entries(self, inputs):
        flat = array.reshape(inputs, (array.shape(inputs)[0], -1))
        size = (int(np.prod(self._output_shape())), int(np.prod(inputs.shape.as_list()[1:])))
        outputs = raw.SparseTensorDenseMatMul(
            a_indices=np.asarray(self._places, "int64"),
            a_values=self.kernel,
            a_shape=np.asarray(size, "int64"),
            b=flat,
            adjoint_b=True,
        )
        outputs = array.transpose(outputs)
        return array.reshape(outputs, (array.shape(outputs)[0], *self._output_shape()))


class LocallyConnected1D(_LocallyConnected):
    """A convolution over sequences whose weights differ from place to place.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
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
        implementation: 1 has smaller products, 2 joins those of all gates.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.LocallyConnected1D(8, 3)(tf.ones([2, 10, 3])).shape.as_list()
        [2, 8, 8]
    """

    rank = 1


class LocallyConnected2D(_LocallyConnected):
    """A convolution over images whose weights differ from place to place.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
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
        implementation: 1 has smaller products, 2 joins those of all gates.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.LocallyConnected2D(8, 3)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 8]
    """

    rank = 2

    __init__ = constructor(parameters_of(_LocallyConnected.__init__, strides=(1, 1)), _LocallyConnected.__init__)
