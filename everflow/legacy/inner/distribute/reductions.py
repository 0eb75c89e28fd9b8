"""Names that programs take from inside TensorFlow's module `python.distribute.cross_device_ops`: destinations, and steps of
reducing.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

from everflow.distribute.device_maps import LogicalDeviceSpec, SingleDeviceMap
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.reduction import AllReduceCrossDeviceOps, CrossDeviceOps, NcclAllReduce, ReductionToOneDevice
from everflow.distribute.values import DistributedValues, DistributedVariable, Mirrored, PerReplica, devices_of
from everflow.framework.devices import DeviceSpec
from everflow.framework.operation import Tensor
from everflow.framework.scopes import device
from everflow.legacy.inner.distribute.cross_device import (
    aggregate_tensors_or_indexed_slices,
    copy_tensor_or_indexed_slices_to_device,
    divide_by_n_tensors_or_indexed_slices,
)
from everflow.ops import math
from everflow.ops.variables.resource import ResourceVariable
from everflow.runtime.devices import gpu_count

AllReduceSpecTuple = collections.namedtuple("AllReduceSpecTuple", "alg shards limit")
AllReduceCrossTowerOps = AllReduceCrossDeviceOps

# --- destinations ---------------------------------------------------------------------------------


def check_destinations(destinations: Any) -> bool:
    """Whether anything is said about where to put a value."""
    if isinstance(destinations, (ResourceVariable, Tensor)):
        return bool(destinations.device)
    return bool(destinations)


def validate_destinations(destinations: Any) -> None:
    """Raise unless it says where to put a value: a device, a value or a variable."""
    kinds = (DistributedValues, DistributedVariable, ResourceVariable, LogicalDeviceSpec, Tensor, str)
    if not isinstance(destinations, kinds):
        raise ValueError(f"Destinations are a device's name, a value or a variable, not {destinations!r}")
    if not check_destinations(destinations):
        raise ValueError(f"Nothing is said of a device by {destinations!r}")


def get_device_map_from(destinations: Any) -> tuple[Any, int]:
    """(map of devices, which of a replica's devices)."""
    if isinstance(destinations, (DistributedValues, DistributedVariable, LogicalDeviceSpec)):
        return destinations.device_map, destinations.logical_device
    return SingleDeviceMap(destinations if isinstance(destinations, str) else destinations.device), 0


def get_devices_from(destinations: Any) -> tuple[str, ...]:
    """The devices that destinations stand for."""
    device_map, logical_device = get_device_map_from(destinations)
    return device_map.logical_to_actual_devices(logical_device)


def _devices_match(left: Any, right: Any) -> bool:
    return set(get_devices_from(left)) == set(get_devices_from(right))


def _all_devices_match(value_destination_pairs: Sequence[tuple[Any, Any]]) -> bool:
    first = value_destination_pairs[0][0]
    return all(_devices_match(value, where) for value, where in value_destination_pairs) and all(
        _devices_match(value, first) for value, _ in value_destination_pairs[1:]
    )


# --- values ---------------------------------------------------------------------------------------


def _make_tensor_into_per_replica(input_tensor: Any) -> PerReplica:
    if isinstance(input_tensor, (tuple, list)):
        raise ValueError(f"A tensor is wanted, or a value with parts, not {input_tensor!r}")
    if isinstance(input_tensor, DistributedValues):
        return input_tensor
    if not hasattr(input_tensor, "device"):
        raise ValueError(f"{input_tensor!r} is on no device, so it can't be the value of a replica")
    return PerReplica(SingleDeviceMap(input_tensor.device), (input_tensor,))


def _normalize_value_destination_pairs(value_destination_pairs: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value_destination_pairs, (list, tuple)):
        raise ValueError(f"Pairs (value, destinations) come in a list, not as {value_destination_pairs!r}")
    made = []
    for pair in value_destination_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"A pair (value, destinations) is a tuple of two, not {pair!r}")
        made.append((_make_tensor_into_per_replica(pair[0]), pair[1]))
    return made


def _validate_value_destination_pairs(value_destination_pairs: Any) -> bool:
    return (
        bool(value_destination_pairs)
        and isinstance(value_destination_pairs, (list, tuple))
        and all(isinstance(pair, tuple) for pair in value_destination_pairs)
        and all(isinstance(value, PerReplica) for value, _ in value_destination_pairs)
    )


def simple_broadcast(value: Any, destinations: Any, always_mirrored: bool = False) -> Any:
    """A copy on each device of the destinations."""
    device_map, logical_device = get_device_map_from(destinations)
    devices = device_map.logical_to_actual_devices(logical_device)
    copies = tuple(copy_tensor_or_indexed_slices_to_device(value, name) for name in devices)
    if len(devices) == 1 and not always_mirrored:
        return copies[0]
    return Mirrored(device_map, copies, logical_device)


def _simple_reduce(
    per_replica_value: Any, reduce_to_device: str, accumulation_fn: Callable, reduce_op: ReduceOp
) -> Any:
    parts = per_replica_value.values
    if not parts:
        raise ValueError("A value without parts can't be reduced")
    with device(reduce_to_device):
        total = aggregate_tensors_or_indexed_slices(parts, accumulation_fn)
        if reduce_op is ReduceOp.MEAN:
            return divide_by_n_tensors_or_indexed_slices(total, len(parts))
        if reduce_op is not ReduceOp.SUM:
            raise ValueError(f"Values are reduced by SUM or MEAN, not by {reduce_op!r}")
        return total


def reduce_non_distributed_value(reduce_op: ReduceOp, device_map: Any, value: Any, destinations: Any) -> Any:
    """A value that is the same for all replicas, reduced: itself."""
    if isinstance(value, DistributedValues):
        raise ValueError(f"{value} has parts: reduce these")
    if isinstance(value, (int, float)) and value == 0:
        return 0
    if reduce_op is ReduceOp.SUM and device_map.num_replicas_in_graph > 1:
        raise ValueError(f"{value} is one value for all replicas, and cannot be reduced by {reduce_op}")
    if device_map.num_replicas_in_graph == 1 or len(devices_of(destinations)) == 1:
        return value
    return simple_broadcast(value, destinations, always_mirrored=True)


def choose_the_best(devices: Sequence[str], session_config: Any = None) -> CrossDeviceOps:
    """What reduces best over these devices: directly where all are GPUs that there are, else by way of one device."""
    kinds = [DeviceSpec.from_string(str(name)).device_type for name in devices]
    if session_config is None and all(kind in ("GPU", "gpu") for kind in kinds) and len(kinds) <= gpu_count():
        return NcclAllReduce(num_packs=1)
    return ReductionToOneDevice(accumulation_fn=math.add_n)
