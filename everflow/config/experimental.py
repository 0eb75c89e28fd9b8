"""tf.config.experimental: the devices of this machine, and which of them are used and how."""

from __future__ import annotations

from everflow.runtime.process_options import PROCESS as _PROCESS
from everflow.runtime.process_options import VirtualDeviceConfiguration  # noqa: F401

_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


def list_physical_devices(device_type=None):
    """The devices there are: `tf.config.experimental.list_physical_devices("GPU")`.

    Args:
        device_type: `CPU` or `GPU`; all if None.

    Returns:
        A list of devices.

    Example:
        >>> [device.name for device in tf.config.experimental.list_physical_devices("CPU")]
        ['/physical_device:CPU:0']
    """
    return _PROCESS.physical_devices(device_type)


def list_logical_devices(device_type=None):
    """The devices that ops can be put on. From here on, which they are can't change.

    Args:
        device_type: `CPU` or `GPU`; all if None.

    Returns:
        A list of devices.

    Example:
        >>> tf.config.experimental.list_logical_devices("CPU")[0].device_type
        'CPU'
    """
    return _PROCESS.logical_devices(device_type)


def get_visible_devices(device_type=None):
    """The physical devices that are used.

    Args:
        device_type: `CPU` or `GPU`; all if None.

    Returns:
        A list of devices.

    Example:
        >>> [device.name for device in tf.config.experimental.get_visible_devices("CPU")]
        ['/physical_device:CPU:0']
    """
    return _PROCESS.visible_devices(device_type)


def _known(device):
    if device not in _PROCESS.physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def set_visible_devices(devices, device_type=None):
    """Use these physical devices only, of one type or of all.

    Args:
        devices: The devices.
        device_type: `CPU` or `GPU`; all if None.

    Returns:
        None.

    Raises:
        RuntimeError: If devices are in use already.
        ValueError: If one isn't there.

    Example:
        >>> len(tf.config.experimental.get_visible_devices("CPU"))
        1
    """
    devices = list(devices) if isinstance(devices, list) or type(devices) is tuple else [devices]
    for device in devices:
        if device_type is not None and _known(device).device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [d for d in _PROCESS.visible_devices() if device_type is not None and d.device_type != device_type]
    wanted = others + [_known(device) for device in devices]
    if set(wanted) != set(_PROCESS.visible_devices()):
        _PROCESS.check_unused("Visible devices")
        _PROCESS.visible = wanted


def get_memory_growth(device):
    """Whether a GPU's memory is taken as it is needed; KeyError for a device that has no such setting.

    Args:
        device: A physical device.

    Returns:
        A bool, or None.

    Raises:
        KeyError: If the device has no such setting.

    Example:
        >>> [tf.config.experimental.get_memory_growth(gpu) for gpu in tf.config.experimental.list_physical_devices("GPU")]
        []
    """
    if device.device_type != "GPU":
        raise KeyError(device)
    return _PROCESS.memory_growth.get(_known(device), False)


def set_memory_growth(device, enable):
    """Take a GPU's memory as it is needed. torch does so anyway.

    Args:
        device: A physical device.
        enable: Whether.

    Returns:
        None.

    Raises:
        ValueError: If it is no GPU.

    Example:
        >>> for gpu in tf.config.experimental.list_physical_devices("GPU"):
        ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    if _known(device).device_type != "GPU":
        raise ValueError(f"Memory growth is a setting of GPUs, and {device} is none.")
    if _PROCESS.memory_growth.get(device, False) != bool(enable):
        _PROCESS.check_unused("Physical devices")
        _PROCESS.memory_growth[device] = bool(enable)


def get_virtual_device_configuration(device):
    """The logical devices that a physical one is split into, or None.

    Args:
        device: A physical device.

    Returns:
        A list, or None.

    Example:
        >>> cpu, = tf.config.experimental.list_physical_devices("CPU")
        >>> tf.config.experimental.get_virtual_device_configuration(cpu)
    """
    return _PROCESS.virtual.get(_known(device))


def set_virtual_device_configuration(device, virtual_devices):
    """Split a CPU into several logical devices.

    Args:
        device: A physical device.
        virtual_devices: A list of `VirtualDeviceConfiguration`.

    Returns:
        None.

    Raises:
        NotImplementedError: If it is a GPU.
        RuntimeError: If devices are in use already.
        ValueError: If the memory of a CPU is to be limited.

    Example:
        >>> cpu, = tf.config.experimental.list_physical_devices("CPU")
        >>> tf.config.experimental.get_virtual_device_configuration(cpu)
    """
    if _known(device).device_type != "CPU":
        raise NotImplementedError("Everflow can't split a GPU yet")
    if any(virtual.memory_limit is not None for virtual in virtual_devices):
        raise ValueError(f"A memory_limit is a GPU's; {device} has to be split without.")
    if _PROCESS.virtual.get(device) != list(virtual_devices):
        _PROCESS.check_unused("Virtual devices")
        _PROCESS.virtual[device] = list(virtual_devices)


def get_device_policy():
    """What eager execution does with a tensor on another device than its op: see set_device_policy.

    Returns:
        A string.

    Example:
        >>> tf.config.experimental.get_device_policy()
        'silent'
    """
    return _PROCESS.device_policy


def set_device_policy(device_policy):
    """Copy tensors between devices "silent", "silent_for_int32" only, with a "warn"ing, or be "explicit" and raise.
    None means silent.

    Args:
        device_policy: `silent`, `silent_for_int32`, `warn`, `explicit`, or None.

    Returns:
        None.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> tf.config.experimental.set_device_policy(None)
    """
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _PROCESS.device_policy = policy


def get_synchronous_execution():
    """Whether eager ops have run when the call that made them returns.

    Returns:
        A bool.

    Example:
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    return _PROCESS.synchronous


def set_synchronous_execution(enable):
    """Let eager ops run when they are called, or later. Everflow runs them when they are called in both cases.

    Args:
        enable: Whether.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.set_synchronous_execution(True)
    """
    _PROCESS.synchronous = True if enable is None else bool(enable)
