"""Batches of segments of long sequences, with the states of a recurrent network handed on between segments.

A sequence is cut into segments of `num_unroll` steps, which all go into a barrier under keys "0000i_of_0000n:key". A
segment is complete, and can be taken, once it has a state: the first one gets the initial states with it, each later
one when the state of the one before is saved.
"""

from __future__ import annotations

import collections

from everflow.contrib.training.sequence_checks import assert_multiple_of, check_dimensions, check_rank, check_shape
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks.values import assert_greater_equal
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.grouping import group
from everflow.ops.queues.barriers import Barrier
from everflow.ops.queues.queues import FIFOQueue
from everflow.ops.strings.text import as_string, string_join

# What the barrier holds of each segment before the sequences, contexts and states.
_LENGTH, _TOTAL_LENGTH, _NEXT_KEY, _SEQUENCE, _SEQUENCE_COUNT = range(5)
# Stands in the queue for a sequence that isn't over; only how many there are matters.
_TOKEN = 21051976


def _by_name(values, kind):
    """{name: tensor} in the order of names."""
    tensors = collections.OrderedDict()
    for name in sorted(values):
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")
        tensors[name] = convert_to_tensor(values[name], name=f"{kind}_{name}")
    return tensors


class SequenceQueueingStateSaver:
    """Takes whole sequences in, and gives batches of segments out whose states it keeps between runs.

    `prefetch_op` takes the sequence at hand in; `next_batch` is the batch to compute with.
    """

    def __init__(self, batch_size, num_unroll, input_length, input_key, input_sequences, input_context, initial_states, capacity=None,
                 allow_small_batch=False, name=None):  # fmt: skip
        if capacity is not None and isinstance(batch_size, Tensor):
            sizes = (math.cast(size, dtypes.int64) for size in (capacity, batch_size))
            enough = assert_greater_equal(*sizes, message="capacity needs to be >= batch_size.")
            with control_dependencies([enough]):
                input_key = array.identity(input_key)
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        self._queue = FIFOQueue(-1 if capacity is None else capacity, [dtypes.int32], [[]])
        values = [*input_sequences.values(), *input_context.values()]
        if not isinstance(initial_states, dict):
            raise TypeError("initial_states must be a dictionary")
        if not initial_states:
            raise ValueError("initial_states may not be empty: a segment waits for states of the one before it")
        values += initial_states.values()
        with colocate_with(self._queue.queue_ref), name_scope(name, "InputQueueingStateSaver", values) as scope:
            self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
            self._name = scope
            self._length = convert_to_tensor(input_length, name="length")
            if self._length.dtype != dtypes.int32:
                raise TypeError(f"length dtype must be int32, but received: {self._length.dtype}")
            self._key = convert_to_tensor(input_key, name="key")
            if self._key.dtype != dtypes.string:
                raise TypeError(f"key dtype must be string, but received: {self._key.dtype}")
            self._sequences = _by_name(input_sequences, "sequence")
            self._contexts = _by_name(input_context, "context")
            self._states = _by_name(initial_states, "state")
            self._check_inputs()
            self._barrier = Barrier(types=self._types(), shapes=self._shapes())
        self._prefetch_op = self._next_batch = None

    def _check_inputs(self):
        if not self._sequences:
            raise ValueError("must have at least one sequence tensor")
        self._length = check_rank(self._length, 0)
        self._key = check_rank(self._key, 0)
        for name, value in self._sequences.items():
            if value.shape.rank is None or not value.shape[1:].is_fully_defined():
                raise ValueError(
                    f"Shape for sequence {name} is not fully defined (ignoring first dimension): {value.shape}"
                )
        for kind, values in (("context", self._contexts), ("state", self._states)):
            for name, value in values.items():
                if not value.shape.is_fully_defined():
                    raise ValueError(f"Shape for {kind} {name} is not fully defined : {value.shape}")
        rows = array.identity(array.shape(next(iter(self._sequences.values())))[0], name="padded_length")
        whole = assert_multiple_of(self._num_unroll, rows, math.floormod(rows, self._num_unroll), f"Tensor {rows.name}")
        with control_dependencies([whole]):
            self._padded_length = array.identity(rows, name="multiple_of_checked")
        for name, value in self._sequences.items():
            self._sequences[name] = check_dimensions(value, [self._padded_length], f"sorted_sequences_{name}")
        fits = math.less_equal(self._length, self._padded_length)
        message = [
            "The given length is more than the padded sequences have:",
            self._length,
            " vs. ",
            self._padded_length,
        ]
        with control_dependencies([Assert(fits, message)]):
            self._length = array.identity(self._length)

    def _types(self):
        rest = [*self._sequences.values(), *self._contexts.values(), *self._states.values()]
        return [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32, *(value.dtype for value in rest)]

    def _shapes(self):
        segments = [TensorShape([self._num_unroll]).concatenate(value.shape[1:]) for value in self._sequences.values()]
        others = [value.shape for value in (*self._contexts.values(), *self._states.values())]
        return [TensorShape([])] * 5 + segments + others

    def _component(self, values, name):
        """Where the barrier holds a named sequence, context or state."""
        before = 5
        for kind in (self._sequences, self._contexts, self._states):
            if kind is values:
                return before + list(values).index(name)
            before += len(kind)
        raise KeyError(name)

    name = property(lambda self: self._name, doc="The name scope.")
    barrier = property(lambda self: self._barrier, doc="The barrier that holds the segments.")
    batch_size = property(lambda self: self._batch_size, doc="How many segments a batch has.")
    num_unroll = property(lambda self: self._num_unroll, doc="How many steps a segment has.")

    @property
    def prefetch_op(self):
        """The op that takes the sequence at hand in; it waits while there are `capacity` of them."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._name):
                self._prefetch_op = self._make_prefetch_op()
        return self._prefetch_op

    @property
    def next_batch(self):
        """The batch of segments, a `NextQueuedSequenceBatch`."""
        if self._next_batch is None:
            # What fills the barrier comes first in the graph.
            assert self.prefetch_op is not None
            self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def _make_prefetch_op(self):
        count = math.div(self._padded_length, self._num_unroll)
        ones = array.ones(array.expand_dims(count, 0), dtype=dtypes.int32)
        sequence = math.range(count)
        length = math.minimum(self._num_unroll, math.maximum(0, self._length - self._num_unroll * sequence))
        total_length = self._length * ones
        sequence_count = count * ones
        # Numbers of five digits, so that keys sort as the segments do.
        digits = [as_string(number, width=5, fill="0") for number in (sequence, count)]
        keys = string_join([digits[0], "_of_", digits[1], ":", self._key], name="StringJoinCurrentKeys")
        later_keys = array.slice_(keys, [1], [-1])
        stop = array.expand_dims(string_join(["STOP:", self._key], name="StringJoinStop"), 0)
        next_keys = array.concat([later_keys, stop], 0, name="concat_next_keys")
        segments = {name: self._segments(name, value, count) for name, value in self._sequences.items()}
        contexts = {name: self._repeated(name, value, count) for name, value in self._contexts.items()}

        def insert(component, values, name):
            return self._barrier.insert_many(component, keys, values, name=name)

        inserts = [
            insert(_SEQUENCE, sequence, "BarrierInsertSequence"),
            insert(_SEQUENCE_COUNT, sequence_count, "BarrierInsertSequenceCount"),
            insert(_NEXT_KEY, next_keys, "BarrierInsertNextKey"),
            insert(_LENGTH, length, "BarrierInsertLength"),
            insert(_TOTAL_LENGTH, total_length, "BarrierInsertTotalLength"),
        ]
        for name, value in contexts.items():
            inserts.append(insert(self._component(self._contexts, name), value, f"BarrierInsertContext_{name}"))
        for name, value in segments.items():
            inserts.append(insert(self._component(self._sequences, name), value, f"BarrierInsertSequences_{name}"))
        enqueue = self._queue.enqueue([_TOKEN])
        with control_dependencies([enqueue, inserts[0]]):

            def initial(name, value):
                component, key = self._component(self._states, name), array.stack([keys[0]])
                name = f"BarrierInitialInsertState_{name}"
                return self._barrier.insert_many(component, key, array.stack([value]), name=name)

            states = [initial(name, value) for name, value in self._states.items()]
        return group(enqueue, *inserts, *states, name="StateSaverPrefetchGroup")

    def _segments(self, name, value, count):
        fixed = value.shape[1:].as_list()
        parts = [array.expand_dims(count, 0), array.expand_dims(self._num_unroll, 0), fixed]
        sizes = array.concat(parts, 0, name=f"concat_sequences_{name}")
        reshaped = array.reshape(value, sizes, name=f"reshape_sequences_{name}")
        return check_dimensions(reshaped, [count, self._num_unroll, *fixed], f"reshaped_sequences_{name}")

    def _repeated(self, name, value, count):
        expanded = array.expand_dims(value, 0)
        times = [array.expand_dims(count, 0), [1] * value.shape.rank]
        multiples = array.concat(times, 0, name=f"concat_context_{name}")
        tiled = array.tile(expanded, multiples, name=f"tile_context_{name}")
        return check_dimensions(tiled, [count, *value.shape.as_list()], f"expanded_context_{name}")

    def close(self, cancel_pending_enqueues=False, name=None):
        """An op after which no more sequences are taken in."""
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as name:
            barrier = self._barrier.close(cancel_pending_enqueues, name="BarrierClose")
            queue = self._queue.close(cancel_pending_enqueues, name="FIFOClose")
            return group(barrier, queue, name=name)


class NextQueuedSequenceBatch:
    """A batch of segments: their steps, contexts, keys and lengths, and the states to begin with."""

    def __init__(self, state_saver):
        self._saver = state_saver
        with name_scope(None), name_scope(state_saver.name):
            taken = state_saver.batch_size, state_saver._allow_small_batch
            self._indices, self._key, values = state_saver.barrier.take_many(*taken, name="BarrierTakeMany")
            self._values = values
            self._batch_size = array.squeeze(array.shape(values[_LENGTH]))
            self._is_last = math.greater_equal(values[_SEQUENCE] + 1, values[_SEQUENCE_COUNT])
            # Sequences that end here make room for new ones.
            ended = math.reduce_sum(math.cast(self._is_last, dtypes.int32))
            room = state_saver._queue.dequeue_many(ended)
            with control_dependencies([room.op]):
                states = self._named(state_saver._states).items()
                self._states = collections.OrderedDict((name, array.identity(value)) for name, value in states)

    def _named(self, kind):
        return collections.OrderedDict((name, self._values[self._saver._component(kind, name)]) for name in kind)

    total_length = property(lambda self: self._values[_TOTAL_LENGTH], doc="The lengths of the whole sequences.")
    length = property(lambda self: self._values[_LENGTH], doc="How many steps of each segment are in its sequence.")
    batch_size = property(lambda self: self._batch_size, doc="How many segments there are.")
    insertion_index = property(lambda self: self._indices, doc="When each segment was put in, compared with others.")
    key = property(lambda self: self._key, doc='The segments\' keys, "0000i_of_0000n:key".')
    next_key = property(lambda self: self._values[_NEXT_KEY], doc='The keys of the next segments, or "STOP:key".')
    sequence = property(lambda self: self._values[_SEQUENCE], doc="Which segments of sequences these are, from 0.")
    sequence_count = property(lambda self: self._values[_SEQUENCE_COUNT], doc="How many segments their sequences have.")
    context = property(lambda self: self._named(self._saver._contexts), doc="{name: what holds for a whole sequence}.")
    sequences = property(lambda self: self._named(self._saver._sequences), doc="{name: the segments' steps}.")

    def state(self, state_name):
        """The state to begin with."""
        return self._states[state_name]

    def save_state(self, state_name, value, name=None):
        """An op that hands a state over to the sequences' next segments."""
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        saver = self._saver
        with (
            colocate_with(saver._queue.queue_ref),
            name_scope(name, "InputQueueingStateSaver_SaveState", [value, self.next_key]),
        ):
            unfinished = array.reshape(array.where(math.logical_not(self._is_last)), [-1])
            keys = array.gather(self.next_key, unfinished)
            value = array.identity(value, name=f"convert_{state_name}")
            shape = array.shape(self._states[state_name])
            sizes = constant_value(shape)
            value = check_rank(value, array.size(shape) if sizes is None else len(sizes))
            value = check_shape(value, shape if sizes is None else sizes.tolist())
            values = array.gather(value, unfinished)
            component = saver._component(saver._states, state_name)
            return saver.barrier.insert_many(component, keys, values, name=f"BarrierInsertState_{state_name}")
