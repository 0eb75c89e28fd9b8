"""`tf.nn.rnn_cell`: one step of a recurrent network. A cell maps (inputs, state) to (output, new state)."""

from __future__ import annotations

import collections

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.keras import activations
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.generic import serialize_keras_object
from everflow.layers.base import Layer
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.math import clip
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.ops.variables.partitioned import fixed_size_partitioner
from everflow.ops.variables.variable import trainable_variables
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.rnn.shapes import zero_state

_KERNEL, _BIAS = "kernel", "bias"


class RNNCell(Layer):
    """Base class of cells: subclasses have `state_size`, `output_size` and `call(inputs, state)`.

    Args:
        trainable: Whether the variables are among those that optimizers train.
        name: The name of the cell's variable scope.
        dtype: The type of the variables.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> isinstance(tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.RNNCell)
        True
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True
        self._rnn_scope = None

    def __call__(self, inputs, state, scope=None):
        """One step: (output, new state). Variables that `call` gets become the cell's."""
        if scope is not None:
            with scopes.variable_scope(scope, custom_getter=self._rnn_get_variable) as scope:
                return super().__call__(inputs, state, scope=scope)
        with scopes.variable_scope(scopes.get_variable_scope(), custom_getter=self._rnn_get_variable):
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter, *args, **kwargs):
        variable = getter(*args, **kwargs)
        trainable = variable.trainable if executing_eagerly() else any(variable is v for v in trainable_variables())
        held = self._trainable_weights if trainable else self._non_trainable_weights
        if all(variable is not v for v in held):
            held.append(variable)
        return variable

    @property
    def state_size(self):
        """The size of the state: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output: an int or TensorShape."""
        raise NotImplementedError("Abstract method")

    def build(self, _):
        # Cells that get their variables in `call` need no building; this keeps the base class from asking for it.
        pass

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The state to start with: zeros, for the batch size of `inputs` or the one given."""
        if inputs is not None:
            inputs = convert_first(inputs)
            if batch_size is not None:
                static = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if inputs.shape.size(0) != static:
                    raise ValueError(f"batch_size is {batch_size}, but `inputs` has a batch of {inputs.shape.size(0)}")
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(f"dtype is {dtype}, but `inputs` has the type {inputs.dtype}")
            batch_size = inputs.shape.size(0) or array.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                f"A state needs batch_size and dtype, or `inputs` to take them from: batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """A state of zeros for a batch."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_state(self.state_size, batch_size, dtype)

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}


def convert_first(inputs):
    """The inputs as a tensor."""
    return convert_to_tensor(inputs, name="inputs")


def _check_float(*kinds):
    for dtype in kinds:
        if not (dtype.is_floating or dtype.is_complex):
            raise ValueError(f"An RNN cell only supports floating point inputs, not {dtype}: cast them")


def check_inputs(*structures):
    """Raise ValueError unless all tensors are of floating point."""
    _check_float(*(dtypes.as_dtype(t.dtype) for structure in structures for t in nest.flatten(structure)))


class LayerRNNCell(RNNCell):
    """Base class of cells that make their variables in `build`, as layers do."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _depth(self, inputs_shape):
        _check_float(dtypes.as_dtype(self.dtype or dtypes.float32))
        if inputs_shape[-1] is None or getattr(inputs_shape[-1], "value", inputs_shape[-1]) is None:
            raise ValueError(
                f"Expected inputs.shape[-1] to be known: weights depend on it, and the shape is {inputs_shape}"
            )
        return int(getattr(inputs_shape[-1], "value", inputs_shape[-1]))

    def _zeros_initializer(self):
        if self.dtype is None:
            return initializers.zeros_initializer
        return initializers.zeros_initializer(dtype=dtypes.as_dtype(self.dtype))


def _given_a_shape(build):
    """A `build` that may be called with a tuple or list as well."""

    def built(instance, input_shape):
        return build(instance, TensorShape(input_shape))

    built.__doc__ = build.__doc__
    return built


def _activation(given):
    return activations.get(given) if given else math.tanh


class _UnitsCell(LayerRNNCell):
    """A cell of so many units with an activation; `_settings` are attributes that its configuration has, too."""

    _settings: tuple[str, ...] = ("num_units", "reuse")
    _initializers: tuple[str, ...] = ()

    def __init__(self, num_units, activation, reuse, name, dtype, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = _activation(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def get_config(self):
        return {
            **{key: getattr(self, f"_{key}") for key in self._settings},
            **{key: serialize_keras_object(getattr(self, f"_{key}")) for key in self._initializers},
            "activation": activations.serialize(self._activation),
            **super().get_config(),
        }


class BasicRNNCell(_UnitsCell):
    """output = new_state = activation(W * input + U * state + b).

    Args:
        num_units: How many numbers the state has.
        activation: The function applied to the new state, or its name.
        reuse: Whether variables that are there are used again.
        name: The name of the cell's variable scope.
        dtype: The type of the variables.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list()
        [2, 4]
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    @_given_a_shape
    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        self._kernel = self.add_variable(_KERNEL, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(_BIAS, shape=[self._num_units], initializer=self._zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        """One step of the plain recurrent network."""
        check_inputs(inputs, state)
        gates = math.matmul(array.concat([inputs, state], 1), self._kernel)
        output = self._activation(nn.bias_add(gates, self._bias))
        return output, output


class GRUCell(_UnitsCell):
    """Gated recurrent unit.

    Args:
        num_units: How many numbers the state has.
        activation: The function applied to the new state, or its name.
        reuse: Whether variables that are there are used again.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        name: The name of the cell's variable scope.
        dtype: The type of the variables.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list()
        [2, 4]
    """

    _initializers = ("kernel_initializer", "bias_initializer")

    @takes(
        """num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
        dtype=None, **kwargs""",
    )
    def __init__(self, kernel_initializer, bias_initializer, **given):
        super().__init__(**given)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @_given_a_shape
    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        units = self._num_units
        kernel = {"initializer": self._kernel_initializer}
        self._gate_kernel = self.add_variable("gates/kernel", shape=[depth + units, 2 * units], **kernel)
        # The type of the first variable, at the latest.
        ones = initializers.constant_initializer(1.0, dtype=dtypes.as_dtype(self.dtype))
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=self._bias_initializer or ones)
        self._candidate_kernel = self.add_variable("candidate/kernel", shape=[depth + units, units], **kernel)
        self._candidate_bias = self.add_variable(
            "candidate/bias", shape=[units], initializer=self._bias_initializer or self._zeros_initializer()
        )
        self.built = True

    def call(self, inputs, state):
        """One step of the gated recurrent unit."""
        check_inputs(inputs, state)
        gates = math.matmul(array.concat([inputs, state], 1), self._gate_kernel)
        gates = math.sigmoid(nn.bias_add(gates, self._gate_bias))
        reset, update = array.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = math.matmul(array.concat([inputs, reset * state], 1), self._candidate_kernel)
        candidate = self._activation(nn.bias_add(candidate, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


_LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ("c", "h"))


class LSTMStateTuple(_LSTMStateTuple):
    """The state of LSTM cells: `c`, the memory, and `h`, the output.

    Args:
        c: The memory.
        h: The output.

    Example:
        >>> state = tf.nn.rnn_cell.LSTMStateTuple(c=tf.zeros([2, 4]), h=tf.zeros([2, 4]))
        >>> cell = tf.nn.rnn_cell.LSTMCell(4)
        >>> cell(tf.ones([2, 3]), state)[0].shape.as_list()
        [2, 4]
    """

    __slots__ = ()

    @property
    def dtype(self):
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class BasicLSTMCell(_UnitsCell):
    """Long short-term memory without peepholes, clipping or projection.

    Args:
        num_units: How many numbers the state has.
        forget_bias: What is added to the bias of the forget gate, so that memory lasts at first.
        state_is_tuple: Whether states are tuples; else they are joined along the columns.
        activation: The function applied to the new state, or its name.
        reuse: Whether variables that are there are used again.
        name: The name of the cell's variable scope.
        dtype: The type of the variables.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list(), type(state).__name__
        ([2, 4], 'LSTMStateTuple')
    """

    _settings = ("num_units", "forget_bias", "state_is_tuple", "reuse")

    @takes(
        """num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None,
        **kwargs""",
    )
    def __init__(self, forget_bias, state_is_tuple, **given):
        super().__init__(**given)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    @_given_a_shape
    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        self._kernel = self.add_variable(_KERNEL, shape=[depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable(_BIAS, shape=[4 * self._num_units], initializer=self._zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        """One step of the LSTM."""
        check_inputs(inputs, state)
        one = constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else array.split(value=state, num_or_size_splits=2, axis=one)
        gates = math.matmul(array.concat([inputs, h], 1), self._kernel)
        gates = nn.bias_add(gates, self._bias)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = math.multiply(c, math.sigmoid(math.add(f, forget_bias)))
        new_c = math.add(kept, math.multiply(math.sigmoid(i), self._activation(j)))
        new_h = math.multiply(self._activation(new_c), math.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else array.concat([new_c, new_h], 1)


# What makes an LSTM cell besides its initializer, and what all cells of so many units have.
_OF_LSTM = (
    "use_peepholes cell_clip num_proj proj_clip num_unit_shards num_proj_shards forget_bias state_is_tuple".split()
)
_LSTM_SETTINGS = ["num_units", *_OF_LSTM, "reuse"]


def lstm_settings(cell) -> dict:
    """What an LSTM cell was made with, as its configuration holds it."""
    return {
        **{key: getattr(cell, "_" + key) for key in _LSTM_SETTINGS},
        "initializer": serialize_keras_object(cell._initializer),
        "activation": activations.serialize(cell._activation),
    }


class LSTMCell(_UnitsCell):
    """Long short-term memory with optional peepholes, clipping of the memory, and projection of the output.

    Args:
        num_units: How many numbers the state has.
        use_peepholes: Whether gates see the memory.
        cell_clip: The greatest absolute value of the memory; None for any.
        initializer: What matrices start as.
        num_proj: How many numbers the output is projected to; None for no projection.
        proj_clip: The greatest absolute value of what is projected; None for any.
        num_unit_shards: Deprecated: into how many parts matrices are cut.
        num_proj_shards: Deprecated: into how many parts the projection is cut.
        forget_bias: What is added to the bias of the forget gate, so that memory lasts at first.
        state_is_tuple: Whether states are tuples; else they are joined along the columns.
        activation: The function applied to the new state, or its name.
        reuse: Whether variables that are there are used again.
        name: The name of the cell's variable scope.
        dtype: The type of the variables.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=2)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list(), state.c.shape.as_list()
        ([2, 2], [2, 4])
    """

    @takes(
        """num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
        num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None,
        name=None, dtype=None, **kwargs""",
    )
    def __init__(self, initializer, **given):
        settings = {f"_{setting}": given.pop(setting) for setting in _OF_LSTM}
        super().__init__(**given)
        self.__dict__.update(settings, _initializer=initializer)

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else self._num_units + self.output_size

    @_given_a_shape
    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        units = self._num_units
        shards = fixed_size_partitioner(self._num_unit_shards) if self._num_unit_shards is not None else None
        self._kernel = self.add_variable(
            _KERNEL, shape=[depth + self.output_size, 4 * units], initializer=self._initializer, partitioner=shards
        )
        self._bias = self.add_variable(_BIAS, shape=[4 * units], initializer=self._zeros_initializer())
        if self._use_peepholes:
            for name in ("w_f_diag", "w_i_diag", "w_o_diag"):
                setattr(self, f"_{name}", self.add_variable(name, shape=[units], initializer=self._initializer))
        if self._num_proj is not None:
            shards = fixed_size_partitioner(self._num_proj_shards) if self._num_proj_shards is not None else None
            made = {"initializer": self._initializer, "partitioner": shards}
            self._proj_kernel = self.add_variable("projection/" + _KERNEL, shape=[units, self._num_proj], **made)
        self.built = True

    def call(self, inputs, state):
        """One step of the LSTM."""
        check_inputs(inputs, state)
        if self._state_is_tuple:
            c_before, h_before = state
        else:
            c_before = array.slice_(state, [0, 0], [-1, self._num_units])
            h_before = array.slice_(state, [0, self._num_units], [-1, self.output_size])
        if inputs.shape.with_rank(2).size(1) is None:
            raise ValueError(f"Could not infer input size: the last dimension of {inputs.shape} must be known")
        gates = math.matmul(array.concat([inputs, h_before], 1), self._kernel)
        gates = nn.bias_add(gates, self._bias)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            c = math.sigmoid(f + self._forget_bias + self._w_f_diag * c_before) * c_before + math.sigmoid(
                i + self._w_i_diag * c_before
            ) * self._activation(j)
        else:
            c = math.sigmoid(f + self._forget_bias) * c_before + math.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            h = math.sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            h = math.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = math.matmul(h, self._proj_kernel)
            if self._proj_clip is not None:
                h = clip.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array.concat([c, h], 1)

    def get_config(self):
        return {**lstm_settings(self), **super().get_config()}


class MultiRNNCell(RNNCell):
    """Cells on top of each other: the output of one is the input of the next.

    Args:
        cells: The cells, the lowest first.
        state_is_tuple: Whether states are tuples; else they are joined along the columns.

    Example:
        >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])
        >>> len(cell.zero_state(2, tf.float32))
        2
    """

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("MultiRNNCell needs at least one cell, and `cells` is empty")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"`cells` must be a list or tuple, not {cells}")
        if len({id(cell) for cell in cells}) < len(cells):
            logging.warning(
                "MultiRNNCell got the same object for several layers: they share their weights. If they should not, make a cell for each."
            )
        self._cells = cells
        for i, cell in enumerate(cells):
            self._track(f"cell-{i}", cell)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(isinstance(c.state_size, (list, tuple, dict)) for c in cells):
            raise ValueError(
                "With state_is_tuple=False all states become one tensor, but some cells return tuples of states: "
                f"{[c.state_size for c in cells]}"
            )

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._cells[-1].output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    trainable_weights = property(lambda self: self._weights_of("trainable_weights") if self.trainable else [])

    @property
    def non_trainable_weights(self):
        fixed = self._weights_of("non_trainable_weights")
        return fixed if self.trainable else self._weights_of("trainable_weights") + fixed

    def _weights_of(self, kind):
        return [w for cell in self._cells if isinstance(cell, Layer) for w in getattr(cell, kind)]

    def call(self, inputs, state):
        """One step of all cells."""
        position, new_states = 0, []
        for i, cell in enumerate(self._cells):
            with scopes.variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    if not isinstance(state, (list, tuple)):
                        raise ValueError(
                            f"Expected state to be a tuple of {len(self.state_size)}, one a cell, not {state}"
                        )
                    current = state[i]
                else:
                    current = array.slice_(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, new_state = cell(inputs, current)
                new_states.append(new_state)
        return inputs, tuple(new_states) if self._state_is_tuple else array.concat(new_states, 1)
