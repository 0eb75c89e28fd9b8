"""The devices a session has: CPUs as many as were asked for, GPUs as many as torch sees."""

from __future__ import annotations

import importlib.util
import random
from typing import TYPE_CHECKING

from everflow.framework import errors
from everflow.platform.torch_loading import load_torch
from everflow.protos import device_attributes_pb2

if TYPE_CHECKING:
    from everflow.protos import config_pb2

PREFIX = "/job:localhost/replica:0/task:0"
CPU = f"{PREFIX}/device:CPU:0"
_MEMORY_LIMIT = 256 << 20


class DeviceAttributes:
    """What `Session.list_devices` tells of a device."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> None:
        self._name = name
        self._device_type = device_type
        self._memory_limit_bytes = memory_limit_bytes
        self._incarnation = incarnation

    @property
    def name(self) -> str:
        return self._name

    @property
    def device_type(self) -> str:
        return self._device_type

    @property
    def memory_limit_bytes(self) -> int:
        return self._memory_limit_bytes

    @property
    def incarnation(self) -> int:
        return self._incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self._name}, {self._device_type}, {self._memory_limit_bytes}, {self._incarnation})"


def gpu_count() -> int:
    """GPUs that torch can use; without torch's import where no torch is installed."""
    if importlib.util.find_spec("torch") is None:
        return 0
    torch = load_torch()
    if torch.cuda.is_available():
        return torch.cuda.device_count()
    return 1 if torch.backends.mps.is_available() else 0


def built_with() -> str:
    """What torch was built for and finds here: "cuda", "rocm" or "cpu". Its usual package is built for CUDA also where
    there is none.
    """
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    return "rocm" if torch.version.hip else "cuda"


def cuda_capability() -> tuple[int, int] | None:
    """The compute capability of the first CUDA device, if there is one."""
    import torch

    return torch.cuda.get_device_capability(0) if torch.cuda.is_available() else None


def device_names(config: config_pb2.ConfigProto | None, prefix: str = PREFIX) -> list[str]:
    """The canonical names of the devices that a ConfigProto gives, the first CPU first; `prefix` names the task they
    belong to.
    """
    counts = dict(config.device_count) if config is not None else {}
    if counts.get("CPU", 1) < 0:
        raise errors.InvalidArgumentError(None, None, f"device_count['CPU'] is negative: {counts['CPU']}")
    cpus = counts.get("CPU", 1) or 1
    gpus = min(gpu_count(), counts["GPU"]) if "GPU" in counts else gpu_count()
    if config is not None and config.gpu_options.visible_device_list and gpus:
        gpus = min(gpus, len(config.gpu_options.visible_device_list.split(",")))
    return [f"{prefix}/device:CPU:{i}" for i in range(cpus)] + [f"{prefix}/device:GPU:{i}" for i in range(gpus)]


def attributes_of(names: list[str]) -> list[DeviceAttributes]:
    """DeviceAttributes for device names, with incarnations of their own."""
    return [
        DeviceAttributes(name, name.rsplit(":", 2)[1], _memory_limit(name), random.getrandbits(63)) for name in names
    ]


def _memory_limit(name: str) -> int:
    if ":GPU:" in name:
        import torch

        if torch.cuda.is_available():
            return torch.cuda.get_device_properties(int(name.rsplit(":", 1)[1])).total_memory
    return _MEMORY_LIMIT


def list_local_devices(
    session_config: config_pb2.ConfigProto | None = None,
) -> list[device_attributes_pb2.DeviceAttributes]:
    """The devices of this process, as protos (`tensorflow.python.client.device_lib`)."""
    result = []
    for device in attributes_of(device_names(session_config)):
        proto = device_attributes_pb2.DeviceAttributes(
            name="/device:" + device.name.split("/device:")[1],
            device_type=device.device_type,
            memory_limit=device.memory_limit_bytes,
            incarnation=device.incarnation,
        )
        proto.locality.SetInParent()
        result.append(proto)
    return result
