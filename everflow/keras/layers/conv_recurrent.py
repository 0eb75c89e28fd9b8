"""`ConvLSTM2D`: an LSTM over images, whose gates are convolutions."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer, looked_up, weight_of
from everflow.keras.layers.recurrent import RNN, OfCell, cell_arguments
from everflow.keras.layers.recurrent_cells import _DropoutMasks, forget_bias_initializer, within_one
from everflow.keras.signatures import parameters_of
from everflow.ops import array


class ConvLSTM2DCell(_DropoutMasks, ConfiguredLayer):
    """One step of `ConvLSTM2D`."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self._keep_given(
            locals(),
            kernel_size=arguments.sizes(kernel_size, 2, "kernel_size"),
            strides=arguments.sizes(strides, 2, "strides"),
            padding=arguments.padding(padding),
            data_format=arguments.data_format(data_format),
            dilation_rate=arguments.sizes(dilation_rate, 2, "dilation_rate"),
            **within_one(locals()),
        )
        self.state_size = (filters, filters)

    @shape_tuples
    def build(self, input_shape):
        depth = arguments.channels(self, input_shape)
        self.kernel_shape = (*self.kernel_size, depth, self.filters * 4)
        self.recurrent_kernel_shape = (*self.kernel_size, self.filters, self.filters * 4)
        self.kernel = weight_of(self, "kernel", self.kernel_shape)
        self.recurrent_kernel = weight_of(self, "recurrent", self.recurrent_kernel_shape, "recurrent_kernel")
        self.bias = None
        if self.use_bias:
            initializer = (
                forget_bias_initializer(self.bias_initializer, self.filters)
                if self.unit_forget_bias
                else self.bias_initializer
            )
            self.bias = weight_of(self, "bias", (self.filters * 4,), initializer=initializer)
        self.built = True

    def call(self, inputs, states, training=None):
        h, c = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(h, training, count=4)
        masked = [inputs * m for m in masks] if masks is not None else [inputs] * 4
        hs = [h * m for m in recurrent_masks] if recurrent_masks is not None else [h] * 4
        kernels = array.split(self.kernel, num_or_size_splits=4, axis=3)
        recurrent_kernels = array.split(self.recurrent_kernel, num_or_size_splits=4, axis=3)
        biases = array.split(self.bias, num_or_size_splits=4) if self.use_bias else [None] * 4
        xs = [
            self.input_conv(x, kernel, bias, padding=self.padding) for x, kernel, bias in zip(masked, kernels, biases)
        ]
        rs = [self.recurrent_conv(one, kernel) for one, kernel in zip(hs, recurrent_kernels)]
        i = self.recurrent_activation(xs[0] + rs[0])
        f = self.recurrent_activation(xs[1] + rs[1])
        c = f * c + i * self.activation(xs[2] + rs[2])
        o = self.recurrent_activation(xs[3] + rs[3])
        h = o * self.activation(c)
        return h, [h, c]

    def input_conv(self, x, w, b=None, padding="valid"):
        """The convolution of the inputs."""
        out = K.conv2d(
            x, w, strides=self.strides, padding=padding, data_format=self.data_format, dilation_rate=self.dilation_rate
        )
        return out if b is None else K.bias_add(out, b, data_format=self.data_format)

    def recurrent_conv(self, x, w):
        """The convolution of the state, which keeps its size."""
        return K.conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)


class ConvRNN2D(RNN):
    """A cell over sequences of images."""

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        **kwargs,
    ):
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError("It is not possible at the moment to stack convolutional cells.")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    def _image_sizes(self, sizes):
        """(rows, columns) that the cell makes of inputs [batch, time, …]."""
        cell = self.cell
        start = 3 if cell.data_format == "channels_first" else 2
        return [
            arguments.output_length(
                sizes[start + i], cell.kernel_size[i], cell.strides[i], cell.padding, cell.dilation_rate[i]
            )
            for i in (0, 1)
        ]

    def _input_length(self, time_steps):
        return time_steps

    @shape_tuples
    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        images = self._image_sizes(sizes)
        one = (
            [self.cell.filters, *images] if self.cell.data_format == "channels_first" else [*images, self.cell.filters]
        )
        output = TensorShape([*sizes[:2], *one] if self.return_sequences else [sizes[0], *one])
        state = TensorShape([sizes[0], *one])
        return [output, state, state] if self.return_state else output

    def get_initial_state(self, inputs):
        # Zeros of the right size, from a convolution of zeros with zeros.
        state = K.sum(array.zeros_like(inputs), axis=1)
        shape = list(self.cell.kernel_shape)
        shape[-1] = self.cell.filters
        state = self.cell.input_conv(state, array.zeros(tuple(shape)), padding=self.cell.padding)
        return [state, state]

    def reset_states(self, states=None):
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shape = self.input_spec[0].shape
        if not shape or not shape[0]:
            raise ValueError("If a RNN is stateful, a complete input_shape must be provided (including batch size).")
        images = self._image_sizes(list(shape))
        one = (
            (self.cell.filters, *images) if self.cell.data_format == "channels_first" else (*images, self.cell.filters)
        )
        if self.states[0] is None:
            self.states = [K.zeros((shape[0], *one)) for _ in self.cell.state_size]
        elif states is None:
            super().reset_states(None)
        if states is not None:
            super().reset_states(states)


_CELL_ARGUMENTS = [name for name in parameters_of(ConvLSTM2DCell.__init__) if name != "**kwargs"]


@cell_arguments(_CELL_ARGUMENTS)
class ConvLSTM2D(OfCell, ConvRNN2D):
    """Long short-term memory over sequences of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, return_sequences=False, go_backwards=False, stateful=False, dropout=0.0,
                 recurrent_dropout=0.0, **kwargs):  # fmt: skip
        given = locals()
        cell = ConvLSTM2DCell(**{name: given[name] for name in _CELL_ARGUMENTS}, dtype=kwargs.get("dtype"))
        super().__init__(
            cell, return_sequences=return_sequences, go_backwards=go_backwards, stateful=stateful, **kwargs
        )
        self.activity_regularizer = looked_up("activity_regularizer", activity_regularizer)

    @classmethod
    def from_config(cls, config):
        return cls(**config)
