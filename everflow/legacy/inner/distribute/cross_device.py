"""`tensorflow.python.distribute.cross_device_utils`: gradients of several devices, packed, added up and put in order."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Sequence
from typing import Any

from everflow.distribute import all_reduce
from everflow.distribute.values import DistributedValues
from everflow.framework.composites import IndexedSlices
from everflow.framework.devices import DeviceSpec
from everflow.framework.scopes import device as device_scope
from everflow.framework.scopes import name_scope
from everflow.ops import array, math

# --- dense tensors and slices ---------------------------------------------------------------------


def is_indexed_slices(value: Any) -> bool:
    """Whether a value, or the parts of one, are slices of a larger tensor."""
    if isinstance(value, DistributedValues):
        return all(isinstance(part, IndexedSlices) for part in value.values)
    return isinstance(value, IndexedSlices)


def contains_indexed_slices(value: Any) -> bool:
    """Whether there are slices anywhere in a list or among a value's parts."""
    if isinstance(value, DistributedValues):
        return contains_indexed_slices(value.values)
    if isinstance(value, (list, tuple)) and value:
        return any(contains_indexed_slices(each) for each in value)
    return isinstance(value, IndexedSlices)


def aggregate_tensors_or_indexed_slices(values: Sequence[Any], accumulation_fn: Callable = math.add_n) -> Any:
    """The sum of tensors, or slices one after the other."""
    if not any(contains_indexed_slices(value) for value in values):
        return accumulation_fn(values)
    assert all(isinstance(value, IndexedSlices) for value in values), values
    return IndexedSlices(
        array.concat([value.values for value in values], 0),
        array.concat([value.indices for value in values], 0),
        values[0].dense_shape,
    )


def divide_by_n_tensors_or_indexed_slices(value: Any, n: int) -> Any:
    """A tensor, or the values of slices, divided by a number."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / n, value.indices, value.dense_shape)
    return value / n


def copy_tensor_or_indexed_slices_to_device(value: Any, device: str) -> Any:
    """A copy on a device."""
    with device_scope(device):
        if not isinstance(value, IndexedSlices):
            return array.identity(value)
        shape = value.dense_shape
        return IndexedSlices(
            array.identity(value.values),
            array.identity(value.indices),
            None if shape is None else array.identity(shape),
        )


def split_by_sparsity(values: Sequence[Any]) -> tuple[list, list[int], list, list[int]]:
    """(dense values, their places, slices, their places)."""
    parts: tuple[list, list, list, list] = ([], [], [], [])
    for place, value in enumerate(values):
        start = 2 if is_indexed_slices(value) else 0
        parts[start].append(value)
        parts[start + 1].append(place)
    return parts


def stitch_values(values_and_indices_list: Sequence[tuple[Sequence[Any], Sequence[int]]]) -> list:
    """What `split_by_sparsity` took apart, in the order of the places."""
    found = [pair for values, places in values_and_indices_list for pair in zip(places, values, strict=True)]
    made: list[Any] = [None] * len(found)
    for place, value in found:
        made[place] = value
    return made


# --- packing of small gradients -------------------------------------------------------------------

GradPackTuple = collections.namedtuple("GradPackTuple", "indices vars shapes")


def extract_ranges(index_list: Sequence[int], range_size_limit: int = 32) -> tuple[list[list[int]], list[int]]:
    """Numbers as ranges [first, last], and those that stand alone."""
    if not index_list:
        return [], []
    ordered = sorted(index_list)
    runs = [[ordered[0], ordered[0]]]
    for number in ordered[1:]:
        first, last = runs[-1]
        if number == last + 1 and last - first <= range_size_limit:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [run for run in runs if run[0] != run[1]], [first for first, last in runs if first == last]


def pack_range(key: str, packing: dict[str, GradPackTuple], grad_vars: Sequence[Any], rng: Sequence[int]) -> Any:
    """The gradients of a range as one vector; `packing[key]` says how to take it apart."""
    chosen = grad_vars[rng[0] : rng[1] + 1]
    with name_scope("pack"):
        vectors = [array.reshape(gradient, [-1]) for gradient, _ in chosen]
        packing[key] = GradPackTuple(
            range(rng[0], rng[1] + 1), [variable for _, variable in chosen], [gradient.shape for gradient, _ in chosen]
        )
        with device_scope(chosen[0][0].device):
            return array.concat(vectors, 0)


def unpack_grad_tuple(gv: tuple[Any, Any], gpt: GradPackTuple) -> list[tuple[Any, Any]]:
    """The (gradient, variable) pairs that were packed."""
    sizes = [shape.num_elements() for shape in gpt.shapes]
    with device_scope(gv[0].device), name_scope("unpack"):
        parts = array.split(gv[0], sizes)
        return [(array.reshape(p, s), v) for p, s, v in zip(parts, gpt.shapes, gpt.vars, strict=True)]


def pack_small_tensors(
    replica_grads: Sequence[Sequence[Any]], max_bytes: int = 0, max_group: int = 0
) -> tuple[Sequence[Any], dict[str, GradPackTuple] | None]:
    """Gradients of at most so many bytes that stand side by side as one, and how to take them apart."""
    sizes = [gradient.shape.num_elements() * gradient.dtype.size for gradient, _ in replica_grads[0]]
    ranges, alone = extract_ranges([i for i, size in enumerate(sizes) if size <= max_bytes], max_group)
    if not ranges:
        return replica_grads, None
    large = [i for i, size in enumerate(sizes) if size > max_bytes] + alone
    packing: dict[str, GradPackTuple] = {}
    packed = []
    for number, pairs in enumerate(replica_grads):
        pairs = list(pairs)
        rows = [
            (pack_range(f"{number}:{i}", packing, pairs, each), "packing_var_placeholder")
            for i, each in enumerate(ranges)
        ]
        packed.append(rows + [pairs[i] for i in sorted(large)])
    return packed, packing


def unpack_small_tensors(
    replica_grads: Sequence[Sequence[Any]], packing: dict[str, GradPackTuple] | None
) -> Sequence[Sequence[Any]]:
    """What `pack_small_tensors` was given."""
    if not packing:
        return replica_grads
    made = []
    count = len(packing) // len(replica_grads)
    for number, pairs in enumerate(replica_grads):
        whole = list(pairs[count:])
        for i in range(count):
            plan = packing[f"{number}:{i}"]
            for place, pair in zip(plan.indices, unpack_grad_tuple(pairs[i], plan), strict=True):
                whole.insert(place, pair)
        made.append(whole)
    return made


def split_grads_by_size(threshold_size: int, device_grads: Sequence[Sequence[Any]]) -> tuple[list, list]:
    """(small, large): gradients of at most so many elements, and the others."""
    chosen: tuple[list, list] = ([], [])
    for pairs in device_grads:
        rows: tuple[list, list] = ([], [])
        for gradient, variable in pairs:
            rows[gradient.shape.num_elements() > threshold_size].append([gradient, variable])
        for all_rows, row in zip(chosen, rows):
            if row:
                all_rows.append(row)
    return chosen


# --- sums over devices ----------------------------------------------------------------------------


def aggregate_single_gradient_using_copy(grad_and_vars: Sequence[Any], use_mean: bool, check_inf_nan: bool) -> tuple:
    """((sum or mean, variable), whether there are infinities)."""
    gradients = [gradient for gradient, _ in grad_and_vars]
    total = math.add_n(gradients)
    if use_mean and len(gradients) > 1:
        total = total * (1.0 / len(gradients))
    strange = math.logical_not(math.reduce_all(math.is_finite(gradients))) if check_inf_nan else None
    return (total, grad_and_vars[0][1]), strange


def aggregate_gradients_using_hierarchical_copy(
    avail_devices: Sequence[str], replica_grads: Sequence[Sequence[Any]]
) -> list[list[tuple[Any, Any]]]:
    """The sums of gradients over devices, for each of them: added up on one device of each half, then over the halves."""
    made: list[list[tuple[Any, Any]]] = [[] for _ in avail_devices]
    half = max(1, len(avail_devices) // 2)
    for number, pairs in enumerate(zip(*replica_grads, strict=True)):
        main = avail_devices[number % len(avail_devices)]
        sums = []
        for part in (pairs[:half], pairs[half:]):
            if part:
                with device_scope(main):
                    sums.append(math.add_n([gradient for gradient, _ in part]))
        with device_scope(main):
            total = math.add_n(sums)
        for name, rows, (_, variable) in zip(avail_devices, made, pairs, strict=True):
            with device_scope(name):
                rows.append((array.identity(total), variable))
    return made


def group_device_names(devices: Sequence[str], group_size: int) -> list[list[str]]:
    """Devices in groups of one size, far apart in each; the first ones come again where the last group has room."""
    if group_size > len(devices):
        raise ValueError(f"There are {len(devices)} devices, too few for groups of {group_size}")
    count = -(-len(devices) // group_size)
    return [[devices[(i * count + g) % len(devices)] for i in range(group_size)] for g in range(count)]


_ALGORITHMS: dict[str, Callable] = {
    "nccl": lambda tensors, workers, shards, order, helpers: all_reduce.build_nccl_all_reduce(tensors, math.add),
    "xring": lambda tensors, workers, shards, order, helpers: all_reduce.build_ring_all_reduce(
        tensors, workers, shards, order, math.add
    ),
    "nccl/xring": lambda tensors, workers, shards, order, helpers: all_reduce.build_nccl_then_ring(
        tensors, shards, math.add
    ),
    "nccl/rechd": lambda tensors, workers, shards, order, helpers: all_reduce.build_nccl_then_recursive_hd(
        tensors, math.add
    ),
    "nccl/pscpu": lambda tensors, workers, shards, order, helpers: all_reduce.build_nccl_then_shuffle(
        tensors, helpers, math.add, math.add_n
    ),
    "pscpu": lambda tensors, workers, shards, order, helpers: all_reduce.build_shuffle_all_reduce(
        tensors, helpers, math.add_n
    ),
    "pscpu/pscpu": lambda tensors, workers, shards, order, helpers: all_reduce.build_shuffle_then_shuffle(
        tensors, helpers, helpers[:shards], math.add_n
    ),
}


def sum_grad_and_var_all_reduce(
    grad_and_vars: Sequence[Any],
    num_workers: int,
    alg: str,
    gpu_indices: Sequence[int],
    aux_devices: Sequence[str] | None = None,
    num_shards: int = 1,
) -> list[tuple[Any, Any]]:
    """[sum, variable] for each device, by one of the algorithms above."""
    if alg not in _ALGORITHMS:
        raise ValueError(f"all_reduce_alg is one of {', '.join(_ALGORITHMS)}, not {alg!r}")
    with name_scope("allreduce"):
        gradients = [gradient for gradient, _ in grad_and_vars]
        sums = _ALGORITHMS[alg](gradients, num_workers, num_shards, gpu_indices, aux_devices)
    return [[total, variable] for total, (_, variable) in zip(sums, grad_and_vars, strict=True)]


def sum_gradients_all_reduce(
    dev_prefixes: Sequence[str],
    replica_grads: Sequence[Sequence[Any]],
    num_workers: int,
    alg: str,
    num_shards: int,
    gpu_indices: Sequence[int],
) -> list[list[Any]]:
    """`sum_grad_and_var_all_reduce` for all variables; the processors of the workers help."""
    helpers = [f"{prefix}/cpu:0" for prefix in dev_prefixes]
    groups = group_device_names(helpers, num_shards if alg == "pscpu" else 1)
    made = []
    for number, pairs in enumerate(zip(*replica_grads, strict=True)):
        chosen = groups[number % len(groups)]
        made.append(sum_grad_and_var_all_reduce(pairs, num_workers, alg, gpu_indices, chosen, num_shards))
    return [list(pairs) for pairs in zip(*made, strict=True)]


# --- keys of collective operations ----------------------------------------------------------------


class CollectiveKeys:
    """Numbers by which tasks know the groups and the operations that they have in common."""

    _local = threading.local()  # a thread counts on, whichever object it asks

    def __init__(
        self, group_key_start: int = 1, op_instance_key_start: int = 100, variable_instance_key_start: int = 1000000
    ) -> None:
        self._groups: dict[str, int] = {}
        self._next_group = group_key_start
        self._starts = (op_instance_key_start, variable_instance_key_start)
        self._lock = threading.Lock()

    def get_group_key(self, devices: Sequence[str]) -> int:
        """The key of a group of devices, the same for the same kinds and numbers of devices in any task."""
        kinds = []
        for name in devices:
            spec = DeviceSpec.from_string(name)
            kinds.append(f"{spec.device_type}:{spec.device_index}")
        group = ",".join(sorted(kinds))
        with self._lock:
            if group not in self._groups:
                self._groups[group] = self._next_group
                self._next_group += 1
            return self._groups[group]

    def _taken(self, which: int) -> int:
        keys = vars(self._local).setdefault("keys", list(self._starts))
        keys[which] += 1
        return keys[which] - 1

    def get_op_instance_key(self) -> int:
        """A key for an operation; each thread counts for itself."""
        return self._taken(0)

    def get_variable_instance_key(self) -> int:
        """A key for a variable's first value."""
        return self._taken(1)
