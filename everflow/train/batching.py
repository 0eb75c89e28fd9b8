"""What batching is made of: a queue, what fills it, sparse tensors that wait outside, and batches from its end."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_sparse_tensor
from everflow.framework.scopes import colocate_with, executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.conditionals import cond, smart_cond
from everflow.ops.control_flow.grouping import no_op, with_dependencies
from everflow.ops.io.summaries import scalar
from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from everflow.ops.sparse.functions import sparse_retain
from everflow.train.queue_runner import QueueRunner, add_queue_runner

NOT_EAGERLY = "Queues are of graphs, and thus not supported when eager execution is enabled: take data from tf.data"


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
        raise ValueError(
            f"The dictionaries of tensors_list differ in their keys: {[sorted(each) for each in tensors_list]}"
        )
    return [_as_list(tensors) for tensors in tensors_list]


def _as_given(example, tensors):
    """Tensors in the form in which the inputs came."""
    if isinstance(example, dict):
        if len(example) == 1:
            return {next(iter(example)): tensors}
        return dict(zip(sorted(example), tensors, strict=True))
    return tensors


def _validated_keep_input(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input)
    if keep_input.shape.ndims is None:
        raise ValueError(
            f"The `keep_input` dimensions must be known when the graph is drawn, not only when it runs: {keep_input}"
        )
    if not enqueue_many and keep_input.shape.ndims == 1:
        raise ValueError(
            "`keep_input` cannot be a vector here: with `enqueue_many=False` there is one example. Pass a scalar"
        )
    if keep_input.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _dtypes_of(tensor_list_list):
    all_types = [[t.dtype for t in tensors] for tensors in tensor_list_list]
    if any(len(types) != len(all_types[0]) for types in all_types):
        raise ValueError(f"All sets of tensors must have as many tensors as the first: {tensor_list_list}")
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
        merged = _loosened(merged, shape)
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
    return [
        _merged_shapes([t.shape.as_list() for t in column], enqueue_many)
        for column in zip(*tensor_list_list, strict=True)
    ]


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

    def no_keys():
        if not enqueue_many:
            return constant(-1, dtypes.int64)
        return -1 * array.ones(array.shape(tensor)[:1], dtypes.int64)

    if keep_input.shape.ndims == 1:
        # Only what is in rows that are kept is stored: nothing would take the rest out again.
        tensor = sparse_retain(tensor, array.gather(keep_input, tensor.indices[:, 0]))
        handle = store()
        op = handle.op
    elif constant_value(keep_input):
        handle = store()
        op = handle.op
    else:
        handle = cond(keep_input, store, no_keys)
        op = handle.op.inputs[1].op
    handle.set_shape([None] if enqueue_many else [])
    rank = tensor.shape.ndims  # of a batch
    if rank is not None and not enqueue_many:
        rank += 1
    return array.expand_dims(handle, -1), _Kept(map_op or op, rank)


def _stored_all(tensor_list, enqueue_many, keep_input, sharing=None):
    if not any(isinstance(t, SparseTensor) for t in tensor_list):
        return tensor_list, None
    pairs = [
        _stored(t, None if sharing is None else sharing[i].op, enqueue_many, keep_input)
        for i, t in enumerate(tensor_list)
    ]
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
        indices.set_shape([None, kept.rank])
        shape.set_shape([kept.rank])
        out.append(SparseTensor(indices, values, shape))
    ops = [t.op for t in out]

    def waiting(tensor):
        others = [op for op in ops if op is not tensor.op]
        if isinstance(tensor, SparseTensor):
            return SparseTensor(
                *(with_dependencies(others, part) for part in (tensor.indices, tensor.values, tensor.dense_shape))
            )
        return with_dependencies(others, tensor)

    waited = [waiting(t) for t in out]
    # One alone waits for nothing; that its nodes are drawn keeps names as they are known.
    return waited if isinstance(dequeued, (list, tuple)) else out[0]


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


def plain_queue(types, shapes, capacity, dynamic_pad, shared_name):
    """A queue that keeps the order, and what summarizes how full it is."""
    queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
        capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name
    )

    def summarize():
        scalar(f"fraction_of_{capacity}_full", math.cast(queue.size(), dtypes.float32) * (1.0 / capacity))

    return queue, summarize


def shuffled_queue(types, shapes, capacity, min_after_dequeue, seed, shared_name):
    """A queue that mixes what is in it, and what summarizes how full it is above the least it keeps."""
    held = {"dtypes": types, "shapes": shapes, "shared_name": shared_name}
    queue = RandomShuffleQueue(capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, **held)

    def summarize():
        over = math.cast(math.maximum(0, queue.size() - min_after_dequeue), dtypes.float32)
        full = over * (1.0 / (capacity - min_after_dequeue))
        scalar(f"fraction_over_{min_after_dequeue}_of_{capacity - min_after_dequeue}_full", full)

    return queue, summarize


def roomy_shuffled_queue(types, shapes, capacity, min_after_dequeue, **options):
    """A shuffled queue with room for more than what it keeps."""
    if capacity <= min_after_dequeue:
        raise ValueError(
            f"capacity={capacity} leaves no room above min_after_dequeue={min_after_dequeue}: it must be bigger"
        )
    return shuffled_queue(types, shapes, capacity, min_after_dequeue, **options)


def batched(
    default_name,
    make_queue,
    batch_size,
    keep_input,
    enqueue_many,
    shapes,
    allow_smaller_final_batch,
    name,
    tensors=None,
    tensors_list=None,
    num_threads=1,
    **queue_options,
):
    """What all batching functions do, with the arguments they were called with: batches of `tensors`, or of several
    sources in `tensors_list`.

    `make_queue(types, shapes, **queue_options)` gives a queue and a function that summarizes how full it is.
    """
    if executing_eagerly():
        raise ValueError(NOT_EAGERLY)
    single = tensors_list is None
    lists = [_as_list(tensors)] if single else _as_list_list(tensors_list)
    with name_scope(name, default_name, [t for tensors in lists for t in tensors] + [keep_input]) as name:
        lists = [[convert_to_tensor_or_sparse_tensor(t) for t in tensors] for tensors in lists]
        if single and not lists[0]:
            raise ValueError(f"Expected at least one tensor in {default_name}(), and `tensors` is empty")
        keep_input = _validated_keep_input(keep_input, enqueue_many)
        lists, kept = _stored_join(lists, enqueue_many, keep_input)
        types = _dtypes_of(lists)
        queue, summarize = make_queue(types, _shapes_of(lists, shapes, enqueue_many), **queue_options)
        _fill(queue, lists, num_threads, enqueue_many, keep_input)
        summarize()
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        dequeued = _restored(take(batch_size, name=name), kept)
        return _as_given(tensors if single else tensors_list[0], dequeued)
