"""A queue that threads fill from arrays in memory: what `numpy_input_fn` and `pandas_input_fn` read from."""

from __future__ import annotations

import random

from everflow.framework import dtypes, errors
from everflow.framework.scopes import name_scope
from everflow.ops import math
from everflow.ops.array.constants import placeholder
from everflow.ops.io.summaries import scalar
from everflow.ops.queues.queues import FIFOQueue, RandomShuffleQueue
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train.queue_runner import QueueRunner, add_queue_runner


class FeedingQueueRunner(QueueRunner):
    """A queue runner whose enqueue ops are fed with what functions return; OutOfRangeError from one ends it."""

    @takes(
        """queue=None, enqueue_ops=None, close_op=None, cancel_op=None, feed_fns=None,
        queue_closed_exception_types=None""",
    )
    def __init__(self, enqueue_ops, feed_fns, queue_closed_exception_types, **given):
        kinds = queue_closed_exception_types
        given["queue_closed_exception_types"] = (
            (errors.OutOfRangeError, errors.CancelledError) if kinds is None else kinds
        )
        super().__init__(enqueue_ops=enqueue_ops, **given)
        self._feed_fns = [dict] * len(enqueue_ops) if feed_fns is None else feed_fns
        if len(self._feed_fns) != len(enqueue_ops):
            raise ValueError(
                f"If feed_fns is not None, it must have the same length as enqueue_ops: {len(feed_fns)}, not {len(enqueue_ops)}"
            )

    def _callable(self, sess, position):
        enqueue_op, feed_fn = self._enqueue_ops[position], self._feed_fns[position]
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def to_proto(self):
        raise NotImplementedError("A queue that is fed from this process's memory cannot be written to a file.")


class _Slices:
    """Called again and again, gives the next rows of arrays, around and around until so many epochs are over."""

    def __init__(self, placeholders, arrays, rows_at_a_time, random_start, num_epochs):
        self._placeholders = placeholders
        self._arrays = arrays
        self._rows = len(arrays[0])
        self._at = random.randrange(self._rows) if random_start else 0
        self._size = rows_at_a_time
        self._left = None if num_epochs is None else num_epochs * self._rows

    def __call__(self):
        if self._left == 0:
            raise errors.OutOfRangeError(None, None, f"All epochs of {self._rows} rows were emitted.")
        size = self._size if self._left is None else min(self._size, self._left)
        rows = [(self._at + i) % self._rows for i in range(size)]
        self._at = (self._at + size) % self._rows
        if self._left is not None:
            self._left -= size
        # The first component is the row's number.
        values = [rows, *(array[rows] for array in self._arrays)]
        return dict(zip(self._placeholders, values, strict=True))


def enqueue_arrays(arrays, capacity, shuffle, num_threads, enqueue_size, num_epochs):
    """A queue of the rows of arrays of equal length, each after its number; queue runners fill it."""
    if num_threads > 1 and num_epochs is not None:
        logging.warning(
            "With several threads, num_epochs counts for each of them: there will be more epochs than that."
        )
    with name_scope("enqueue_input"):
        types = [dtypes.int64, *(dtypes.as_dtype(array.dtype) for array in arrays)]
        shapes = [(), *(array.shape[1:] for array in arrays)]
        min_after_dequeue = capacity // 4 if shuffle else 0
        if shuffle:
            queue = RandomShuffleQueue(capacity, min_after_dequeue, dtypes=types, shapes=shapes)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feed_fns = [], []
        for _ in range(num_threads):
            placeholders = [placeholder(t) for t in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            feed_fns.append(_Slices(placeholders, arrays, enqueue_size, random_start=shuffle, num_epochs=num_epochs))
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns=feed_fns))
        room = capacity - min_after_dequeue
        fullness = math.cast(math.maximum(0, queue.size() - min_after_dequeue), dtypes.float32) * (1.0 / room)
        scalar(f"queue/{queue.name}fraction_over_{min_after_dequeue}_of_{room}_full", fullness)
        return queue


def dequeue_batch(queue, batch_size, num_epochs):
    """The components of a batch of rows, without their numbers; the last one of an epoch-limited input may be smaller."""
    batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
    return batch[1:] if isinstance(batch, list) else []


def check_shuffle(shuffle):
    """ValueError where nobody has said whether to shuffle."""
    if not isinstance(shuffle, bool):
        raise ValueError(
            f"shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got {shuffle}"
        )
