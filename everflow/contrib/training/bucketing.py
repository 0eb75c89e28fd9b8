"""Batches of similar examples, of similar length for example: a queue for each bucket, and one of batches."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.io import summaries as summary
from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue
from everflow.platform.signatures import takes
from everflow.train.queue_runner import QueueRunner, add_queue_runner

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def _sizes(batch_size, num_buckets):
    if isinstance(batch_size, (list, tuple)):
        if len(batch_size) != num_buckets:
            raise ValueError(f"There are {len(batch_size)} batch sizes for {num_buckets} buckets")
        return list(batch_size)
    return [batch_size] * num_buckets


def bucket(
    tensors,
    which_bucket,
    batch_size,
    num_buckets,
    num_threads=1,
    capacity=32,
    bucket_capacities=None,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    keep_input=True,
    shared_name=None,
    name=None,
):
    """(bucket, batch): batches of examples of the same bucket; `which_bucket` is that of the example at hand.

    `batch_size` may be a list with a number for each bucket; `dynamic_pad` pads rows to the longest of a batch.
    """
    names = list(tensors) if isinstance(tensors, dict) else None
    with name_scope(name, "bucket", list(tensors.values()) if names else list(tensors)) as name:
        tensor_list = [convert_to_tensor(t) for t in (tensors.values() if names else tensors)]
        if not tensor_list:
            raise ValueError("Expected at least one tensor in bucket().")
        batch_size_per_bucket = _sizes(batch_size, num_buckets)
        if bucket_capacities is not None and len(bucket_capacities) != num_buckets:
            raise ValueError(f"There are {len(bucket_capacities)} bucket_capacities for {num_buckets} buckets")
        keep_input = convert_to_tensor(keep_input)
        sizes = [convert_to_tensor(size, dtype=dtypes.int32, name="batch_size") for size in batch_size_per_bucket]
        types = [t.dtype.base_dtype for t in tensor_list]
        shapes = [TensorShape(s) for s in shapes] if shapes is not None else [t.get_shape() for t in tensor_list]
        if not dynamic_pad and not all(s.is_fully_defined() for s in shapes):
            raise ValueError(f"All shapes must be fully defined: {shapes}")
        common = {"dtypes": types, "shapes": shapes, "shared_name": shared_name}
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        capacities = bucket_capacities or [capacity] * num_buckets
        queues = [make(capacity=size, **common, name=f"bucket_queue_{i}") for i, size in enumerate(capacities)]
        known = {constant_value(size) is not None and int(constant_value(size)) for size in sizes}
        rows = known.pop() if len(known) == 1 and not allow_smaller_final_batch else None
        batched = [TensorShape([]), *(TensorShape([rows or None]).concatenate(s) for s in shapes)]
        whole = {"dtypes": [dtypes.int32, *types], "shapes": batched, "shared_name": shared_name}
        top = PaddingFIFOQueue(capacity=capacity, **whole, name="top_queue")
        into_buckets = _into_buckets(queues, tensor_list, which_bucket, keep_input)
        from_buckets = _from_buckets(queues, top, batch_size_per_bucket, allow_smaller_final_batch)
        run_until_closed(queues[0], from_buckets, top.close)

        def close(**options):
            return group(*(q.close(**options) for q in queues))

        run_until_closed(top, [into_buckets] * num_threads, close)
        # TensorFlow shows the size of the last queue under each bucket's name.
        for q in queues:
            summary.scalar(f"bucket/{q.name}/size", math.cast(top.size(), dtypes.float32))
        full = math.cast(top.size(), dtypes.float32) * (1.0 / capacity)
        summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)
        which, *batch = top.dequeue(name="dequeue_top")
        return which, dict(zip(names, batch)) if names else batch[0] if len(batch) == 1 else batch


def _into_buckets(queues, tensors, which_bucket, keep_input):
    """An op that puts the example at hand into the queue of its bucket, where it is kept."""

    def into(i):
        return cond(math.equal(which_bucket, i), lambda: queues[i].enqueue(tensors), no_op)

    def enqueue():
        return group(*(into(i) for i in range(len(queues))), name="group_enqueues")

    kept = constant_value(keep_input)
    if kept is None:
        return cond(keep_input, enqueue, no_op)
    return enqueue() if kept else no_op()


def _from_buckets(queues, top, sizes, allow_smaller_final_batch):
    """For each bucket an op that puts a batch of it, when there is one, into the last queue."""
    ops = []
    for i, (source, size) in enumerate(zip(queues, sizes)):
        read = source.dequeue_up_to if allow_smaller_final_batch else source.dequeue_many
        which = constant(i)
        batch = read(size, name=f"read_bucket_{i}")
        batch = batch if isinstance(batch, (list, tuple)) else [batch]
        ops.append(top.enqueue([which, *batch], name=f"enqueue_from_bucket_{i}"))
    return ops


def run_until_closed(queue, ops, close):
    """Let a thread for each op run it until its input ends, and then the op that `close()` gives."""
    closing = {"close_op": close(), "cancel_op": close(cancel_pending_enqueues=True)}
    add_queue_runner(QueueRunner(queue, ops, **closing, queue_closed_exception_types=_ENDS))


@takes(bucket)
def bucket_by_sequence_length(input_length, tensors, batch_size, bucket_boundaries, **given):
    """(lengths, batch): batches of sequences whose lengths lie between the same two boundaries."""
    values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors)
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for smaller, larger in zip(bucket_boundaries[:-1], bucket_boundaries[1:]):
        if not smaller < larger:
            raise ValueError(f"bucket_boundaries must increase, but {larger} comes after {smaller}")
    with name_scope(given.pop("name"), "bucket_by_sequence_length", [input_length, *values]):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        from_ = [limits.min, *bucket_boundaries]
        to = [*bucket_boundaries, limits.max]
        inside = math.logical_and(math.less_equal(from_, input_length), math.less(input_length, to))
        which = math.cast(math.reduce_min(array.where(inside)), dtypes.int32)
        with_length = {"length": input_length, **tensors} if isinstance(tensors, dict) else [input_length, *values]
        if given["shapes"] is not None:
            given["shapes"] = [TensorShape([]), *given["shapes"]]
        _, batch = bucket(with_length, which, batch_size, len(bucket_boundaries) + 1, **given)
        if isinstance(tensors, dict):
            return batch.pop("length"), batch
        return batch[0], batch[1:]
