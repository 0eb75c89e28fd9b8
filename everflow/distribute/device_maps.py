"""Which device each replica has: canonical names of devices, and the maps that values with several parts carry.

A map's order is that of the parts. Replicas with one device each have a `ReplicaDeviceMap`; a value that is in one place for
all replicas has a `SingleDeviceMap`; where the replicas of a worker share a device it is a `WorkerDeviceMap`.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

from everflow.framework.devices import DeviceSpec, canonical_name
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.framework.static_values import constant_value

_PARTS = ("job", "replica", "task", "device_type", "device_index")


def full_device(name: Any, default: str | None = None) -> str:
    """A device with replica, task and number filled in: "/replica:0/task:0/device:CPU:0" for "/cpu:0".

    What `name` leaves open is taken from `default`; where operations run at once, all is on the local job.
    """
    if isinstance(name, DeviceSpec):
        name = name.to_string()
    if not isinstance(name, str):
        raise AssertionError(f"A device is named by a string, not by {name!r}")
    wanted = DeviceSpec.from_string(canonical_name(name))
    given = DeviceSpec.from_string(canonical_name(default)) if default is not None else DeviceSpec()
    usual = DeviceSpec("localhost" if executing_eagerly() else None, 0, 0, "CPU", 0)
    parts: list[Any] = []
    for part in _PARTS:
        said = (getattr(spec, part) for spec in (wanted, given, usual))
        parts.append(next((value for value in said if value is not None), None))
    return DeviceSpec(*parts).to_string()


def host_of(device: str) -> str:
    """The processor of the machine that a device is in."""
    spec = DeviceSpec.from_string(device)
    return DeviceSpec(spec.job, spec.replica, spec.task, "CPU", 0).to_string()


class _StandIn:
    """Takes the place of an operation, to see where the scopes around would put it."""

    def __init__(self) -> None:
        self.device, self.type, self.name = "", "", ""
        self._device_scopes: tuple[Any, ...] = ()

    def _set_device(self, device: Any) -> None:
        self.device = device.to_string() if isinstance(device, DeviceSpec) else device

    _set_device_from_string = _set_device


def current_device() -> str:
    """The device of operations that are drawn now; "" where nothing is said."""
    graph, op = get_default_graph(), _StandIn()
    graph._apply_device_functions(op)
    return full_device(op.device) if op.device and executing_eagerly() else op.device


LogicalDeviceSpec = collections.namedtuple("LogicalDeviceSpec", "device_map logical_device")


class DeviceMap:
    """Devices of replicas, in the order of the parts of a value."""

    def __init__(self, devices: Sequence[Any]):
        self._devices = tuple(full_device(d) for d in devices)

    all_devices = property(lambda self: self._devices, doc="All devices.")
    num_logical_devices = property(lambda self: 1, doc="How many devices a replica has.")
    num_replicas_in_graph = property(lambda self: len(self._devices), doc="How many parts there are.")

    def logical_device_from_values(self, values: Sequence[Any]) -> int:
        """Which of a replica's devices values are on: the only one."""
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        """The devices of all replicas."""
        assert logical_device_id == 0
        return self._devices

    def _by_replica(self) -> tuple[str, ...]:
        raise ValueError(f"A {type(self).__name__} doesn't know replicas")

    @property
    def devices_by_replica(self) -> Iterator[tuple[str, ...]]:
        """The devices of each replica."""
        return ((name,) for name in self._by_replica())

    def replica_for_device(self, device: str) -> int | None:
        """The replica that has a device, or None."""
        devices = self._by_replica()
        return devices.index(device) if device in devices else None

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a replica has a device."""
        return self._by_replica()[replica_id] == full_device(device)

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The part on a device."""
        if device not in self._devices:
            raise ValueError(
                f"There is no part on {device}; there are some on {self._devices} (operations go to {current_device()!r} now)"
            )
        return values[self._devices.index(device)]

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The part of a replica."""
        return values[_replica_number(replica_context)]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self._devices))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._devices)})"


class ReplicaDeviceMap(DeviceMap):
    """A device for each replica."""

    def __init__(self, devices: Sequence[Any]):
        super().__init__(devices)
        if len(set(self._devices)) != len(self._devices):
            raise ValueError(f"Each replica has a device of its own; {tuple(devices)} are {self._devices}")

    def _by_replica(self) -> tuple[str, ...]:
        return self._devices

    def __str__(self) -> str:
        return "[" + ", ".join(self._devices) + "]"


class SingleDeviceMap(DeviceMap):
    """One device for a value that all replicas share."""

    def __init__(self, device: Any):
        super().__init__([device])

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        return values[0]

    def __repr__(self) -> str:
        return f"SingleDeviceMap({self._devices[0]!r})"


class WorkerDeviceMap(DeviceMap):
    """A device for each worker, whose replicas share it."""

    def __init__(self, devices: Sequence[Any], num_replicas_per_worker: int):
        super().__init__(devices)
        self._num_replicas_per_worker = num_replicas_per_worker

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        return values[self._devices.index(full_device(device))]

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        return values[_replica_number(replica_context) // self._num_replicas_per_worker]

    def __repr__(self) -> str:
        return f"WorkerDeviceMap({self._devices!r}, num_replicas_per_worker={self._num_replicas_per_worker})"


def _replica_number(replica_context: Any) -> int:
    """Which of the replicas that are drawn here it is."""
    if hasattr(replica_context, "_id"):
        return replica_context._id
    number = replica_context.replica_id_in_sync_group
    return number if isinstance(number, int) else int(constant_value(number))


def map_of(devices: Sequence[str]) -> DeviceMap:
    """The map of parts on these devices; parts may share one where a single device stands for several."""
    names = [full_device(d) for d in devices]
    if len(set(names)) == len(names):
        return ReplicaDeviceMap(names)
    return DeviceMap(names)
