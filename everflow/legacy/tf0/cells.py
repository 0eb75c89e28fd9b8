"""`tf.nn.rnn_cell` of TensorFlow 0.12.

A cell there is only a function: its variables belong to the variable scope it is called in. So one cell may stand for
all layers, `MultiRNNCell([cell] * 3)`, and each layer has its own weights, where a cell of 1.x would share its own.
"""

from __future__ import annotations

import everflow as tf
from everflow.framework import nest
from everflow.legacy.tf0.functions import get_variable
from everflow.rnn.cells import LSTMStateTuple
from everflow.rnn.shapes import zero_state


class RNNCell:
    """Base class of cells: subclasses have `state_size`, `output_size` and `__call__(inputs, state, scope=None)`."""

    def __call__(self, inputs, state, scope=None):
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        raise NotImplementedError("Abstract method")

    def zero_state(self, batch_size, dtype):
        """A state of zeros for a batch."""
        return zero_state(self.state_size, batch_size, dtype)

    def _scope(self, scope):
        return tf.variable_scope(scope or type(self).__name__)


def _linear(args, output_size, bias, bias_start=0.0, scope=None):
    """The product of joined inputs with the variable `Matrix`, and `Bias` added."""
    args = args if nest.is_sequence(args) else [args]
    sizes = [a.get_shape().as_list()[1] for a in args]
    if None in sizes:
        raise ValueError(f"What is multiplied must have a known second dimension: {[a.get_shape() for a in args]}")
    with tf.variable_scope(scope or "Linear"):
        matrix = get_variable("Matrix", [sum(sizes), output_size], dtype=args[0].dtype)
        result = tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), matrix)
        if not bias:
            return result
        start = tf.constant_initializer(bias_start, dtype=args[0].dtype)
        return result + get_variable("Bias", [output_size], dtype=args[0].dtype, initializer=start)


linear = _linear


class _SizedCell(RNNCell):
    """A cell whose state and output have the same size."""

    def __init__(self, num_units, input_size=None, activation=tf.tanh):
        self._num_units, self._activation = num_units, activation

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)


class BasicRNNCell(_SizedCell):
    """The most basic cell: activation(W inputs + U state + b)."""

    def __call__(self, inputs, state, scope=None):
        with self._scope(scope):
            output = self._activation(_linear([inputs, state], self._num_units, True))
        return output, output


class GRUCell(_SizedCell):
    """Gated recurrent unit."""

    def __call__(self, inputs, state, scope=None):
        with self._scope(scope):
            with tf.variable_scope("Gates"):
                gates = tf.sigmoid(_linear([inputs, state], 2 * self._num_units, True, 1.0))
                reset, update = tf.split(gates, 2, 1)
            with tf.variable_scope("Candidate"):
                candidate = self._activation(_linear([inputs, reset * state], self._num_units, True))
            output = update * state + (1 - update) * candidate
        return output, output


def _taken_apart(state, is_tuple):
    return state if is_tuple else tf.split(state, 2, 1)


def _joined(c, h, is_tuple):
    return LSTMStateTuple(c, h) if is_tuple else tf.concat([c, h], 1)


class BasicLSTMCell(RNNCell):
    """Long short-term memory, without peepholes, clipping or projection."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, state_is_tuple=True, activation=tf.tanh):
        self._num_units, self._forget_bias = num_units, forget_bias
        self._state_is_tuple, self._activation = state_is_tuple, activation

    output_size = property(lambda self: self._num_units)

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def __call__(self, inputs, state, scope=None):
        with self._scope(scope):
            c, h = _taken_apart(state, self._state_is_tuple)
            i, j, f, o = tf.split(_linear([inputs, h], 4 * self._num_units, True), 4, 1)
            c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
            h = self._activation(c) * tf.sigmoid(o)
            return h, _joined(c, h, self._state_is_tuple)


class LSTMCell(RNNCell):
    """Long short-term memory with peepholes, clipping and projection, if asked for."""

    def __init__(
        self,
        num_units,
        input_size=None,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=1,
        num_proj_shards=1,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=tf.tanh,
    ):
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._shards = {"W": num_unit_shards, "W_P": num_proj_shards}
        self._forget_bias, self._state_is_tuple, self._activation = forget_bias, state_is_tuple, activation

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        sizes = self._num_units, self.output_size
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    def _weights(self, name, rows, columns, dtype):
        """A matrix, in as many variables as there are shards."""
        count = self._shards[name]
        sizes = [rows // count + (i < rows % count) for i in range(count)]
        shards = [get_variable(f"{name}_{i}", [size, columns], dtype=dtype) for i, size in enumerate(sizes)]
        return shards[0] if count == 1 else tf.concat(shards, 0)

    def __call__(self, inputs, state, scope=None):
        units, dtype = self._num_units, inputs.dtype
        with tf.variable_scope(scope or type(self).__name__, initializer=self._initializer):
            c_before, m_before = state if self._state_is_tuple else tf.split(state, [units, self.output_size], 1)
            width = inputs.get_shape().with_rank(2)[1].value
            if width is None:
                raise ValueError("The size of the inputs must be known to make weights for it")
            weights = self._weights("W", width + self.output_size, 4 * units, dtype)
            bias = get_variable("B", [4 * units], dtype=dtype, initializer=tf.zeros_initializer())
            i, j, f, o = tf.split(tf.matmul(tf.concat([inputs, m_before], 1), weights) + bias, 4, 1)
            peeped = {}
            if self._use_peepholes:
                peeped = {gate: get_variable(f"W_{gate}_diag", [units], dtype=dtype) for gate in "FIO"}
            f, i = (x + peeped[gate] * c_before if peeped else x for x, gate in ((f, "F"), (i, "I")))
            c = tf.sigmoid(f + self._forget_bias) * c_before + tf.sigmoid(i) * self._activation(j)
            if self._cell_clip is not None:
                c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
            m = tf.sigmoid(o + peeped["O"] * c if peeped else o) * self._activation(c)
            if self._num_proj is not None:
                m = tf.matmul(m, self._weights("W_P", units, self._num_proj, dtype))
                if self._proj_clip is not None:
                    m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, _joined(c, m, self._state_is_tuple)


class _Wrapper(RNNCell):
    """A cell around another, with its sizes."""

    def __init__(self, cell):
        if not callable(cell) or not hasattr(cell, "state_size"):
            raise TypeError(f"A cell is wanted, which has a state_size and can be called; {cell!r} is none")
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)


class InputProjectionWrapper(_Wrapper):
    """A linear projection of the inputs, before a cell."""

    def __init__(self, cell, num_proj, input_size=None):
        super().__init__(cell)
        self._num_proj = num_proj

    def __call__(self, inputs, state, scope=None):
        with self._scope(scope):
            return self._cell(_linear(inputs, self._num_proj, True), state)


class OutputProjectionWrapper(_Wrapper):
    """A linear projection of the outputs, after a cell."""

    def __init__(self, cell, output_size):
        super().__init__(cell)
        if output_size < 1:
            raise ValueError(f"output_size is at least 1, not {output_size}")
        self._output_size = output_size

    output_size = property(lambda self: self._output_size)

    def __call__(self, inputs, state, scope=None):
        output, state = self._cell(inputs, state)
        with self._scope(scope):
            return _linear(output, self._output_size, True), state


class DropoutWrapper(_Wrapper):
    """Dropout before and after a cell."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, seed=None):
        super().__init__(cell)
        for probability in (input_keep_prob, output_keep_prob):
            if isinstance(probability, float) and not 0.0 <= probability <= 1.0:
                raise ValueError(f"A probability to keep values must be between 0 and 1, not {probability}")
        self._keep, self._seed = (input_keep_prob, output_keep_prob), seed

    def __call__(self, inputs, state, scope=None):
        output, state = self._cell(self._dropped(inputs, self._keep[0]), state, scope)
        return self._dropped(output, self._keep[1]), state

    def _dropped(self, values, probability):
        keeps_all = isinstance(probability, (int, float)) and probability == 1
        return values if keeps_all else tf.nn.dropout(values, probability, seed=self._seed)


class EmbeddingWrapper(_Wrapper):
    """Symbols embedded, before a cell."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None):
        super().__init__(cell)
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def __call__(self, inputs, state, scope=None):
        with self._scope(scope), tf.device("/cpu:0"):
            reach = 3**0.5  # the uniform distribution of variance 1
            given = self._initializer or tf.get_variable_scope().initializer
            initializer = given or tf.random_uniform_initializer(-reach, reach)
            dtype = nest.flatten(state)[0].dtype
            embedding = get_variable("embedding", self._shape, initializer=initializer, dtype=dtype)
            embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
        return self._cell(embedded, state)


class MultiRNNCell(RNNCell):
    """Cells one after the other, each with variables of its own scope."""

    def __init__(self, cells, state_is_tuple=True):
        if not cells:
            raise ValueError("MultiRNNCell wants one cell or more, and there is none")
        if not state_is_tuple and any(nest.is_sequence(cell.state_size) for cell in cells):
            raise ValueError("With state_is_tuple=False no cell may have a tuple for its state, and one has")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple

    output_size = property(lambda self: self._cells[-1].output_size)

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    def __call__(self, inputs, state, scope=None):
        if not self._state_is_tuple:
            state = tf.split(state, [cell.state_size for cell in self._cells], 1)
        after = []
        with self._scope(scope):
            for i, (cell, before) in enumerate(zip(self._cells, state)):
                with tf.variable_scope(f"Cell{i}"):
                    inputs, new = cell(inputs, before)
                    after.append(new)
        return inputs, tuple(after) if self._state_is_tuple else tf.concat(after, 1)
