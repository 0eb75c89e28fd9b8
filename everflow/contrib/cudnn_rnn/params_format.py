"""A network's parameters as one opaque vector, or as kernels and biases of the compatible cells ("canonical")."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops import array

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


class _Converter:
    """Goes from one form to the other; cells of layers come in order, forward before backward."""

    rnn_mode: str
    kinds: list[type] = []

    def __init_subclass__(cls):
        cls.kinds.append(cls)

    def __init__(
        self, num_layers, num_units, input_size, num_proj=None, input_mode="linear_input", direction="unidirectional"
    ):
        if num_proj:
            raise NotImplementedError("num_proj: Everflow has no projections of the state in these networks")
        self._num_layers, self._num_units, self._input_size = num_layers, num_units, input_size
        self._input_mode, self._direction = input_mode, direction
        self._num_dirs = 2 if direction == "bidirectional" else 1

    def _cells(self):
        """(number of the cell, depth of its inputs)."""
        for layer in range(self._num_layers):
            for direction in range(self._num_dirs):
                size = self._input_size if layer == 0 else self._num_units * self._num_dirs
                yield layer * self._num_dirs + direction, size

    def _settings(self):
        sizes = {"num_layers": self._num_layers, "num_units": self._num_units, "input_size": self._input_size}
        return {**sizes, "rnn_mode": self.rnn_mode, "input_mode": self._input_mode, "direction": self._direction}

    def opaque_to_tf_canonical(self, opaque_param):
        """(kernels, biases) of the cells."""
        per_cell = 2 * GATES[self.rnn_mode]
        number = self._num_layers * self._num_dirs * per_cell
        weights, biases = raw.CudnnRNNParamsToCanonical(params=opaque_param, num_params=number, **self._settings())
        kernels, sums = [], []
        for cell, _ in self._cells():
            here = slice(cell * per_cell, (cell + 1) * per_cell)
            kernels += self._joined_kernels(weights[here])
            sums += self._joined_biases(biases[here])
        return kernels, sums

    def tf_canonical_to_opaque(self, tf_canonicals, weights_proj=None):
        """The vector, from the kernels of all cells followed by their biases."""
        if weights_proj is not None:
            raise NotImplementedError("weights_proj: Everflow has no projections of the state in these networks")
        half = len(tf_canonicals) // 2
        per_cell = half // (self._num_layers * self._num_dirs)
        weights, biases = [], []
        for cell, depth in self._cells():
            here = slice(cell * per_cell, (cell + 1) * per_cell)
            weights += self._cut_kernels(tf_canonicals[:half][here], depth)
            biases += self._cut_biases(tf_canonicals[half:][here])
        return self.to_opaque([array.reshape(w, [-1]) for w in weights], biases)

    def to_opaque(self, weights, biases, **settings):
        """The vector, from the matrices and biases of each gate. `settings` are further attributes of the op."""
        return raw.CudnnRNNCanonicalToParams(weights=weights, biases=biases, **self._settings(), **settings)

    # --- of one cell: gates, input before state, to the cell's kernels and back

    def _joined_kernels(self, weights):
        half = len(weights) // 2
        rows = [array.concat([weights[gate], weights[half + gate]], axis=1) for gate in range(half)]
        joined = array.concat([rows[gate] for gate in self._order], axis=0) if half > 1 else rows[0]
        return [array.transpose(joined)]

    def _joined_biases(self, biases):
        half = len(biases) // 2
        sums = [biases[gate] + biases[half + gate] for gate in range(half)]
        return [array.concat([sums[gate] for gate in self._order], axis=0)] if half > 1 else sums

    def _cut_kernels(self, kernels, depth):
        (kernel,) = kernels
        gates = GATES[self.rnn_mode]
        rows = array.transpose(kernel)
        rows = array.split(rows, gates, axis=0) if gates > 1 else [rows]
        pairs = [array.split(row, [depth, self._num_units], axis=1) for row in rows]
        return [pairs[gate][part] for part in range(2) for gate in self._order]

    def _cut_biases(self, biases):
        (bias,) = biases
        gates = GATES[self.rnn_mode]
        parts = array.split(bias, gates, axis=0) if gates > 1 else [bias]
        # The cells have one bias where cuDNN has two that are added.
        return [parts[gate] * 0.5 for gate in self._order] * 2


class CudnnParamsFormatConverterLSTM(_Converter):
    """Of LSTMs: the compatible cell has the candidate before the forget gate, cuDNN after it."""

    rnn_mode = "lstm"
    _order = (0, 2, 1, 3)


class CudnnParamsFormatConverterTanh(_Converter):
    """Of plain recurrent networks with tanh."""

    rnn_mode = "rnn_tanh"
    _order = (0,)


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterTanh):
    """Of plain recurrent networks with relu."""

    rnn_mode = "rnn_relu"


class CudnnParamsFormatConverterGRU(_Converter):
    """Of GRUs: gates are joined, while the candidate's matrices and biases of inputs and state stay apart."""

    rnn_mode = "gru"

    def _joined_kernels(self, weights):
        rows = [array.concat([weights[gate], weights[3 + gate]], axis=1) for gate in range(2)]
        gates = array.transpose(array.concat(rows, axis=0))
        return [gates, array.transpose(weights[2]), array.transpose(weights[5])]

    def _joined_biases(self, biases):
        gates = array.concat(biases[0:2], axis=0) + array.concat(biases[3:5], axis=0)
        return [gates, biases[2], biases[5]]

    def _cut_kernels(self, kernels, depth):
        gates, of_inputs, of_state = kernels
        rows = array.split(array.transpose(gates), 2, axis=0)
        (reset_x, reset_h), (update_x, update_h) = (array.split(row, [depth, self._num_units], axis=1) for row in rows)
        return [reset_x, update_x, array.transpose(of_inputs), reset_h, update_h, array.transpose(of_state)]

    def _cut_biases(self, biases):
        gates, of_inputs, of_state = biases
        reset, update = array.split(gates * 0.5, 2, axis=0)
        return [reset, update, of_inputs, reset, update, of_state]


CONVERTERS = {converter.rnn_mode: converter for converter in _Converter.kinds}
