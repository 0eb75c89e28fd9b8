"""`Decoder`, what decodes one step, and `dynamic_decode`, the loop that runs one until every sequence is finished."""

from __future__ import annotations

import abc

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables import scope as scopes
from everflow.rnn.dynamic import transpose_batch_time
from everflow.rnn.shapes import zero_state


class Decoder(abc.ABC):
    """What `dynamic_decode` drives: `initialize()`, then `step(time, inputs, state)` until all is finished."""

    @property
    def batch_size(self):
        """The number of sequences: a scalar tensor."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The sizes of an output: a structure of ints and TensorShapes."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of an output, in the structure of `output_size`."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs, initial state)."""
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """(outputs, final state) made of those of all steps; by default they stay as they are."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `step`'s finished is the whole truth; else a sequence once finished stays so."""
        return False


def rnn_output_size(cell, output_layer):
    """The sizes of what a cell gives, or of what a layer makes of it."""
    size = cell.output_size
    if output_layer is not None:
        # Layers tell shapes with a batch in front, which sizes are without.
        batches = nest.map_structure(lambda size: TensorShape([None]).concatenate(TensorShape(size)), size)
        size = nest.map_structure(lambda shape: shape[1:], output_layer.compute_output_shape(batches))
    return size


def _element_shape(batch_size, size):
    """What is known of an output's shape, where its size is given as a shape."""
    if not isinstance(size, TensorShape) or size.rank == 0:
        return None
    batch = constant_value(convert_to_tensor(batch_size, name="batch_size"))
    return TensorShape([None if batch is None else int(batch)]).concatenate(size)


def zero_outputs(size, dtype, batch_size):
    """Zeros of a decoder's output sizes and types."""
    return nest.map_structure(lambda size, dtype: zero_state(size, batch_size, dtype), size, dtype)


def _kept_where_finished(finished, new, before):
    """The state before where a sequence is finished; scalars and arrays always go on."""
    if isinstance(before, TensorArray):
        return new
    new.set_shape(before.shape)
    return new if new.shape.rank == 0 else array.where(finished, before, new)


def _body(decoder, sizes, kinds, zeros):
    """One turn of the loop: a step of the decoder, written down; finished sequences give `zeros`, if there are any."""

    def body(time, arrays, state, inputs, finished, lengths):
        outputs, next_state, next_inputs, decoder_finished = decoder.step(time, inputs, state)
        nest.assert_same_structure(outputs, sizes)
        next_finished = decoder_finished if decoder.tracks_own_finished else math.logical_or(decoder_finished, finished)
        next_lengths = array.where(math.logical_not(finished), array.fill(array.shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(outputs, kinds)
        nest.assert_same_structure(next_inputs, inputs)
        if zeros is not None:
            outputs = nest.map_structure(lambda new, zero: array.where(finished, zero, new), outputs, zeros)
            next_state = nest.map_structure(
                lambda new, before: _kept_where_finished(finished, new, before), next_state, state
            )
        arrays = nest.map_structure(lambda a, value: a.write(time, value), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, next_lengths

    return body


def dynamic_decode(decoder, output_time_major=False, impute_finished=False, maximum_iterations=None, parallel_iterations=32,
                   swap_memory=False, scope=None, **kwargs):  # fmt: skip
    """(outputs, final state, lengths) of a decoder run until all sequences are finished, or for so many steps.

    With `impute_finished`, finished sequences give zeros and keep their state.

    Args:
        decoder: The decoder.
        output_time_major: Whether the first axis of outputs is time.
        impute_finished: Whether finished sequences give zeros and keep their state.
        maximum_iterations: The most steps; any number if None.
        parallel_iterations: How many rounds may be under way at the same time.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        scope: The variable scope.
        **kwargs: Further arguments of the decoder's `step`.

    Returns:
        The outputs, the last state and the lengths.

    Raises:
        TypeError: If it is no decoder.
        ValueError: If the number of steps is no scalar.

    Example:
        >>> cell, helper = tf.nn.rnn_cell.GRUCell(4), tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 5, 3]), [5, 3])
        >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=4)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(lengths)
        array([4, 3], dtype=int32)
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be a Decoder, not a {type(decoder).__name__}")
    with scopes.variable_scope(scope, "decoder") as varscope:
        if varscope.caching_device is None:
            varscope.set_caching_device(lambda op: op.device)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype=dtypes.int32, name="maximum_iterations")
            if maximum_iterations.shape.rank != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, first_inputs, initial_state = decoder.initialize(**kwargs.get("decoder_init_input", {}))
        sizes, kinds = decoder.output_size, decoder.output_dtype
        batch_size = decoder.batch_size
        zeros = zero_outputs(sizes, kinds, batch_size)
        if maximum_iterations is not None:
            finished = math.logical_or(finished, 0 >= maximum_iterations)
        lengths = array.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)

        def made(size, dtype):
            element_shape = _element_shape(decoder.batch_size, size)
            return TensorArray(dtype, size=0, dynamic_size=True, element_shape=element_shape)

        arrays = nest.map_structure(made, sizes, kinds)

        result = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: math.logical_not(math.reduce_all(finished)),
            _body(decoder, sizes, kinds, zeros if impute_finished else None),
            loop_vars=(time, arrays, initial_state, first_inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        _, arrays, final_state, _, _, final_lengths = result
        outputs = nest.map_structure(lambda a: a.stack(), arrays)
        try:
            outputs, final_state = decoder.finalize(outputs, final_state, final_lengths)
        except NotImplementedError:
            # A decoder need not change what its steps gave.
            pass
        if not output_time_major:
            outputs = nest.map_structure(
                lambda x: transpose_batch_time(x) if isinstance(x, Tensor) and x.shape.rank != 0 else x, outputs
            )
    return outputs, final_state, final_lengths
