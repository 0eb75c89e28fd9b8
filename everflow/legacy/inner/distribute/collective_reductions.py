"""Reducing by collective operations, over the devices of several workers: `CollectiveAllReduce` of TensorFlow's module
`python.distribute.cross_device_ops`, and the steps it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.reduction import CrossDeviceOps, mirrored_on
from everflow.distribute.values import DistributedValues, Mirrored, devices_of
from everflow.framework.composites import IndexedSlices
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, device, executing_eagerly, name_scope
from everflow.legacy.inner.distribute.cross_device import CollectiveKeys, divide_by_n_tensors_or_indexed_slices
from everflow.ops import array
from everflow.ops.array import collectives


def build_collective_reduce(
    input_tensors: Sequence[Tensor],
    num_workers: int,
    collective_keys: CollectiveKeys,
    reduction_op: str = "Add",
    unary_op: str = "Id",
) -> list[Tensor]:
    """The reduction of the tensors of all workers' devices, on each device here."""
    return _of_all_workers(
        lambda *whom: collectives.all_reduce(*whom, reduction_op, unary_op), input_tensors, num_workers, collective_keys
    )


def build_collective_gather(
    input_tensors: Sequence[Tensor], num_workers: int, collective_keys: CollectiveKeys
) -> list[Tensor]:
    """The tensors of all workers' devices one after the other, on each device here."""
    return _of_all_workers(collectives.all_gather, input_tensors, num_workers, collective_keys)


def _of_all_workers(
    collective: Callable[..., Tensor], tensors: Sequence[Tensor], num_workers: int, keys: CollectiveKeys
) -> list[Tensor]:
    """What a collective gives on the device of each tensor; the tensors themselves where there is one."""
    if executing_eagerly():
        raise RuntimeError("Collective operations are drawn in a graph")
    size = len(tensors) * num_workers
    if size < 2:
        return list(tensors)
    group = keys.get_group_key([tensor.device for tensor in tensors])
    instance, made = keys.get_op_instance_key(), []
    for tensor in tensors:
        with device(tensor.device):
            made.append(collective(tensor, size, group, instance))
    return made


class CollectiveAllReduce(CrossDeviceOps):
    """Reduces over the devices of all workers; each draws the same operations."""

    def __init__(
        self,
        num_workers: int = 1,
        num_gpus_per_worker: int = 0,
        all_reduce_merge_scope: int = 32,
        collective_keys: CollectiveKeys | None = None,
    ) -> None:
        self._num_workers, self._num_gpus_per_worker = num_workers, num_gpus_per_worker
        self._all_reduce_merge_scope = all_reduce_merge_scope  # how many reductions share a name scope
        self._collective_keys = collective_keys or CollectiveKeys()

    def _is_alone(self, value: Any) -> bool:
        return self._num_workers == 1 and len(_parts(value)) == 1

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        if self._is_alone(per_replica_value):
            return self._spread(_parts(per_replica_value), destinations)
        (totals,) = self._all_reduced(reduce_op, [per_replica_value])
        names = [part.device for part in totals]
        if len(totals) > 1 and devices_of(destinations) == names:
            return Mirrored(per_replica_value.device_map, totals)
        with control_dependencies([_waited(total) for total in totals]):
            return self._spread(totals, destinations)

    def batch_reduce_implementation(self, reduce_op: ReduceOp, value_destination_pairs: Any) -> list[Any]:
        values = [value for value, _ in value_destination_pairs]
        stays = all(devices_of(value) == devices_of(where) for value, where in value_destination_pairs)
        if not stays or any(self._is_alone(value) for value in values):
            return [self.reduce_implementation(reduce_op, value, where) for value, where in value_destination_pairs]
        totals = self._all_reduced(reduce_op, values)
        return [
            parts[0] if len(parts) == 1 else Mirrored(value.device_map, parts)
            for value, parts in zip(values, totals, strict=True)
        ]

    def _spread(self, totals: Sequence[Any], destinations: Any) -> Any:
        held = {part.device: part for part in totals}
        wanted = devices_of(destinations)
        if len(totals) == len(wanted) == 1 and self._num_workers == 1 and totals[0].device == wanted[0]:
            return totals[0]
        return mirrored_on(wanted, lambda index: _copied(held.get(wanted[index], totals[0])))

    def _all_reduced(self, reduce_op: ReduceOp, values: Sequence[Any]) -> list[list[Any]]:
        """Values with parts on the same devices, reduced: dense ones first, so many in a name scope."""
        sparse = [number for number, value in enumerate(values) if isinstance(_parts(value)[0], IndexedSlices)]
        dense = [number for number in range(len(values)) if number not in sparse]
        totals: dict[int, list[Any]] = {}
        for first in range(0, len(dense), self._all_reduce_merge_scope):
            with name_scope("allreduce"):
                for number in dense[first : first + self._all_reduce_merge_scope]:
                    totals[number] = build_collective_reduce(
                        _parts(values[number]), self._num_workers, self._collective_keys
                    )
        if sparse:
            with name_scope("allreduce"):
                for number in sparse:
                    totals[number] = self._gathered(_parts(values[number]))
        made = [totals[number] for number in range(len(values))]
        return self._means(made) if reduce_op is ReduceOp.MEAN else made

    def _gathered(self, parts: Sequence[IndexedSlices]) -> list[IndexedSlices]:
        fields = [
            build_collective_gather([getattr(part, field) for part in parts], self._num_workers, self._collective_keys)
            for field in ("values", "indices")
        ]
        shapes = [part.dense_shape for part in parts]
        return [IndexedSlices(*held) for held in zip(*fields, shapes, strict=True)]

    def _means(self, totals: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Divided by the number of replicas, one device after the other."""
        by_device = []
        for parts in zip(*totals, strict=True):
            with device(parts[0].device):
                count = self._num_workers * len(totals[0])
                by_device.append([divide_by_n_tensors_or_indexed_slices(part, count) for part in parts])
        return [list(parts) for parts in zip(*by_device, strict=True)]


def _parts(value: Any) -> list[Any]:
    return list(value.values) if isinstance(value, DistributedValues) else [value]


def _waited(total: Any) -> Any:
    return total.values if isinstance(total, IndexedSlices) else total


def _copied(value: Any) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(array.identity(value.values), array.identity(value.indices), value.dense_shape)
    return array.identity(value)
