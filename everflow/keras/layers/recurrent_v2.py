"""LSTM and GRU with the defaults of TensorFlow 2, those of cuDNN; `tf.compat.v2.keras.layers` gives these."""

from __future__ import annotations

from everflow.framework.scopes import device, executing_eagerly_outside_functions
from everflow.keras import activations
from everflow.keras.layers import recurrent, recurrent_cells
from everflow.keras.layers.configured import takes
from everflow.ops.array.constants import constant
from everflow.platform.signatures import parameters_of


def _of_tensorflow_2(cell_class, **defaults):
    """The parameters of a cell with other defaults."""
    return parameters_of(
        cell_class.__init__, ("**kwargs",), recurrent_activation="sigmoid", implementation=2, **defaults
    )


class GRUCell(recurrent_cells.GRUCell):
    """A gated recurrent unit whose reset gate comes after the product."""

    @takes(_of_tensorflow_2(recurrent_cells.GRUCell, reset_after=True))
    def __init__(self, given, **kwargs):
        super().__init__(**given, **kwargs)


class LSTMCell(recurrent_cells.LSTMCell):
    """A cell of long short-term memory."""

    @takes(_of_tensorflow_2(recurrent_cells.LSTMCell))
    def __init__(self, given, **kwargs):
        super().__init__(**given, **kwargs)


# Which kernels computed a layer, as its call says where it is asked to: these are the processor's.
RUNTIME_UNKNOWN, RUNTIME_CPU = 0, 1


def runtime_mark(number):
    """The number of a runtime as a tensor, on the processor."""
    with device("/cpu:0"):
        return constant(number, dtype="float32", name="runtime")


class _CouldUseCuDNN(recurrent_cells.DropoutRNNCellMixin):
    """What says whether cuDNN could compute a layer: with these settings, and made where operations run at once."""

    def _keep_settings(self, given):
        self._return_runtime = given.pop("return_runtime", False)
        self._made_eagerly = executing_eagerly_outside_functions()

    @property
    def could_use_cudnn(self):
        """Whether cuDNN has this kind of layer."""
        cell = self.cell
        return (
            self._made_eagerly
            and cell.activation is activations.tanh
            and cell.recurrent_activation is activations.sigmoid
            and cell.recurrent_dropout == 0
            and cell.use_bias
            and getattr(cell, "reset_after", True)
            and not self.unroll
        )

    def call(self, inputs, mask=None, training=None, initial_state=None):
        output = super().call(inputs, mask=mask, training=training, initial_state=initial_state)
        if not self._return_runtime or self.return_state:
            return output
        return output, runtime_mark(RUNTIME_CPU if self.could_use_cudnn else RUNTIME_UNKNOWN)


@recurrent.over(GRUCell, "reset_after", time_major=False)
class GRU(_CouldUseCuDNN, recurrent.GRU):
    """Gated recurrent units.

    >>> y = tf.compat.v2.keras.layers.GRU(32, return_sequences=True)(x)
    """


@recurrent.over(LSTMCell, time_major=False, unroll=False)
class LSTM(_CouldUseCuDNN, recurrent.LSTM):
    """Long short-term memory.

    >>> y = tf.compat.v2.keras.layers.LSTM(32)(x)
    """

    return_runtime = property(lambda self: self._return_runtime, doc="Whether a call says what computed it.")
