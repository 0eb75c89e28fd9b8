# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any

class CentralStorageStrategy(_tf.distribute.Strategy):
    def __init__(self, compute_devices: Any = None, parameter_device: Any = None) -> None: ...

class ParameterServerStrategy(_tf.distribute.Strategy):
    def __init__(self, cluster_resolver: Any = None) -> None: ...

class TPUStrategy(_tf.distribute.Strategy):
    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None: ...

TYPE_CHECKING: bool
