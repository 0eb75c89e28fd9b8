"""LSTM cells with a mask on their kernel."""

from __future__ import annotations

from everflow.contrib.model_pruning.masks import collect
from everflow.ops.variables import initializers
from everflow.platform.signatures import options_of, takes
from everflow.rnn.cells import BasicLSTMCell, LSTMCell


class _MaskedKernel:
    """Before a cell among a class's bases, lets it use its kernel through a mask."""

    def build(self, inputs_shape):
        """Make the variables, and the mask."""
        super().build(inputs_shape)
        self.built = False  # there are variables to be made yet
        shape = self._kernel.shape.as_list()
        ones, zeros = initializers.ones_initializer(), initializers.zeros_initializer()
        self._mask = self.add_variable("mask", shape=shape, initializer=ones, trainable=False)
        self._threshold = self.add_variable("threshold", shape=[], initializer=zeros, trainable=False)
        self._kernel = collect(self._kernel, self._mask, self._threshold)
        self.built = True


class MaskedBasicLSTMCell(_MaskedKernel, BasicLSTMCell):
    """`BasicLSTMCell` whose kernel can be pruned."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)


class MaskedLSTMCell(_MaskedKernel, LSTMCell):
    """`LSTMCell` whose kernel can be pruned."""

    @takes(options_of(LSTMCell.__init__, ["name", "dtype"]))
    def __init__(self, num_units, **given):
        super().__init__(num_units, **given)
