"""One step of recurrent layers: SimpleRNN, GRU and LSTM cells, and stacks of cells."""

from __future__ import annotations

import inspect

from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.generic import named_config
from everflow.keras.layers.configured import ConfiguredLayer, takes, weight_of
from everflow.ops import array
from everflow.ops.variables import initializers
from everflow.platform.signatures import parameters


def zero_state(state_size, batch_size, dtype):
    """Zeros in the structure of a cell's state size."""

    def zeros(size):
        return array.zeros([batch_size, *TensorShape(size).as_list()], dtype=dtype)

    return nest.map_structure(zeros, state_size) if nest.is_sequence(state_size) else zeros(state_size)


def zero_state_for(cell, inputs, batch_size, dtype):
    """The state that a cell begins with, for inputs or for a batch size and dtype."""
    if inputs is not None:
        batch_size, dtype = array.shape(inputs)[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            f"A first state needs inputs, or both batch_size and dtype; batch_size={batch_size}, dtype={dtype}."
        )
    return zero_state(cell.state_size, batch_size, dtype)


def first_state(cell, inputs, batch_size, dtype):
    """The state that any cell begins with: as it says itself, or zeros."""
    make = getattr(cell, "get_initial_state", None)
    if make is None:
        return zero_state_for(cell, inputs, batch_size, dtype)
    return make(inputs=inputs, batch_size=batch_size, dtype=dtype)


def output_size_of(cell):
    """The size of a cell's output; where it doesn't say, that of its first state."""
    size = getattr(cell, "output_size", None)
    return nest.flatten(cell.state_size)[0] if size is None else size


def require_cells(cells):
    """ValueError where one of these is no cell."""
    for cell in cells:
        missing = [f"`{name}`" for name in ("call", "state_size") if not hasattr(cell, name)]
        if missing:
            raise ValueError(
                "An RNN cell has a method `call` and a `state_size`, one size for each state; "
                f"{cell!r} has no {missing[0]}."
            )


class AbstractRNNCell(Layer):
    """Base of cells of one's own: subclasses have `state_size`, `output_size` and `call(inputs, states)`.

    Args:
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name; made from its class if None.
        dtype: The type of the weights.
        dynamic: Whether it runs Python code, and so only eagerly.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> class Sum(tf.keras.layers.AbstractRNNCell):
        ...     state_size = output_size = 3
        ...     def call(self, inputs, states):
        ...         return inputs + states[0], [inputs + states[0]]
        >>> tf.keras.layers.RNN(Sum())(tf.ones([2, 5, 3])).shape.as_list()
        [2, 3]
    """

    def call(self, inputs, states):
        """(output, new states) of one step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        """The size of the state, or a structure of sizes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros to begin with."""
        return zero_state_for(self, inputs, batch_size, dtype)


def within_one(given):
    """The rates of dropout among arguments, brought within [0, 1]."""
    return {name: min(1.0, max(0.0, given[name])) for name in ("dropout", "recurrent_dropout")}


class DropoutRNNCellMixin:
    """Masks of dropout that are the same for all steps of a sequence; cells of one's own have `dropout` and
    `recurrent_dropout`.
    """

    # Masks that are computed at once and those of graphs are kept apart: a layer may be called in both ways.
    _dropout_mask = _recurrent_dropout_mask = _eager_dropout_mask = _eager_recurrent_dropout_mask = None

    def reset_dropout_mask(self):
        """Forget the mask of the inputs; a new sequence gets a new one."""
        self.__dict__.update(_dropout_mask=None, _eager_dropout_mask=None)

    def reset_recurrent_dropout_mask(self):
        """Forget the mask of the states."""
        self.__dict__.update(_recurrent_dropout_mask=None, _eager_recurrent_dropout_mask=None)

    def _masks(self, kind, like, rate, training, count):
        if rate == 0:
            return None
        kept = f"_eager_{kind}" if executing_eagerly() else f"_{kind}"
        if getattr(self, kept) is None:
            self.__dict__[kept] = dropout_masks(array.ones_like(like), rate, training, count)
        return self.__dict__[kept]

    def get_dropout_mask_for_cell(self, inputs, training, count=1):
        """A list of masks, one for each of `count` uses of the inputs; one is given by itself; None without dropout."""
        return self._masks("dropout_mask", inputs, self.dropout, training, count)

    def get_recurrent_dropout_mask_for_cell(self, inputs, training, count=1):
        """A list of masks, one for each of `count` uses of the state; one is given by itself; None without dropout."""
        return self._masks("recurrent_dropout_mask", inputs, self.recurrent_dropout, training, count)


def dropout_masks(ones, rate, training, count):
    """Masks, ones of which some are dropped while training: a list, or a single one by itself."""
    masks = [K.in_train_phase(lambda: K.dropout(ones, rate), ones, training=training) for _ in range(count)]
    return masks if count > 1 else masks[0]


def _masked(values, mask):
    return values if mask is None else values * mask


# What recurrent layers take, in the order in which they take it: each takes some of them.
CELL_PARAMETERS = parameters(
    """units, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
    activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
    bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, implementation=1, reset_after=False"""
)
OF_CONVOLUTIONS = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")


def without(*names, of=CELL_PARAMETERS):
    """{name: default} of the parameters of recurrent layers, but for some."""
    return {name: default for name, default in of.items() if name not in names}


class _Cell(DropoutRNNCellMixin, ConfiguredLayer):
    """What the cells have in common: a kernel, a recurrent kernel and a bias, each for all gates side by side."""

    gates = 1

    def _keep_cell(self, given):
        self._keep_given(given, **within_one(given))
        self.state_size = self.output_size = self.units

    def _bias_shape(self):
        return (self.gates * self.units,)

    def _bias_initializer(self):
        return self.bias_initializer

    @shape_tuples
    def build(self, input_shape):
        depth = TensorShape(input_shape).size(-1)
        width = self.gates * self.units
        self.kernel = weight_of(self, "kernel", (depth, width))
        self.recurrent_kernel = weight_of(self, "recurrent", (self.units, width), "recurrent_kernel")
        self.bias = (
            weight_of(self, "bias", self._bias_shape(), initializer=self._bias_initializer()) if self.use_bias else None
        )
        self.built = True

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros to begin with."""
        return zero_state_for(self, inputs, batch_size, dtype)


class SimpleRNNCell(_Cell):
    """output = activation(inputs * kernel + state * recurrent_kernel + bias), which is the new state too.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RNN(tf.keras.layers.SimpleRNNCell(4))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 4]
    """

    @takes(without(*OF_CONVOLUTIONS, "recurrent_activation", "unit_forget_bias", "implementation", "reset_after"))
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        self._keep_cell(given)

    def call(self, inputs, states, training=None):
        previous = states[0]
        masks = [
            self.get_dropout_mask_for_cell(inputs, training),
            self.get_recurrent_dropout_mask_for_cell(previous, training),
        ]
        hidden = K.dot(_masked(inputs, masks[0]), self.kernel)
        if self.bias is not None:
            hidden = K.bias_add(hidden, self.bias)
        output = hidden + K.dot(_masked(previous, masks[1]), self.recurrent_kernel)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]


class GRUCell(_Cell):
    """A gated recurrent unit: an update gate z, a reset gate r, and the candidate of the new state.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        recurrent_activation: The function applied to the gates.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        implementation: 1 has smaller products, 2 joins those of all gates.
        reset_after: Whether the reset gate comes after the product with the state.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RNN(tf.keras.layers.GRUCell(4))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 4]
    """

    gates = 3

    @takes(without(*OF_CONVOLUTIONS, "unit_forget_bias"))
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        self._keep_cell(given)

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs, states, training=None):
        state = states[0]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=3)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(state, training, count=3)
        input_bias = recurrent_bias = None
        if self.use_bias:
            input_bias, recurrent_bias = array.unstack(self.bias) if self.reset_after else (self.bias, None)
        step = self._gate_by_gate if self.implementation == 1 else self._all_gates
        z, candidate = step(inputs, state, masks, recurrent_masks, input_bias, recurrent_bias)
        new = z * state + (1 - z) * candidate
        return new, [new]

    def _gate_by_gate(self, inputs, state, masks, recurrent_masks, input_bias, recurrent_bias):
        u = self.units
        parts = (slice(None, u), slice(u, 2 * u), slice(2 * u, None))
        masked = [inputs * m for m in masks] if masks is not None else [inputs] * 3
        xs = [K.dot(x, self.kernel[:, part]) for x, part in zip(masked, parts)]
        if input_bias is not None:
            xs = [K.bias_add(x, input_bias[part]) for x, part in zip(xs, parts)]
        h_z, h_r, h_h = [state * m for m in recurrent_masks] if recurrent_masks is not None else [state] * 3
        recurrent = [K.dot(h, self.recurrent_kernel[:, part]) for h, part in zip((h_z, h_r), parts)]
        if self.reset_after and recurrent_bias is not None:
            recurrent = [K.bias_add(one, recurrent_bias[part]) for one, part in zip(recurrent, parts)]
        z = self.recurrent_activation(xs[0] + recurrent[0])
        r = self.recurrent_activation(xs[1] + recurrent[1])
        if self.reset_after:
            of_candidate = K.dot(h_h, self.recurrent_kernel[:, parts[2]])
            if recurrent_bias is not None:
                of_candidate = K.bias_add(of_candidate, recurrent_bias[parts[2]])
            of_candidate = r * of_candidate
        else:
            of_candidate = K.dot(r * h_h, self.recurrent_kernel[:, parts[2]])
        return z, self.activation(xs[2] + of_candidate)

    def _all_gates(self, inputs, state, masks, recurrent_masks, input_bias, recurrent_bias):
        u = self.units
        if masks is not None:
            inputs = inputs * masks[0]
        x = K.dot(inputs, self.kernel)
        if input_bias is not None:
            x = K.bias_add(x, input_bias)
        x_z, x_r, x_h = x[:, :u], x[:, u : 2 * u], x[:, 2 * u :]
        if recurrent_masks is not None:
            state = state * recurrent_masks[0]
        if self.reset_after:
            inner = K.dot(state, self.recurrent_kernel)
            if recurrent_bias is not None:
                inner = K.bias_add(inner, recurrent_bias)
        else:
            inner = K.dot(state, self.recurrent_kernel[:, : 2 * u])
        recurrent_z, recurrent_r = inner[:, :u], inner[:, u : 2 * u]
        z = self.recurrent_activation(x_z + recurrent_z)
        r = self.recurrent_activation(x_r + recurrent_r)
        if self.reset_after:
            of_candidate = r * inner[:, 2 * u :]
        else:
            of_candidate = K.dot(r * state, self.recurrent_kernel[:, 2 * u :])
        return z, self.activation(x_h + of_candidate)


class LSTMCell(_Cell):
    """Long short-term memory: gates i, f and o, and a carry c beside the state h.

    Args:
        units: How many numbers the result has for each example.
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
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        implementation: 1 has smaller products, 2 joins those of all gates.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RNN(tf.keras.layers.LSTMCell(4))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 4]
    """

    gates = 4

    @takes(without(*OF_CONVOLUTIONS, "reset_after"))
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        self._keep_cell(given)
        self.__dict__["state_size"] = [self.units, self.units]

    def _bias_initializer(self):
        if not self.unit_forget_bias:
            return self.bias_initializer
        return forget_bias_initializer(self.bias_initializer, self.units)

    def call(self, inputs, states, training=None):
        h, c = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(h, training, count=4)
        if self.implementation == 1:
            masked = [inputs * m for m in masks] if masks is not None else [inputs] * 4
            kernels = array.split(self.kernel, num_or_size_splits=4, axis=1)
            xs = [K.dot(x, kernel) for x, kernel in zip(masked, kernels)]
            if self.use_bias:
                biases = array.split(self.bias, num_or_size_splits=4, axis=0)
                xs = [K.bias_add(x, bias) for x, bias in zip(xs, biases)]
            hs = [h * m for m in recurrent_masks] if recurrent_masks is not None else [h] * 4
            c, o = self._carry_and_output(xs, hs, c)
        else:
            if masks is not None:
                inputs = inputs * masks[0]
            z = K.dot(inputs, self.kernel)
            if recurrent_masks is not None:
                h = h * recurrent_masks[0]
            z += K.dot(h, self.recurrent_kernel)
            if self.use_bias:
                z = K.bias_add(z, self.bias)
            c, o = self._carry_and_output_fused(array.split(z, num_or_size_splits=4, axis=1), c)
        h = o * self.activation(c)
        return h, [h, c]

    def _carry_and_output(self, xs, hs, c):
        u = self.units
        parts = (slice(None, u), slice(u, u * 2), slice(u * 2, u * 3), slice(u * 3, None))

        def gate(i):
            return xs[i] + K.dot(hs[i], self.recurrent_kernel[:, parts[i]])

        return self._carried(gate, c)

    def _carry_and_output_fused(self, z, c):
        return self._carried(z.__getitem__, c)

    def _carried(self, gate, c):
        """(carry, output gate) from what comes into each gate, in the order of their making."""
        i = self.recurrent_activation(self._seeing_carry(gate(0), "input", c))
        f = self.recurrent_activation(self._seeing_carry(gate(1), "forget", c))
        c = f * c + i * self.activation(gate(2))
        return c, self.recurrent_activation(self._seeing_carry(gate(3), "output", c))

    def _seeing_carry(self, x, gate, c):
        return x


def forget_bias_initializer(bias_initializer, units):
    """An initializer for the biases of an LSTM: one for the forget gate, so that it starts by remembering."""

    def initialize(_, *args, **kwargs):
        before = bias_initializer((units,), *args, **kwargs)
        ones = initializers.Ones()((units,), *args, **kwargs)
        return K.concatenate([before, ones, bias_initializer((units * 2,), *args, **kwargs)])

    return initialize


class PeepholeLSTMCell(LSTMCell):
    """An LSTM cell whose gates also see the carry.

    Args:
        units: How many numbers the result has for each example.
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
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        implementation: 1 has smaller products, 2 joins those of all gates.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RNN(tf.keras.experimental.PeepholeLSTMCell(4))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 4]
    """

    def build(self, input_shape):
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            setattr(self, name, self.add_weight(shape=(self.units,), name=name, initializer=self.kernel_initializer))

    def _seeing_carry(self, x, gate, c):
        return x + getattr(self, f"{gate}_gate_peephole_weights") * c


class StackedRNNCells(Layer):
    """Cells one on top of the other, as one cell.

    Args:
        cells: The cells, the lowest first.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> cell = tf.keras.layers.StackedRNNCells([tf.keras.layers.LSTMCell(4), tf.keras.layers.LSTMCell(3)])
        >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 3]
    """

    def __init__(self, cells, **kwargs):
        require_cells(cells)
        self.cells = cells
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)

    @property
    def state_size(self):
        """The sizes of the states of all cells."""
        return tuple(cell.state_size for cell in self._in_order_of_states())

    def _in_order_of_states(self):
        return self.cells[::-1] if self.reverse_state_order else self.cells

    output_size = property(lambda self: output_size_of(self.cells[-1]), doc="The size of the last cell's output.")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The states that the cells begin with."""
        return tuple(first_state(cell, inputs, batch_size, dtype) for cell in self._in_order_of_states())

    def call(self, inputs, states, constants=None, **kwargs):
        sizes = self.state_size[::-1] if self.reverse_state_order else self.state_size
        nested = nest.pack_sequence_as(sizes, nest.flatten(states))
        new_states = []
        for cell, state in zip(self.cells, nested):
            state = state if nest.is_sequence(state) else [state]
            arguments = dict(kwargs) if call_takes(cell, "training") else {}
            if call_takes(cell, "constants"):
                arguments["constants"] = constants
            # A cell of tf.nn takes a state of one tensor as that tensor.
            single = getattr(cell, "_is_tf_rnn_cell", False) and len(state) == 1
            inputs, state = cell.call(inputs, state[0] if single else state, **arguments)
            new_states.append(state)
        return inputs, nest.pack_sequence_as(
            self.state_size, nest.flatten(new_states[::-1] if self.reverse_state_order else new_states)
        )

    @shape_tuples
    def build(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = TensorShape([TensorShape(input_shape)[0], *TensorShape(output_size_of(cell)).as_list()])
        self.built = True

    def get_config(self):
        return {**super().get_config(), "cells": [named_config(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        cells = [deserialize(cell, custom_objects=custom_objects) for cell in config.pop("cells")]
        return cls(cells, **config)


def call_takes(cell, name):
    """Whether a cell's `call` takes an argument."""
    parameters = inspect.signature(cell.call).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD and isinstance(cell, StackedRNNCells) for p in parameters)
