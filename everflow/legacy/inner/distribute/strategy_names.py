"""Names that programs take from inside TensorFlow's modules of strategies: the classes of version 1, and small helpers."""

# ruff: noqa: F401  Names that are handed on are a purpose of this file.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.config.experimental import list_physical_devices
from everflow.distribute import central_storage, collective, context, mirrored, one_device, strategy
from everflow.distribute.central_storage import CentralExtended as ParameterServerStrategyExtended
from everflow.distribute.collective import CollectiveExtended as CollectiveAllReduceExtended
from everflow.distribute.mirrored import MirroredReplicaContext
from everflow.distribute.one_device import OneDeviceExtended, _OneDeviceReplicaContext
from everflow.distribute.strategy import DefaultExtended as _DefaultDistributionExtended
from everflow.distribute.strategy import StrategyExtended
from everflow.framework.devices import DeviceSpec
from everflow.legacy.inner.distribute.device_names import get_host_for_device as _cpu_device
from everflow.legacy.inner.distribute.device_names import local_devices_from_num_gpus

# Where tf's name is that of version 1, the plain name inside is that of version 2.
StrategyExtendedV1, StrategyExtendedV2 = StrategyExtended, StrategyExtended
StrategyV1, Strategy = strategy.Strategy, strategy.StrategyV2
MirroredStrategyV1, MirroredStrategy = mirrored.MirroredStrategy, mirrored.MirroredStrategyV2
OneDeviceStrategyV1, OneDeviceStrategy = one_device.OneDeviceStrategy, one_device.OneDeviceStrategyV2
CentralStorageStrategyV1 = central_storage.CentralStorageStrategy
CentralStorageStrategy = central_storage.CentralStorageStrategyV2
ParameterServerStrategyV1 = central_storage.ParameterServerStrategy
ParameterServerStrategy = central_storage.ParameterServerStrategyV2
CollectiveAllReduceStrategyV1 = collective.MultiWorkerMirroredStrategy
CollectiveAllReduceStrategy = collective.MultiWorkerMirroredStrategyV2


# --- distribute_lib -------------------------------------------------------------------------------


def get_update_device() -> str | None:
    """The device whose copy of a variable is being updated, or None."""
    return context.current().update_device


def require_replica_context(replica_ctx: Any) -> None:
    """Raise unless this replica is being drawn."""
    frame = context.current()
    if frame.replica_context is not replica_ctx:
        now = "no replica is drawn" if frame.replica_context is None else f"{frame.replica_context} is drawn"
        raise RuntimeError(f"This is for the replica function of {replica_ctx}; {now}")


# --- mirrored_strategy ----------------------------------------------------------------------------


def all_local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """The first GPUs of this machine, all of them by default; the processor where there are none."""
    count = len(list_physical_devices("GPU")) if num_gpus is None else num_gpus
    return local_devices_from_num_gpus(count)


all_devices = all_local_devices


def _is_device_list_local(devices: Sequence[str]) -> bool:
    local = {DeviceSpec.from_string(name).job in (None, "localhost") for name in devices}
    if len(local) > 1:
        raise ValueError(f"Devices are all of this machine or all of a cluster, not {list(devices)}")
    return local.pop()


def _is_gpu_device(device: str) -> bool:
    return DeviceSpec.from_string(device).device_type == "GPU"


def _group_device_list(devices: Sequence[str]) -> dict[str, list[list[str]]]:
    """{job: devices of each task}."""
    assert not _is_device_list_local(devices)
    jobs: dict[str, list[list[str]]] = {}
    for name in devices:
        spec = DeviceSpec.from_string(name)
        tasks = jobs.setdefault(str(spec.job), [])
        while len(tasks) <= (spec.task or 0):
            tasks.append([])
        tasks[spec.task or 0].append(name)
    return jobs


def _infer_num_gpus_per_worker(devices: Sequence[str]) -> int:
    if _is_device_list_local(devices):
        return sum(_is_gpu_device(name) for name in devices)
    counts = {
        sum(_is_gpu_device(name) for name in task) for tasks in _group_device_list(devices).values() for task in tasks
    }
    if len(counts) > 1:
        raise ValueError(f"All workers have the same number of GPUs; these have {sorted(counts)}")
    return counts.pop()
