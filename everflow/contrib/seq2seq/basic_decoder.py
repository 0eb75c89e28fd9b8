"""`BasicDecoder`: a cell whose inputs a helper chooses, training from given ones or feeding back its own samples."""

from __future__ import annotations

import collections

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.seq2seq.decoder import Decoder, rnn_output_size
from everflow.contrib.seq2seq.feeding import Helper
from everflow.framework import nest
from everflow.framework.scopes import name_scope
from everflow.layers.base import Layer
from everflow.rnn.wrappers import assert_like_rnncell


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What one step gives: the cell's (or output layer's) output, and the sample drawn from it."""


class BasicDecoder(Decoder):
    """A decoder of a cell, a helper and an initial state; `output_layer` turns the cell's outputs into logits.

    Args:
        cell: The cell.
        helper: What gives the next inputs.
        initial_state: The first state.
        output_layer: A layer over the cell's outputs.

    Example:
        >>> cell, helper = tf.nn.rnn_cell.GRUCell(4), tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 5, 3]), [5, 3])
        >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(outputs.rnn_output).shape, sess.run(lengths)
        ((2, 5, 4), array([5, 3], dtype=int32))
    """

    def __init__(self, cell, helper, initial_state, output_layer=None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        keep(self, locals())

    batch_size = property(lambda self: self._helper.batch_size)

    def _rnn_output_size(self):
        return rnn_output_size(self._cell, self._output_layer)

    @property
    def output_size(self):
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        # Outputs have the dtype of the state.
        dtype = nest.flatten(self._initial_state)[0].dtype
        types = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(types, self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            given = {"time": time, "outputs": outputs, "state": cell_state, "sample_ids": sample_ids}
            finished, next_inputs, next_state = self._helper.next_inputs(**given)
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
