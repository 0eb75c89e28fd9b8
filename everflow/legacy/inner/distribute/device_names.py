"""`tensorflow.python.distribute.device_util`: names of devices, in full."""

from __future__ import annotations

from everflow.distribute.device_maps import current_device, full_device, host_of


def canonicalize(d: str, default: str | None = None) -> str:
    """A device's full name; what it leaves open is taken from `default`."""
    return full_device(d, default)


def current() -> str:
    """The device of operations that are drawn now; "" where nothing is said."""
    return current_device()


def resolve(d: str) -> str:
    """A device's full name; what it leaves open is taken from where operations go now."""
    return full_device(d, current_device())


def get_host_for_device(device: str) -> str:
    """The processor of the machine that a device is in."""
    return host_of(device)


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """The first GPUs, or the processor where none is wanted."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)
