"""What tf.config set for this process: sessions that are given no ConfigProto take theirs from here, and so does eager
execution.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, fields

from everflow.framework.scopes import executing_eagerly_outside_functions
from everflow.protos import config_pb2
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime import devices

_SWITCH = {True: RewriterConfig.ON, False: RewriterConfig.OFF}

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"])


class VirtualDeviceConfiguration(namedtuple("VirtualDeviceConfiguration", ["memory_limit"])):
    """One of the logical devices that a physical one is split into.

    Args:
        memory_limit: How many megabytes of memory it has; any if None.

    Example:
        >>> tf.config.experimental.VirtualDeviceConfiguration(memory_limit=1024).memory_limit
        1024
    """

    def __new__(cls, memory_limit: int | None = None) -> VirtualDeviceConfiguration:
        return super().__new__(cls, memory_limit)


@dataclass
class ProcessOptions:
    """The options, with TensorFlow's defaults. Devices and threads can't change once `config_proto` has been asked for."""

    intra_op_threads: int = 0
    inter_op_threads: int = 0
    soft_placement: bool | None = None  # if nothing is set, as the process executes
    log_placement: bool = False
    jit: bool = False
    optimizer: dict[str, bool | int] = field(default_factory=dict)
    disable_meta_optimizer: bool = False
    visible: list[PhysicalDevice] | None = None
    memory_growth: dict[PhysicalDevice, bool] = field(default_factory=dict)
    virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = field(default_factory=dict)
    device_policy: str = "silent"
    synchronous: bool = True
    in_use: bool = False
    # What collective operations of several workers ask of sessions: they travel with the options.
    collective: config_pb2.ConfigProto = field(default_factory=config_pb2.ConfigProto)
    # Where eager execution is connected to a cluster: our own name in it, and the devices of the others.
    task: str = devices.PREFIX
    others: list[str] = field(default_factory=list)

    def reset(self) -> None:
        """Everything as in a process that has just begun."""
        fresh = ProcessOptions()
        for option in fields(fresh):
            setattr(self, option.name, getattr(fresh, option.name))

    @property
    def places_softly(self) -> bool:
        """Whether operations may be put on another device than the one that they ask for."""
        return executing_eagerly_outside_functions() if self.soft_placement is None else self.soft_placement

    def physical_devices(self, device_type: str | None = None) -> list[PhysicalDevice]:
        found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
        found += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(devices.gpu_count())]
        return [device for device in found if device_type in (None, device.device_type)]

    def visible_devices(self, device_type: str | None = None) -> list[PhysicalDevice]:
        found = self.physical_devices() if self.visible is None else self.visible
        return [device for device in found if device_type in (None, device.device_type)]

    def logical_devices(self, device_type: str | None = None) -> list[LogicalDevice]:
        names = [*devices.device_names(self.config_proto(), self.task), *self.others]
        found = [LogicalDevice(name, name.rsplit(":", 2)[1]) for name in names]
        return [device for device in found if device_type in (None, device.device_type)]

    def check_unused(self, what: str) -> None:
        if self.in_use:
            raise RuntimeError(f"{what} cannot be modified after being initialized")

    def config_proto(self) -> config_pb2.ConfigProto:
        """The options as a session takes them."""
        self.in_use = True
        config = config_pb2.ConfigProto(
            allow_soft_placement=self.places_softly,
            log_device_placement=self.log_placement,
            intra_op_parallelism_threads=self.intra_op_threads,
            inter_op_parallelism_threads=self.inter_op_threads,
        )
        for device in self.virtual:
            if device.device_type == "CPU":
                config.device_count["CPU"] = len(self.virtual[device])
        if self.visible is not None:
            gpus = [device.name.rpartition(":")[2] for device in self.visible if device.device_type == "GPU"]
            config.device_count["GPU"] = len(gpus)
            config.gpu_options.visible_device_list = ",".join(gpus)
        config.gpu_options.allow_growth = any(self.memory_growth.values())
        if self.jit:
            config.graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.ON_1
        rewriting = config.graph_options.rewrite_options
        rewriting.disable_meta_optimizer = self.disable_meta_optimizer
        for name, asked in self.optimizer.items():
            setattr(rewriting, name, _SWITCH[asked] if isinstance(asked, bool) else asked)
        config.MergeFrom(self.collective)
        return config


PROCESS = ProcessOptions()
