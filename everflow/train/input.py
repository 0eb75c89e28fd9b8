"""Input by queues: producers that go through lists epoch by epoch, and batching, plain or shuffled, from one source or several."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_indexed_slices, convert_to_tensor_or_sparse_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import colocate_with, control_dependencies, executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.check import Assert
from everflow.ops.constants import constant
from everflow.ops.control_flow.conditionals import cond, smart_cond
from everflow.ops.data_flow import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from everflow.ops.grouping import no_op, with_dependencies
from everflow.ops.random import random_shuffle
from everflow.ops.summaries import scalar
from everflow.ops.variables import VariableV1
from everflow.train.queue_runner import QueueRunner, add_queue_runner

# --- producers --------------------------------------------------------------------------------

_NOT_EAGERLY = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest data into your model "
    "instead."
)


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, `num_epochs` times; then OutOfRangeError. A local variable counts: run `tf.local_variables_initializer()`."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        zero = constant(0, dtype=dtypes.int64)
        epochs = VariableV1(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
            return array.identity(tensor, name=name)


def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
):
    """A queue that a queue runner fills with the rows of a tensor, epoch after epoch."""
    if executing_eagerly():
        raise RuntimeError(_NOT_EAGERLY)
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        q = FIFOQueue(capacity=capacity, dtypes=[input_tensor.dtype.base_dtype], shapes=[element_shape], shared_name=shared_name, name=name)
        enq = q.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(q, [enq], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, math.cast(q.size(), dtypes.float32) * (1.0 / capacity))
        return q


def string_input_producer(
    string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None, cancel_op=None
):
    """A queue of strings, most often of file names.

    >>> files = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=2)
    >>> key, line = tf.TextLineReader().read(files)
    """
    message = "string_input_producer requires a non-null input tensor"
    from everflow.framework.operation import Tensor

    if not isinstance(string_tensor, Tensor) and not hasattr(string_tensor, "_as_graph_element") and not string_tensor:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(math.greater(array.size(string_tensor), 0), [message])]):
            string_tensor = array.identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue of the numbers from 0 to `limit` - 1."""
    with name_scope(name, "input_producer", [limit]) as name:
        numbers = math.range(limit)
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", name)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """One row of each tensor in a list, the next ones at each run."""
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = [convert_to_tensor_or_indexed_slices(t) for t in tensor_list]
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        range_size = array.shape(tensor_list[0])[0]
        queue = range_input_producer(
            range_size, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = queue.dequeue()
        return [array.gather(t, index) for t in tensor_list]


# --- what batching is made of -----------------------------------------------------------------


def _as_list(tensors):
    """A list of tensors, in the order of their keys for a dictionary."""
    return [tensors[k] for k in sorted(tensors)] if isinstance(tensors, dict) else tensors


def _as_list_list(tensors_list):
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if not isinstance(tensors_list[0], dict):
        return tensors_list
    keys = set(tensors_list[0])
    if any(set(tensors) != keys for tensors in tensors_list[1:]):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_list(tensors) for tensors in tensors_list]


def _as_given(example, tensors):
    """Tensors in the form in which the inputs came."""
    if isinstance(example, dict):
        if len(example) == 1:
            return {next(iter(example)): tensors}
        return dict(zip(sorted(example), tensors, strict=True))
    return tensors


def _validated(tensor_list):
    tensor_list = [convert_to_tensor_or_sparse_tensor(t) for t in tensor_list]
    if not tensor_list:
        raise ValueError("Expected at least one tensor in batch().")
    return tensor_list


def _validated_join(tensor_list_list):
    tensor_list_list = [[convert_to_tensor_or_sparse_tensor(t) for t in tensors] for tensors in tensor_list_list]
    if not tensor_list_list:
        raise ValueError("Expected at least one input in batch_join().")
    return tensor_list_list


def _validated_keep_input(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input)
    if keep_input.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and keep_input.shape.ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep_input.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _dtypes_of(tensor_list_list):
    all_types = [[t.dtype for t in tensors] for tensors in tensor_list_list]
    types = [t.base_dtype for t in all_types[0]]
    for other in all_types[1:]:
        if [t.base_dtype for t in other] != types:
            raise TypeError(f"Expected types to be consistent: {other} vs. {types}")
    return types


def _merged_shapes(shapes, enqueue_many):
    shapes = [TensorShape(s) for s in shapes]
    if enqueue_many:
        shapes = [s.with_rank_at_least(1)[1:] for s in shapes]
    merged = shapes[0]
    for shape in shapes[1:]:
        merged = merged.merge_with(shape) if merged.is_compatible_with(shape) else _loosened(merged, shape)
    return merged.as_list() if merged.ndims is not None else None


def _loosened(a, b):
    if a.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list(), strict=True)])


def _shapes_of(tensor_list_list, shapes, enqueue_many):
    if shapes is not None:
        return shapes
    if any(len(tensors) != len(tensor_list_list[0]) for tensors in tensor_list_list):
        raise ValueError("All sets of tensors must have the same length")
    for tensors in tensor_list_list:
        for tensor in tensors:
            if tensor.shape.dims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    return [_merged_shapes([t.shape.as_list() for t in column], enqueue_many) for column in zip(*tensor_list_list, strict=True)]


class _Kept:
    """How a sparse tensor goes through a queue: as the key of a map that keeps it; None in `op` for a dense one."""

    def __init__(self, op=None, rank=None):
        self.op, self.rank = op, rank


def _stored(tensor, map_op, enqueue_many, keep_input):
    """A sparse tensor put into a map, its key (or keys) as a dense tensor of one more axis, and the map's op."""
    if not isinstance(tensor, SparseTensor):
        return tensor, _Kept()
    # All tensors of a place share the map of the first.
    sharing = {} if map_op is None else {"shared_name": map_op.name}
    add = raw.AddManySparseToTensorsMap if enqueue_many else raw.AddSparseToTensorsMap

    def store():
        return add(tensor.indices, tensor.values, tensor.dense_shape, **sharing)

    if enqueue_many or constant_value(keep_input) is True or (constant_value(keep_input) is not None and bool(constant_value(keep_input))):
        handle = store()
        op = handle.op
    else:
        handle = cond(keep_input, store, lambda: constant(-1, dtypes.int64))
        op = handle.op.inputs[1].op
    handle.set_shape([None] if enqueue_many else [])
    return array.expand_dims(handle, -1), _Kept(map_op or op, tensor.shape.ndims)


def _stored_all(tensor_list, enqueue_many, keep_input, sharing=None):
    if not any(isinstance(t, SparseTensor) for t in tensor_list):
        return tensor_list, None
    pairs = [_stored(t, None if sharing is None else sharing[i].op, enqueue_many, keep_input) for i, t in enumerate(tensor_list)]
    return [t for t, _ in pairs], [kept for _, kept in pairs]


def _stored_join(tensor_list_list, enqueue_many, keep_input):
    first, kept = _stored_all(tensor_list_list[0], enqueue_many, keep_input)
    stored = [first]
    for tensors in tensor_list_list[1:]:
        stored.append(_stored_all(tensors, enqueue_many, keep_input, kept)[0])
    return stored, kept


def _restored(dequeued, kept_list):
    """Sparse tensors out of their maps again; what is dequeued waits until all are."""
    tensors = dequeued if isinstance(dequeued, (list, tuple)) else [dequeued]
    if kept_list is None:
        return dequeued
    out = []
    for tensor, kept in zip(tensors, kept_list, strict=True):
        if kept.op is None:
            out.append(tensor)
            continue
        keys = array.squeeze(tensor, [1])
        with colocate_with(kept.op):
            taken = raw.TakeManySparseFromTensorsMap(keys, dtype=kept.op.get_attr("T"), shared_name=kept.op.name)
        indices, values, shape = taken
        rank = None if kept.rank is None else kept.rank + 1
        indices.set_shape([None, rank])
        shape.set_shape([rank])
        out.append(SparseTensor(indices, values, shape))
    ops = [t.op for t in out]

    def waiting(tensor):
        others = [op for op in ops if op is not tensor.op]
        if isinstance(tensor, SparseTensor):
            return SparseTensor(*(with_dependencies(others, part) for part in (tensor.indices, tensor.values, tensor.dense_shape)))
        return with_dependencies(others, tensor)

    out = [waiting(t) for t in out]
    return out if isinstance(dequeued, (list, tuple)) else out[0]


def _rows_to_keep(tensor_list, keep_input):
    select = math.cast(keep_input, dtypes.int32)
    return [raw.DynamicPartition(t, select, num_partitions=2)[1] for t in tensor_list]


def _fill(queue, tensor_list_list, threads, enqueue_many, keep_input):
    """A queue runner that puts these tensors in, `threads` times each."""
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    ops = []
    for tensors in tensor_list_list:
        if keep_input.shape.ndims == 1:
            ops.append(put(_rows_to_keep(tensors, keep_input)))
        else:
            ops.append(smart_cond(keep_input, lambda tensors=tensors: put(tensors), no_op))
    add_queue_runner(QueueRunner(queue, ops * threads))


def _batched(
    tensors_list, batch_size, keep_input, default_name, make_queue, threads, enqueue_many, shapes, allow_smaller_final_batch, name, single
):
    """What all batching functions do; `make_queue(dtypes, shapes)` gives (queue, summary of how full it is)."""
    if executing_eagerly():
        raise ValueError(_NOT_EAGERLY)
    lists = [_as_list(tensors_list)] if single else _as_list_list(tensors_list)
    example = tensors_list if single else tensors_list[0]
    with name_scope(name, default_name, [t for tensors in lists for t in tensors] + [keep_input]) as name:
        lists = [_validated(lists[0])] if single else _validated_join(lists)
        keep_input = _validated_keep_input(keep_input, enqueue_many)
        lists, kept = _stored_join(lists, enqueue_many, keep_input)
        types = _dtypes_of(lists)
        queue, summarize = make_queue(types, _shapes_of(lists, shapes, enqueue_many))
        _fill(queue, lists, threads, enqueue_many, keep_input)
        summarize(queue)
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        dequeued = _restored(take(batch_size, name=name), kept)
        return _as_given(example, dequeued)


def _plain(capacity, dynamic_pad, shared_name):
    def make(types, shapes):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)
        return queue, lambda q: scalar(f"fraction_of_{capacity}_full", math.cast(q.size(), dtypes.float32) * (1.0 / capacity))

    return make


def _shuffled(capacity, min_after_dequeue, seed, shared_name):
    def summarize(queue):
        over = math.cast(math.maximum(0, queue.size() - min_after_dequeue), dtypes.float32)
        full = over * (1.0 / (capacity - min_after_dequeue))
        scalar(f"fraction_over_{min_after_dequeue}_of_{capacity - min_after_dequeue}_full", full)

    def make(types, shapes):
        queue = RandomShuffleQueue(
            capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, dtypes=types, shapes=shapes, shared_name=shared_name
        )
        return queue, summarize

    return make


# --- batching ---------------------------------------------------------------------------------


def batch(
    tensors,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Tensors of one example (a list or a dictionary) as batches, by way of a queue.

    >>> images, labels = tf.train.batch([image, label], batch_size=32)
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name
    )


def maybe_batch(
    tensors,
    keep_input,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """`batch` of those examples for which `keep_input` is true."""
    make = _plain(capacity, dynamic_pad, shared_name)
    return _batched(
        tensors, batch_size, keep_input, "batch", make, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name, True
    )


def batch_join(
    tensors_list,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches from several sources, one thread each."""
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name
    )


def maybe_batch_join(
    tensors_list,
    keep_input,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """`batch_join` of those examples for which `keep_input` is true."""
    make = _plain(capacity, dynamic_pad, shared_name)
    return _batched(
        tensors_list, batch_size, keep_input, "batch_join", make, 1, enqueue_many, shapes, allow_smaller_final_batch, name, False
    )


def shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Like `batch`, with examples in random order."""
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """`shuffle_batch` of those examples for which `keep_input` is true."""
    make = _shuffled(capacity, min_after_dequeue, seed, shared_name)
    return _batched(
        tensors, batch_size, keep_input, "shuffle_batch", make, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name, True
    )


def shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Like `batch_join`, with examples in random order."""
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """`shuffle_batch_join` of those examples for which `keep_input` is true."""
    make = _shuffled(capacity, min_after_dequeue, seed, shared_name)
    return _batched(
        tensors_list, batch_size, keep_input, "shuffle_batch_join", make, 1, enqueue_many, shapes, allow_smaller_final_batch, name, False
    )
