"""LSTM cells with a mask on their kernel."""

from __future__ import annotations

from everflow.contrib.model_pruning.masks import collect
from everflow.ops import initializers
from everflow.rnn.cells import BasicLSTMCell, LSTMCell


def _mask_kernel(cell):
    """Let a built cell use its kernel through a mask."""
    cell.built = False  # there are variables to be made yet
    shape = cell._kernel.shape.as_list()
    cell._mask = cell.add_variable("mask", shape=shape, initializer=initializers.ones_initializer(), trainable=False)
    cell._threshold = cell.add_variable("threshold", shape=[], initializer=initializers.zeros_initializer(), trainable=False)
    cell._kernel = collect(cell._kernel, cell._mask, cell._threshold)
    cell.built = True


class MaskedBasicLSTMCell(BasicLSTMCell):
    """`BasicLSTMCell` whose kernel can be pruned."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def build(self, inputs_shape):
        """Make the variables, and the mask."""
        super().build(inputs_shape)
        _mask_kernel(self)


class MaskedLSTMCell(LSTMCell):
    """`LSTMCell` whose kernel can be pruned."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None):  # fmt: skip
        super().__init__(
            num_units,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            num_proj=num_proj,
            proj_clip=proj_clip,
            num_unit_shards=num_unit_shards,
            num_proj_shards=num_proj_shards,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
        )

    def build(self, inputs_shape):
        """Make the variables, and the mask."""
        super().build(inputs_shape)
        _mask_kernel(self)
