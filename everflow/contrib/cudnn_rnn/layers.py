"""Layers of recurrent networks whose parameters are one vector, computed by one op. They run on any device here."""

from __future__ import annotations

from everflow.contrib.cudnn_rnn.params_format import CONVERTERS, GATES
from everflow.contrib.cudnn_rnn.saveables import SAVEABLES
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection
from everflow.framework.seeds import get_seed
from everflow.framework.shapes import TensorShape
from everflow.layers.base import Layer
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes

_DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}


class _CudnnRNN(Layer):
    """A stack of recurrent layers: (outputs, last states) of inputs [time, batch, depth].

    >>> lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=2, num_units=128, direction="bidirectional")
    >>> outputs, (h, c) = lstm(inputs)
    """

    _rnn_mode: str

    def __init__(self, num_layers, num_units, input_mode="linear_input", direction="unidirectional", dropout=0.0, seed=None,
                 dtype=dtypes.float32, kernel_initializer=None, bias_initializer=None, name=None):  # fmt: skip
        super().__init__(dtype=dtype, name=name)
        if direction not in _DIRECTIONS:
            raise ValueError(f"Invalid direction: {direction}, expecting unidirectional or bidirectional")
        if dtypes.as_dtype(dtype) not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtypes.as_dtype(dtype)!r}")
        self._plain_dtype = dtypes.as_dtype(dtype)
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction, self._dropout, self._seed = input_mode, direction, dropout, seed
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._input_size = self._saveable = None
        if self._kernel_initializer is None:
            self._kernel_initializer = initializers.glorot_uniform_initializer(seed, dtype=self._plain_dtype)
        if self._bias_initializer is None:
            self._bias_initializer = initializers.constant_initializer(0.0, dtype=self._plain_dtype)

    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_mode = property(lambda self: self._input_mode)
    rnn_mode = property(lambda self: self._rnn_mode)
    direction = property(lambda self: self._direction)
    num_dirs = property(lambda self: _DIRECTIONS[self._direction])
    saveable = property(lambda self: self._saveable)

    @property
    def input_size(self):
        """The depth of the inputs; ValueError before it is known."""
        if not self._input_size:
            raise ValueError("The layer has no input_size yet: build it, or call it on inputs, first")
        return self._input_size

    @input_size.setter
    def input_size(self, input_size):
        self._input_size = input_size

    @property
    def canonical_weight_shapes(self):
        """The shapes of all matrices, gate by gate."""
        if self._input_size is None:
            raise RuntimeError("The layer has no canonical_weight_shapes yet: build it, or call it on inputs, first")
        gates, units = GATES[self._rnn_mode], self._num_units
        shapes = []
        for layer in range(self._num_layers):
            depth = self._input_size if layer == 0 else units * self.num_dirs
            shapes += ([(units, depth)] * gates + [(units, units)] * gates) * self.num_dirs
        return shapes

    @property
    def canonical_bias_shapes(self):
        """The shapes of all biases, gate by gate."""
        return [[self._num_units]] * (2 * GATES[self._rnn_mode] * self._num_layers * self.num_dirs)

    def build(self, input_shape):
        """Make the vector of parameters for inputs of this shape."""
        input_shape = TensorShape(input_shape)
        if input_shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {input_shape.ndims}")
        if input_shape.size(-1) is None:
            raise ValueError(f"The inputs' last dimension, their depth, must be known; their shape is {input_shape}")
        self._input_size = input_shape.size(-1)
        self._set_scope(None)  # It may be built without being called.
        with scopes.variable_scope(self._scope, reuse=self.built):
            weights = [self._kernel_initializer(s, dtype=self._plain_dtype) for s in self.canonical_weight_shapes]
            biases = [self._bias_initializer(s, dtype=self._plain_dtype) for s in self.canonical_bias_shapes]
            sizes = self._num_layers, self._num_units, self._input_size
            converter = CONVERTERS[self._rnn_mode](*sizes, input_mode=self._input_mode, direction=self._direction)
            opaque = converter.to_opaque(weights, biases, **self._dropout_settings())
            settings = {"dtype": self._plain_dtype, "initializer": opaque, "validate_shape": False}
            self.kernel = scopes.get_variable("opaque_kernel", **settings)
        self._trainable_weights.append(self.kernel)
        self._make_saveable()
        self.built = True

    def _dropout_settings(self):
        seed, seed2 = get_seed(self._seed)
        return {"dropout": self._dropout, "seed": seed or 0, "seed2": seed2 or 0}

    def _make_saveable(self):
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        network = self._num_layers, self._num_units, self._input_size, self._input_mode, self._direction
        name = f"{self.kernel.op.name.rpartition('/')[2]}_saveable"
        self._saveable = SAVEABLES[self._rnn_mode](self.kernel, *network, scope=self._scope, name=name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        # TensorFlow looks at the vector's beginning here; without this the nodes made later would have other names.
        self.kernel[0]

    def state_shape(self, batch_size):
        """The shapes of the states, for a batch of this size."""
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],)

    def _zero_states(self, batch_size, time_major):
        shapes = [shape if time_major else [shape[1], shape[0], shape[2]] for shape in self.state_shape(batch_size)]
        return tuple(array.zeros(shape, dtype=self._plain_dtype) for shape in shapes)

    def call(self, inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True):
        """(outputs, states): outputs [time, batch, units * directions], states as `state_shape` says.

        With `time_major=False` the batch comes first. `sequence_lengths` says how much of each row counts.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {type(initial_state)}, expecting tuple.")
        inputs = convert_to_tensor(inputs, dtype=self._plain_dtype)
        if initial_state is None:
            initial_state = self._zero_states(array.shape(inputs)[1 if time_major else 0], time_major)
        h, c = self._states(initial_state)
        settings = {"rnn_mode": self._rnn_mode, "input_mode": self._input_mode, "direction": self._direction}
        settings.update(is_training=training, **self._dropout_settings())
        tensors = {"input": inputs, "input_h": h, "input_c": c, "params": self.kernel}
        if sequence_lengths is None and time_major:
            made = raw.CudnnRNN(**tensors, **settings)
        else:
            if sequence_lengths is None:
                shape = array.shape(inputs)
                sequence_lengths = array.fill([shape[0]], shape[1])
            made = raw.CudnnRNNV3(**tensors, sequence_lengths=sequence_lengths, time_major=time_major, **settings)
        return made.output, self._last_states(made)

    def _states(self, given):
        (h,) = given
        return h, constant([], dtype=self._plain_dtype)

    def _last_states(self, made):
        return (made.output_h,)


class CudnnLSTM(_CudnnRNN):
    """A stack of LSTM layers; states are (h, c)."""

    _rnn_mode = "lstm"

    def state_shape(self, batch_size):
        return super().state_shape(batch_size) * 2

    def _states(self, given):
        h, c = given
        return h, c

    def _last_states(self, made):
        return made.output_h, made.output_c


class CudnnGRU(_CudnnRNN):
    """A stack of GRU layers; states are (h,)."""

    _rnn_mode = "gru"


class CudnnRNNTanh(_CudnnRNN):
    """A stack of plain recurrent layers with tanh; states are (h,)."""

    _rnn_mode = "rnn_tanh"


class CudnnRNNRelu(_CudnnRNN):
    """A stack of plain recurrent layers with relu; states are (h,)."""

    _rnn_mode = "rnn_relu"
