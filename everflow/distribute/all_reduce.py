"""Builders of all-reduce: tensors on several devices, each replaced by the reduction of all.

Each reduces shards of the tensors on several devices at once, then spreads them: along a ring, by halving and doubling, by
way of devices that gather, or first inside of each worker and then between workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.devices import DeviceSpec
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, device
from everflow.framework.shapes import TensorShape
from everflow.ops import math
from everflow.ops.array import concat, identity, reshape, slice_, split, zeros
from everflow.ops.array.collectives import all_sum, broadcast

Tensors = Sequence[Tensor]
Reducer = Callable[..., Tensor]
Unary = Callable[[Tensor], Tensor] | None

# --- shards of tensors ----------------------------------------------------------------------------


def _flatten_tensors(tensors: Tensors) -> tuple[list[Tensor], TensorShape]:
    """Tensors of one shape as vectors, and that shape."""
    if not tensors:
        raise ValueError("There must be one tensor at least to reduce")
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError(f"The shape of tensors to reduce must be known, not {shape}")
    if len(shape) == 1:
        return list(tensors), shape
    return _reshape_tensors(tensors, [-1]), shape


def _reshape_tensors(tensors: Tensors, shape: Any) -> list[Tensor]:
    """Each tensor reshaped, where it is."""
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(reshape(tensor, shape))
    return made


def _unflatten(tensors: Tensors, shape: TensorShape) -> list[Tensor]:
    return list(tensors) if len(shape) == 1 else _reshape_tensors(tensors, shape)


def _length(tensor: Tensor) -> int:
    if tensor.shape.ndims != 1:
        raise ValueError(f"A vector is split into pieces, not a tensor of shape {tensor.shape}")
    return int(tensor.shape[0])


def _padded_split(tensor: Tensor, pieces: int) -> tuple[list[Tensor], int]:
    """Equal pieces of a vector, zeros at the end where it is too short, and how many zeros these are."""
    length = _length(tensor)
    with colocate_with(tensor):
        if length % pieces == 0:
            return split(tensor, pieces), 0
        size = -(-length // pieces)
        padding = size * pieces - length
        if padding >= size:
            return split(concat([tensor, zeros([padding], dtype=tensor.dtype)], 0), pieces), padding
        parts = split(tensor, [size] * (pieces - 1) + [size - padding])
        parts[-1] = concat([parts[-1], zeros([padding], dtype=tensor.dtype)], 0)
        return parts, padding


def _strip_padding(tensors: Tensors, pad_len: int) -> list[Tensor]:
    """Vectors without so many elements at their ends."""
    if not tensors:
        raise ValueError("There must be one tensor at least")
    kept = _length(tensors[0]) - pad_len
    if kept < 0:
        raise ValueError(f"{pad_len} elements are more than the tensor has")
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(slice_(tensor, [0], [kept]))
    return made


def _ragged_split(tensor: Tensor, pieces: int) -> list[Tensor]:
    """Pieces of a vector, all but the last of one size."""
    size, rest = divmod(_length(tensor), pieces)
    with colocate_with(tensor):
        if rest == 0:
            return split(tensor, pieces)
        return split(tensor, [size] * (pieces - 1) + [size + rest])


def _apply_unary_to_chunks(f: Callable[[Tensor], Tensor], chunks_by_dev: Sequence[Tensors]) -> list[list[Tensor]]:
    """A function of each chunk, where a device's first chunk is."""

    def of_a_device(chunks: Tensors) -> list[Tensor]:
        with colocate_with(chunks[0]):
            return list(map(f, chunks))

    return [of_a_device(chunks) for chunks in chunks_by_dev]


# --- rings ----------------------------------------------------------------------------------------


def _ring_permutations(
    num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """For each subchunk's ring: the device before each, and each device's rank."""
    count = len(gpu_perm)
    if not count:
        return [], []
    if num_subchunks > count:
        raise ValueError(f"{num_subchunks} subchunks are more than a worker's {count} devices")
    interval = max(1, count // num_subchunks)
    before_by_ring, rank_by_ring = [], []
    for subchunk in range(num_subchunks):
        turned = [gpu_perm[(place + subchunk * interval) % count] for place in range(count)]
        ring = [worker * count + number for worker in range(num_workers) for number in turned]
        before, rank = [0] * len(ring), [0] * len(ring)
        for place, number in enumerate(ring):
            before[number], rank[number] = ring[place - 1], place
        before_by_ring.append(before)
        rank_by_ring.append(rank)
    return before_by_ring, rank_by_ring


def build_ring_all_reduce(
    input_tensors: Tensors,
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: Reducer,
    un_op: Unary = None,
) -> list[Tensor]:
    """All-reduce along a ring of `num_workers` times as many devices as `gpu_perm` orders."""
    if len(input_tensors) < 2:
        raise ValueError("A ring has two tensors at least")
    input_tensors, shape = _flatten_tensors(input_tensors)
    devices = [tensor.device for tensor in input_tensors]
    before, rank = _ring_permutations(num_workers, num_subchunks, gpu_perm)
    chunks, padding = _build_ring_gather(input_tensors, devices, num_subchunks, before, rank, red_op)
    if un_op:
        chunks = _apply_unary_to_chunks(un_op, chunks)
    made = _build_ring_scatter(before, rank, chunks)
    if padding:
        made = _strip_padding(made, padding)
    return _unflatten(made, shape)


def _build_ring_gather(
    input_tensors: Tensors,
    devices: Sequence[str],
    num_subchunks: int,
    pred_by_s_d: Sequence[Sequence[int]],
    rank_by_s_d: Sequence[Sequence[int]],
    red_op: Reducer,
) -> tuple[list[list[Tensor]], int]:
    """The chunks on each device after partial sums went round, of which it has its own share whole; and the padding."""
    count = len(input_tensors)
    if input_tensors[0].shape.ndims != 1:
        raise ValueError(f"A ring reduces vectors, not tensors of shape {input_tensors[0].shape}")
    chunks, padding = [], 0
    for number, tensor in enumerate(input_tensors):
        with device(devices[number]):
            parts, padding = _padded_split(tensor, count * num_subchunks)
        chunks.append(parts)
    for tick in range(count - 1):
        arrived = {}
        for number in range(count):
            with device(devices[number]):
                for s in range(num_subchunks):
                    chunk = (rank_by_s_d[s][number] - 2 - tick) % count * num_subchunks + s
                    before = pred_by_s_d[s][number]
                    arrived[number, chunk] = red_op(chunks[before][chunk], chunks[number][chunk])
        _take(chunks, arrived)
    return chunks, padding


def _build_ring_scatter(
    pred_by_s_d: Sequence[Sequence[int]], rank_by_s_d: Sequence[Sequence[int]], chunks_by_dev: Sequence[Tensors]
) -> list[Tensor]:
    """The whole vector on each device, once the chunks that are whole went round."""
    chunks = [list(parts) for parts in chunks_by_dev]
    count = len(chunks)
    per_device = len(chunks[0])
    if per_device % count:
        raise ValueError(f"{per_device} chunks can't be shared by {count} devices")
    num_subchunks = per_device // count
    for tick in range(count - 1):
        arrived = {}
        for number in range(count):
            with colocate_with(chunks[number][0]):
                for s in range(num_subchunks):
                    chunk = (rank_by_s_d[s][number] - 1 - tick) % count * num_subchunks + s
                    arrived[number, chunk] = identity(chunks[pred_by_s_d[s][number]][chunk])
        _take(chunks, arrived)
    made = []
    for parts in chunks:
        with colocate_with(parts[0]):
            made.append(concat(parts, 0))
    return made


def _take(chunks: list[list[Tensor]], arrived: dict[tuple[int, int], Tensor]) -> None:
    for (number, chunk), value in arrived.items():
        chunks[number][chunk] = value


# --- halving and doubling -------------------------------------------------------------------------


def build_recursive_hd_all_reduce(input_tensors: Tensors, red_op: Reducer, un_op: Unary = None) -> list[Tensor]:
    """All-reduce by halving and doubling; for a power of two of tensors."""
    devices = [tensor.device for tensor in input_tensors]
    input_tensors, shape = _flatten_tensors(input_tensors)
    shards = _build_recursive_hd_gather(input_tensors, devices, red_op)
    if un_op:
        shards = [un_op(shard) for shard in shards]
    return _unflatten(_build_recursive_hd_scatter(shards, devices), shape)


def _pairs(count: int, span: int) -> list[tuple[int, int]]:
    return [(left, left + span) for left in range(count) if left % (2 * span) < span]


def _build_recursive_hd_gather(input_tensors: Tensors, devices: Sequence[str], red_op: Reducer) -> list[Tensor]:
    """A share of the reduced vector on each device: pairs exchange halves, at twice the distance each time."""
    count = len(devices)
    if count & (count - 1):
        raise ValueError("input_tensors must be a power of two in length")
    chunks, span = list(input_tensors), 1
    while span < count:
        for left, right in _pairs(count, span):
            lefts, rights = split(chunks[left], 2), split(chunks[right], 2)
            for half, number in enumerate((left, right)):
                with device(devices[number]):
                    chunks[number] = red_op(lefts[half], rights[half])
        span *= 2
    return chunks


def _build_recursive_hd_scatter(input_tensors: Tensors, devices: Sequence[str]) -> list[Tensor]:
    """The whole vector on each device: pairs exchange what they have, at half the distance each time."""
    count = len(devices)
    chunks, span = list(input_tensors), count // 2
    while span:
        for left, right in _pairs(count, span):
            both = [chunks[left], chunks[right]]
            for number in (left, right):
                with device(devices[number]):
                    chunks[number] = concat(both, 0)
        span //= 2
    return chunks


# --- devices that gather --------------------------------------------------------------------------


def build_shuffle_all_reduce(
    input_tensors: Tensors, gather_devices: Sequence[str], red_op: Reducer, un_op: Unary = None
) -> list[Tensor]:
    """All-reduce of shards on `gather_devices`; `red_op` takes a list of tensors."""
    input_tensors, shape = _flatten_tensors(input_tensors)
    devices = [tensor.device for tensor in input_tensors]
    shards = _build_shuffle_gather(input_tensors, gather_devices, red_op, un_op)
    return _unflatten(_build_shuffle_scatter(shards, devices), shape)


def _build_shuffle_gather(
    input_tensors: Tensors, gather_devices: Sequence[str], red_op: Reducer, un_op: Unary = None
) -> list[Tensor]:
    """A share of the reduced vector on each of the devices that gather."""
    if input_tensors[0].shape.ndims != 1:
        raise ValueError(f"Vectors are gathered, not tensors of shape {input_tensors[0].shape}")
    shards = [_ragged_split(tensor, len(gather_devices)) for tensor in input_tensors]
    made = []
    for number, name in enumerate(gather_devices):
        with device(name):
            reduced = red_op([parts[number] for parts in shards])
            made.append(un_op(reduced) if un_op else reduced)
    return made


def _build_shuffle_scatter(reduced_shards: Tensors, dst_devices: Sequence[str]) -> list[Tensor]:
    """The whole vector on each device."""
    made = []
    for name in dst_devices:
        with device(name):
            made.append(concat(list(reduced_shards), 0))
    return made


# --- inside of workers, then between them ---------------------------------------------------------


def _split_by_task(devices: Sequence[str], values: Sequence[Any]) -> tuple[list[list[str]], list[list[Any]]]:
    """Devices, and values on them, by the task of each."""
    if len(devices) != len(values):
        raise ValueError(f"{len(devices)} devices can't have {len(values)} values")
    by_task: dict[int, tuple[list[str], list[Any]]] = {}
    for name, value in zip(devices, values, strict=True):
        task = DeviceSpec.from_string(name).task
        if task is None:
            raise AssertionError(f"{name} doesn't say of which task it is")
        names, held = by_task.setdefault(task, ([], []))
        names.append(name)
        held.append(value)
    tasks = sorted(by_task)
    return [by_task[task][0] for task in tasks], [by_task[task][1] for task in tasks]


def build_nccl_all_reduce(input_tensors: Tensors, red_op: Reducer, un_op: Unary = None) -> list[Tensor]:
    """All-reduce of GPUs of one worker."""
    if red_op is not math.add:
        raise ValueError("Only sums are made between GPUs, with tf.add")
    made = []
    for tensor in all_sum(input_tensors):
        if un_op:
            with colocate_with(tensor):
                tensor = un_op(tensor)
        made.append(tensor)
    return made


def _build_nccl_hybrid(
    input_tensors: Tensors, red_op: Reducer, upper_level_f: Callable[[list[Tensor]], list[Tensor]]
) -> list[Tensor]:
    input_tensors, shape = _flatten_tensors(input_tensors)
    per_worker = list(zip(*_split_by_task([tensor.device for tensor in input_tensors], input_tensors), strict=True))
    sums = []
    for names, values in per_worker:
        reduced = build_nccl_all_reduce(values, red_op)
        with control_dependencies(reduced), device(names[0]):
            sums.append(identity(reduced[0]))
    made = []
    for (names, _), total in zip(per_worker, upper_level_f(sums), strict=True):
        with device(names[0]):
            sent = broadcast(identity(total))
        for name in names:
            with device(name):
                made.append(identity(sent))
    return _unflatten(made, shape)


def build_nccl_then_ring(input_tensors: Tensors, subdiv: int, red_op: Reducer, un_op: Unary = None) -> list[Tensor]:
    """GPUs of each worker, then a ring between workers."""
    return _build_nccl_hybrid(
        input_tensors, red_op, lambda sums: build_ring_all_reduce(sums, len(sums), subdiv, [0], red_op, un_op)
    )


def build_nccl_then_recursive_hd(input_tensors: Tensors, red_op: Reducer, un_op: Unary = None) -> list[Tensor]:
    """GPUs of each worker, then halving and doubling between workers."""
    return _build_nccl_hybrid(input_tensors, red_op, lambda sums: build_recursive_hd_all_reduce(sums, red_op, un_op))


def build_nccl_then_shuffle(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    nccl_red_op: Reducer,
    shuffle_red_op: Reducer,
    un_op: Unary = None,
) -> list[Tensor]:
    """GPUs of each worker, then devices that gather."""
    return _build_nccl_hybrid(
        input_tensors, nccl_red_op, lambda sums: build_shuffle_all_reduce(sums, gather_devices, shuffle_red_op, un_op)
    )


def _build_shuffle_hybrid(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    red_op: Reducer,
    upper_level_f: Callable[[list[Tensor]], list[Tensor]],
) -> list[Tensor]:
    input_tensors, shape = _flatten_tensors(input_tensors)
    per_worker = list(zip(*_split_by_task([tensor.device for tensor in input_tensors], input_tensors), strict=True))
    if len(gather_devices) != len(per_worker):
        raise ValueError(f"{len(per_worker)} workers gather on one device each, not on {len(gather_devices)}")
    sums = []
    for (_, values), name in zip(per_worker, gather_devices, strict=True):
        sums += _build_shuffle_gather(values, [name], red_op)
    made = []
    for (names, _), total in zip(per_worker, upper_level_f(sums), strict=True):
        made += _build_shuffle_scatter([total], names)
    return _unflatten(made, shape)


def build_shuffle_then_ring(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: Reducer,
    red_op: Reducer,
    un_op: Unary = None,
) -> list[Tensor]:
    """One device of each worker gathers; then a ring between workers."""
    return _build_shuffle_hybrid(
        input_tensors,
        gather_devices,
        red_n_op,
        lambda sums: build_ring_all_reduce(sums, len(sums), subdiv, [0], red_op, un_op),
    )


def build_shuffle_then_shuffle(
    input_tensors: Tensors,
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: Reducer,
    un_op: Unary = None,
) -> list[Tensor]:
    """One device of each worker gathers, then others between workers; `red_op` takes a list of tensors."""
    return _build_shuffle_hybrid(
        input_tensors,
        first_gather_devices,
        red_op,
        lambda sums: build_shuffle_all_reduce(sums, second_gather_devices, red_op, un_op),
    )
