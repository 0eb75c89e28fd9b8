"""`batch_sequences_with_states`: threads that take sequences in, and batches of their segments with states."""

from __future__ import annotations

from everflow.contrib.training.bucketing import run_until_closed
from everflow.contrib.training.sequence_checks import assert_multiple_of
from everflow.contrib.training.state_saver import SequenceQueueingStateSaver
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.io import summaries as summary
from everflow.ops.random import distributions as random
from everflow.ops.strings.text import as_string, string_join


def batch_sequences_with_states(input_key, input_sequences, input_context, input_length, initial_states, num_unroll, batch_size,
                                num_threads=3, capacity=1000, allow_small_batch=True, pad=True, make_keys_unique=False,
                                make_keys_unique_seed=None, name=None):  # fmt: skip
    """A batch of segments of `num_unroll` steps of long sequences, with the states their earlier segments left.

    The batch is a `NextQueuedSequenceBatch`, for `tf.nn.static_state_saving_rnn`. `pad` completes segments with zeros.

    >>> batch = batch_sequences_with_states(key, {"x": steps}, {}, length, {"state": tf.zeros([8])}, num_unroll=20, batch_size=32)
    >>> inputs = tf.unstack(batch.sequences["x"], num=20, axis=1)
    >>> outputs, state = tf.nn.static_state_saving_rnn(cell, inputs, batch, "state", batch.length)
    """
    values = [*input_sequences.values(), *input_context.values()]
    with name_scope(name, "batch_sequences_with_states", values):
        if any(isinstance(value, SparseTensor) for value in values):
            raise NotImplementedError("batch_sequences_with_states takes dense tensors only: use tf.sparse.to_dense.")
        input_sequences = {label: convert_to_tensor(value) for label, value in sorted(input_sequences.items())}
        if pad and input_sequences:
            length, input_sequences = _padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            input_sequences = {label: _whole(label, value, num_unroll) for label, value in input_sequences.items()}
        _draw_number_of_rows(input_sequences)
        if make_keys_unique:
            number = random.random_uniform([], maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, as_string(number)])
        tensors = input_length, input_key, input_sequences, input_context, initial_states
        saver = SequenceQueueingStateSaver(batch_size, num_unroll, *tensors, capacity, allow_small_batch)
        ready = math.cast(saver.barrier.ready_size(), dtypes.float32)
        summary.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        run_until_closed(saver, [saver.prefetch_op] * num_threads, saver.close)
        return saver.next_batch


def _whole(label, value, num_unroll):
    rows = array.shape(value)[0]
    check = assert_multiple_of(num_unroll, rows, rows % num_unroll, f"Tensor {label} first dimension")
    with control_dependencies([check]):
        return array.identity(value, name="multiple_of_checked")


def _draw_number_of_rows(sequences):
    """Nodes that nothing reads, where TensorFlow has them: names and seeds of later nodes are counted from all before."""
    rows, first = constant(1), list(sequences.values())[:1]
    with control_dependencies(first):
        math.cast(array.shape(first[0])[0] if first else rows, dtypes.int64)


def _padded(sequences, num_unroll):
    """(length, sequences), with zeros after their ends up to a multiple of `num_unroll`."""
    lengths = [array.shape(value)[0] for value in sequences.values()]
    length = lengths[0]

    def check(other):
        same = math.equal(other, length)
        words = ["Sequences of one example are equally long, and these are not: ", as_string(lengths)]
        return Assert(same, [string_join(words)])

    checks = [check(other) for other in lengths]
    length = with_dependencies(checks, length)
    step = constant(num_unroll, dtype=dtypes.int32)
    whole = length + (step - length % step) % step
    padded = {}
    for label, value in sequences.items():
        missing = whole - array.shape(value)[0]
        sizes = array.concat([[missing], array.shape(value)[1:]], 0)
        filler = array.fill(sizes, constant("" if value.dtype == dtypes.string else 0, dtype=value.dtype))
        padded[label] = array.concat([value, filler], 0)
    return length, padded
