"""`ConvLSTM2D`: an LSTM over images, whose gates are convolutions."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer, looked_up, takes, weight_of
from everflow.keras.layers.recurrent import RNN, OfCell, cell_arguments
from everflow.keras.layers.recurrent_cells import DropoutRNNCellMixin, forget_bias_initializer, within_one, without
from everflow.ops import array
from everflow.platform.signatures import inserted, parameters_of
from everflow.platform.signatures import takes as takes_parameters


class ConvLSTM2DCell(DropoutRNNCellMixin, ConfiguredLayer):
    """One step of `ConvLSTM2D`."""

    @takes(without("units", "implementation", "reset_after"))
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        self._keep_given(
            given,
            padding=arguments.padding(given["padding"]),
            data_format=arguments.data_format(given["data_format"]),
            **{name: arguments.sizes(given[name], 2, name) for name in ("kernel_size", "strides", "dilation_rate")},
            **within_one(given),
        )
        self.state_size = (self.filters, self.filters)

    @shape_tuples
    def build(self, input_shape):
        depth = arguments.channels(self, input_shape)
        self.kernel_shape = (*self.kernel_size, depth, self.filters * 4)
        self.recurrent_kernel_shape = (*self.kernel_size, self.filters, self.filters * 4)
        self.kernel = weight_of(self, "kernel", self.kernel_shape)
        self.recurrent_kernel = weight_of(self, "recurrent", self.recurrent_kernel_shape, "recurrent_kernel")
        initializer = self.bias_initializer
        if self.unit_forget_bias:
            initializer = forget_bias_initializer(initializer, self.filters)
        self.bias = weight_of(self, "bias", (self.filters * 4,), initializer=initializer) if self.use_bias else None
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

    @takes_parameters(
        """cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
        **kwargs""",
    )
    def __init__(self, cell, unroll, **given):
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError("It is not possible at the moment to stack convolutional cells.")
        super().__init__(cell, unroll=unroll, **given)
        self.input_spec = [InputSpec(ndim=5)]

    def _one(self, sizes):
        """The sizes of one image that the cell makes of inputs [batch, time, …]."""
        cell = self.cell
        first = cell.data_format == "channels_first"
        windows = zip(sizes[3 if first else 2 :], cell.kernel_size, cell.strides, cell.dilation_rate)
        sides = [arguments.output_length(side, size, step, cell.padding, rate) for side, size, step, rate in windows]
        return [cell.filters, *sides] if first else [*sides, cell.filters]

    def _input_length(self, time_steps):
        return time_steps

    @shape_tuples
    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        one = self._one(sizes)
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
        one = self._one(shape)
        if self.states[0] is None:
            # Not an attribute as weights are: they aren't weights.
            self.__dict__["_states"] = [K.zeros((shape[0], *one)) for _ in self.cell.state_size]
        elif states is None:
            super().reset_states(None)
        if states is not None:
            super().reset_states(states)


_CELL_ARGUMENTS = parameters_of(ConvLSTM2DCell.__init__, ("**kwargs",))


@cell_arguments(_CELL_ARGUMENTS)
class ConvLSTM2D(OfCell, ConvRNN2D):
    """Long short-term memory over sequences of images.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        recurrent_activation: The function applied to the gates.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        unit_forget_bias: Whether the bias of the forget gate starts as 1.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.ConvLSTM2D(4, 3)(tf.ones([2, 5, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 4]
    """

    @takes(
        inserted(
            _CELL_ARGUMENTS,
            bias_regularizer={"activity_regularizer": None},
            bias_constraint={"return_sequences": False, "go_backwards": False, "stateful": False},
        )
    )
    def __init__(self, given, **kwargs):
        cell = ConvLSTM2DCell(**{name: given.pop(name) for name in _CELL_ARGUMENTS}, dtype=kwargs.get("dtype"))
        activity_regularizer = given.pop("activity_regularizer")
        super().__init__(cell, **given, **kwargs)
        self.activity_regularizer = looked_up("activity_regularizer", activity_regularizer)

    @classmethod
    def from_config(cls, config):
        return cls(**config)
