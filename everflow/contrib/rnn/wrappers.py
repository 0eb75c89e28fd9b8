"""Wrappers of cells: embeddings and projections around them, attention over past outputs, highway connections."""

from __future__ import annotations

import math as python_math

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.rnn.linear import Linears
from everflow.framework import nest
from everflow.framework.scopes import device, name_scope
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.nn.convolution import conv2d
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.platform import logging
from everflow.rnn.cells import RNNCell
from everflow.rnn.wrappers import assert_like_rnncell


class _Wrapper(RNNCell):
    """A cell around a cell, with the inner one's sizes and a scope of its own."""

    def __init__(self, cell, reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Wrapper):
    """A cell that takes ids, and looks their embeddings up."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}")
        keep(self, locals(), "cell")

    def call(self, inputs, state):
        """One step of the cell on embedded ids."""
        with device("/cpu:0"):
            initializer = self._initializer or scopes.get_variable_scope().initializer
            if not initializer:
                side = python_math.sqrt(3)  # Uniform values of variance one.
                initializer = initializers.random_uniform_initializer(-side, side)
            dtype = state[0].dtype if isinstance(state, tuple) else state.dtype
            shape = [self._embedding_classes, self._embedding_size]
            embedding = scopes.get_variable("embedding", shape, initializer=initializer, dtype=dtype)
            embedded = embedding_lookup(embedding, array.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(_Wrapper):
    """A cell whose inputs are projected first."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linears = Linears()

    def call(self, inputs, state):
        """One step of the cell on projected inputs."""
        projected = self._linears("projection", inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Wrapper):
    """A cell whose outputs are projected."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"output_size must be > 0, not {output_size}")
        self._output_size = output_size
        self._activation = activation
        self._linears = Linears()

    output_size = property(lambda self: self._output_size)

    def call(self, inputs, state):
        """One step of the cell, and the projection of its output."""
        output, new_state = self._cell(inputs, state)
        projected = self._linears("projection", output, self._output_size)
        return self._activation(projected) if self._activation else projected, new_state


class AttentionCellWrapper(_Wrapper):
    """A cell that attends to its own last `attn_length` outputs."""

    def __init__(
        self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True, reuse=None
    ):
        super().__init__(cell, reuse)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(f"The inner cell's state is a tuple, {cell.state_size}, so state_is_tuple must be True")
        if attn_length <= 0:
            raise ValueError(f"attn_length must be greater than zero, not {attn_length}")
        keep(self, locals(), "cell")
        self._attn_size = attn_size if attn_size is not None else cell.output_size
        self._attn_vec_size = attn_vec_size if attn_vec_size is not None else self._attn_size
        self._linears = Linears()

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._attn_size)
    zero_state = RNNCell.zero_state

    def call(self, inputs, state):
        """One step of the cell and its attention."""
        size, length = self._attn_size, self._attn_length
        if self._state_is_tuple:
            state, attns, attn_states = state
        else:
            states, start = state, self._cell.state_size
            state = array.slice_(states, [0, 0], [-1, start])
            attns = array.slice_(states, [0, start], [-1, size])
            attn_states = array.slice_(states, [0, start + size], [-1, size * length])
        attn_states = array.reshape(attn_states, [-1, length, size])
        input_size = self._input_size if self._input_size is not None else inputs.shape.as_list()[1]
        inputs = self._linears("inputs", [inputs, attns], input_size)
        output, new_state = self._cell(inputs, state)
        joined_state = array.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        new_attns, new_attn_states = self._attention(joined_state, attn_states)
        with scopes.variable_scope("attn_output_projection"):
            output = self._linears("output", [output, new_attns], size)
        new_attn_states = array.concat([new_attn_states, array.expand_dims(output, 1)], 1)
        new_attn_states = array.reshape(new_attn_states, [-1, length * size])
        new_state = (new_state, new_attns, new_attn_states)
        return output, new_state if self._state_is_tuple else array.concat(list(new_state), 1)

    def _attention(self, query, attn_states):
        """(what the query attends to, the states without the oldest)."""
        size, vec_size, length = self._attn_size, self._attn_vec_size, self._attn_length
        with scopes.variable_scope("attention"):
            k = scopes.get_variable("attn_w", [1, 1, size, vec_size])
            v = scopes.get_variable("attn_v", [vec_size])
            hidden = array.reshape(attn_states, [-1, length, 1, size])
            features = conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = array.reshape(self._linears("query", query, vec_size), [-1, 1, 1, vec_size])
            weights = nn.softmax(math.reduce_sum(v * math.tanh(features + y), [2, 3]))
            attended = math.reduce_sum(array.reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
            return array.reshape(attended, [-1, size]), array.slice_(attn_states, [0, 1, 0], [-1, -1, -1])


class HighwayWrapper(_Wrapper):
    """Mixes a cell's inputs into its outputs, through a learned gate."""

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__(cell)
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _gate(self, name, values, bias):
        size = values.shape.with_rank(2).size(1)
        weight = scopes.get_variable(f"{name}_w", [size, size])
        biases = scopes.get_variable(f"{name}_b", [size], initializer=initializers.constant_initializer(bias))
        return math.sigmoid(nn.xw_plus_b(values, weight, biases))

    def _highway(self, values, outputs):
        carry = self._gate("carry", values, self._carry_bias_init)
        coupled = self._couple_carry_transform_gates
        transform = 1 - carry if coupled else self._gate("transform", values, -self._carry_bias_init)
        return values * carry + outputs * transform

    def __call__(self, inputs, state, scope=None):
        outputs, new_state = self._cell(inputs, state, scope=scope) if scope is not None else self._cell(inputs, state)
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda i, o: i.shape.assert_is_compatible_with(o.shape), inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state
