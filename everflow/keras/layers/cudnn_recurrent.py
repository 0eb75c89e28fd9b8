"""`CuDNNLSTM` and `CuDNNGRU`: LSTM and GRU with weights as cuDNN lays them out, for files of models from GPUs.

They compute the same on any device: gates are sigmoids, and there are two biases.
"""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import looked_up, takes, weight_of, written
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import OF_CONVOLUTIONS, forget_bias_initializer, without
from everflow.ops import array, math
from everflow.platform.signatures import inserted

_LOOP = dict.fromkeys(("return_sequences", "return_state", "go_backwards", "stateful"), False)
_FIXED = ("activation", "recurrent_activation", "use_bias", "implementation", "reset_after")


def _without(*names):
    """The parameters of a layer that can't choose its activations, nor drop anything."""
    of_cell = without(*OF_CONVOLUTIONS, *_FIXED, "dropout", "recurrent_dropout", *names)
    return {**inserted(of_cell, bias_regularizer={"activity_regularizer": None}), **_LOOP}


class _Sizes:
    """What the base class asks of a cell."""

    def __init__(self, state_size, output_size):
        self.state_size, self.output_size = state_size, output_size

    def call(self, inputs, states):
        raise NotImplementedError


class _CuDNNRNN(RNN):
    """The common part: arguments, weights, and the loop."""

    gates = 0

    def _init_with(self, states, given, kwargs):
        """Start with so many states: what is not the loop's is kept."""
        loop = {name: given.pop(name) for name in _LOOP}
        units = given["units"]
        RNN.__init__(self, _Sizes([units] * states if states > 1 else units, units), **loop, **kwargs)
        self._written = list(given)
        for name in self._written:
            setattr(self, name, looked_up(name, given[name]))
        self.input_spec = [InputSpec(ndim=3)]

    def build(self, input_shape):
        shape = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape)
        depth, width = shape.size(-1), self.gates * self.units
        self.kernel = weight_of(self, "kernel", (depth, width))
        self.recurrent_kernel = weight_of(self, "recurrent", (self.units, width), "recurrent_kernel")
        self.bias = weight_of(self, "bias", (2 * width,), initializer=self._first_bias())
        super().build(input_shape)

    def _first_bias(self):
        return self.bias_initializer

    def get_initial_state(self, inputs):
        batch = array.shape(inputs)[0]
        return [array.zeros([batch, self.units], dtype=inputs.dtype) for _ in self.states]

    def _usual(self, kernel):
        """A kernel as other layers have it: cuDNN keeps the matrix of each gate the other way round."""
        parts = array.split(kernel, num_or_size_splits=self.gates, axis=1)
        return array.concat([array.transpose(array.reshape(part, (self.units, -1))) for part in parts], axis=1)

    def call(self, inputs, mask=None, training=None, initial_state=None):
        inputs, initial_state, _ = self._states_and_constants(inputs, initial_state, None)
        mask = mask[0] if isinstance(mask, list) else mask
        step = self._stepper(
            self._usual(self.kernel), self._usual(self.recurrent_kernel), array.split(self.bias, num_or_size_splits=2)
        )
        last, outputs, states = K.rnn(step, inputs, initial_state, go_backwards=self.go_backwards, mask=mask)
        return self._finished(last, outputs, states)

    def _stepper(self, kernel, recurrent, biases):
        raise NotImplementedError

    def get_config(self):
        config = {key: value for key, value in self._rnn_config().items() if key != "unroll"}
        return {**config, **written(self, self._written)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class CuDNNGRU(_CuDNNRNN):
    """GRU as cuDNN computes it: the reset gate comes after the matrix product.

    Args:
        units: How many numbers the result has for each example.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.CuDNNGRU(4, return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """

    gates = 3

    @takes(_without("unit_forget_bias"))
    def __init__(self, given, **kwargs):
        self._init_with(1, given, kwargs)

    def _stepper(self, kernel, recurrent, biases):
        def step(x, states):
            h = states[0]
            x_z, x_r, x_h = array.split(K.bias_add(K.dot(x, kernel), biases[0]), 3, axis=1)
            h_z, h_r, h_h = array.split(K.bias_add(K.dot(h, recurrent), biases[1]), 3, axis=1)
            z, r = math.sigmoid(x_z + h_z), math.sigmoid(x_r + h_r)
            new = z * h + (1 - z) * math.tanh(x_h + r * h_h)
            return new, [new]

        return step


class CuDNNLSTM(_CuDNNRNN):
    """LSTM as cuDNN computes it.

    Args:
        units: How many numbers the result has for each example.
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
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.CuDNNLSTM(4, return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """

    gates = 4

    @takes(_without())
    def __init__(self, given, **kwargs):
        self._init_with(2, given, kwargs)

    def _first_bias(self):
        if not self.unit_forget_bias:
            return self.bias_initializer
        half = forget_bias_initializer(self.bias_initializer, self.units)

        def initialize(shape, *args, **kwargs):
            rest = self.bias_initializer((self.units * 4,), *args, **kwargs)
            return array.concat([rest, half(shape, *args, **kwargs)], axis=0)

        return initialize

    def _stepper(self, kernel, recurrent, biases):
        bias = biases[0] + biases[1]

        def step(x, states):
            h, c = states[0], states[1]
            i, f, g, o = array.split(K.bias_add(K.dot(x, kernel) + K.dot(h, recurrent), bias), 4, axis=1)
            c = math.sigmoid(f) * c + math.sigmoid(i) * math.tanh(g)
            h = math.sigmoid(o) * math.tanh(c)
            return h, [h, c]

        return step
