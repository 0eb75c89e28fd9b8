"""tf.config: devices, threads and rewriting for the whole process."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from typing import TYPE_CHECKING

from everflow.config import experimental, optimizer, threading
from everflow.framework.lazy_names import lazy_names as _lazy_names
from everflow.ops.functions.traced import run_functions_eagerly as experimental_run_functions_eagerly
from everflow.runtime.process_options import PROCESS as _PROCESS

if TYPE_CHECKING:  # loads grpc
    from everflow.config.connecting import experimental_connect_to_cluster, experimental_connect_to_host

__getattr__, __dir__ = _lazy_names(__name__, __file__)


def get_soft_device_placement():
    """Whether an op that can't be on the device it asks for is put on another.

    Returns:
        A bool.

    Example:
        >>> type(tf.config.get_soft_device_placement()).__name__
        'bool'
    """
    return _PROCESS.places_softly


def set_soft_device_placement(enabled):
    """Let ops that can't be on the device they ask for be put on another.

    Args:
        enabled: Whether.

    Returns:
        None.

    Example:
        >>> before = tf.config.get_soft_device_placement()
        >>> tf.config.set_soft_device_placement(before)
    """
    _PROCESS.soft_placement = bool(enabled)


def experimental_list_devices():
    """The names of all devices.

    Returns:
        A list of strings.

    Example:
        >>> tf.config.experimental_list_devices()[0]
        '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    return [device.name for device in _PROCESS.logical_devices()]
