"""Checkpoints hold the parameters in the canonical form too, under the names that the compatible cells would give them."""

from __future__ import annotations

from everflow.contrib.cudnn_rnn.params_format import CONVERTERS
from everflow.ops import array
from everflow.ops.variables import assign as state
from everflow.ops.variables.saveables import SaveableObject, SaveSpec

_CELLS = {"lstm": "cudnn_compatible_lstm_cell", "gru": "cudnn_compatible_gru_cell"}
_CELLS.update(dict.fromkeys(("rnn_tanh", "rnn_relu"), "basic_rnn_cell"))
_GRU_PARTS = ("gates", "candidate/input_projection", "candidate/hidden_projection")


class _OpaqueParamsSaveable(SaveableObject):
    """An opaque vector, saved and restored as kernels and biases."""

    _rnn_mode: str

    def __init__(self, opaque_params, num_layers, num_units, input_size, input_mode="linear_input", direction="unidirectional", scope=None,
                 name="cudnn_rnn_saveable"):  # fmt: skip
        self._variable, self._direction, self._num_layers = opaque_params, direction, num_layers
        sizes = num_layers, num_units, input_size
        self._converter = CONVERTERS[self._rnn_mode](*sizes, input_mode=input_mode, direction=direction)
        self._scope = None if scope is None else getattr(scope, "name", scope)
        kernels, biases = self._converter.opaque_to_tf_canonical(opaque_params)
        tensors = [*kernels, *biases]
        specs = [SaveSpec(tensor, "", self._prefixed(n)) for tensor, n in zip(tensors, self._names())]
        super().__init__(array.identity(opaque_params), specs, self._prefixed(name))

    format_converter = property(lambda self: self._converter)

    def _prefixed(self, name):
        return f"{self._scope}/{name}" if self._scope else name

    def _cell_scopes(self):
        for layer in range(self._num_layers):
            if self._direction == "unidirectional":
                yield f"rnn/multi_rnn_cell/cell_{layer}/{_CELLS[self._rnn_mode]}"
            else:
                for way in ("fw", "bw"):
                    yield f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}/{_CELLS[self._rnn_mode]}"

    def _names(self):
        for what in ("kernel", "bias"):
            for scope in self._cell_scopes():
                if self._rnn_mode == "gru":
                    yield from (f"{scope}/{part}/{what}" for part in _GRU_PARTS)
                else:
                    yield f"{scope}/{what}"

    def restore(self, restored_tensors, restored_shapes):
        """An op that joins what was read into the vector."""
        opaque = self._converter.tf_canonical_to_opaque(restored_tensors)
        return state.assign(self._variable, opaque, validate_shape=False)


def _saveable(kind, mode):
    about = {"_rnn_mode": mode, "__doc__": f"The parameters of a Cudnn{kind}."}
    return type(f"Cudnn{kind}Saveable", (_OpaqueParamsSaveable,), about)


CudnnLSTMSaveable = _saveable("LSTM", "lstm")
CudnnGRUSaveable = _saveable("GRU", "gru")
CudnnRNNTanhSaveable = _saveable("RNNTanh", "rnn_tanh")
CudnnRNNReluSaveable = _saveable("RNNRelu", "rnn_relu")
SAVEABLES = {s._rnn_mode: s for s in (CudnnLSTMSaveable, CudnnGRUSaveable, CudnnRNNTanhSaveable, CudnnRNNReluSaveable)}
