from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EntryValue(_message.Message):
    __slots__ = ("double_value", "string_value")
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    double_value: float
    string_value: str
    def __init__(self, double_value: _Optional[float] = ..., string_value: _Optional[str] = ...) -> None: ...

class MetricEntry(_message.Message):
    __slots__ = ("name", "value", "min_value", "max_value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_VALUE_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    min_value: _wrappers_pb2.DoubleValue
    max_value: _wrappers_pb2.DoubleValue
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ..., min_value: _Optional[_Union[_wrappers_pb2.DoubleValue, _Mapping]] = ..., max_value: _Optional[_Union[_wrappers_pb2.DoubleValue, _Mapping]] = ...) -> None: ...

class BenchmarkEntry(_message.Message):
    __slots__ = ("name", "iters", "cpu_time", "wall_time", "throughput", "extras", "metrics")
    class ExtrasEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: EntryValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[EntryValue, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    ITERS_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    THROUGHPUT_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    name: str
    iters: int
    cpu_time: float
    wall_time: float
    throughput: float
    extras: _containers.MessageMap[str, EntryValue]
    metrics: _containers.RepeatedCompositeFieldContainer[MetricEntry]
    def __init__(self, name: _Optional[str] = ..., iters: _Optional[int] = ..., cpu_time: _Optional[float] = ..., wall_time: _Optional[float] = ..., throughput: _Optional[float] = ..., extras: _Optional[_Mapping[str, EntryValue]] = ..., metrics: _Optional[_Iterable[_Union[MetricEntry, _Mapping]]] = ...) -> None: ...

class BenchmarkEntries(_message.Message):
    __slots__ = ("entry",)
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    entry: _containers.RepeatedCompositeFieldContainer[BenchmarkEntry]
    def __init__(self, entry: _Optional[_Iterable[_Union[BenchmarkEntry, _Mapping]]] = ...) -> None: ...

class BuildConfiguration(_message.Message):
    __slots__ = ("mode", "cc_flags", "opts")
    MODE_FIELD_NUMBER: _ClassVar[int]
    CC_FLAGS_FIELD_NUMBER: _ClassVar[int]
    OPTS_FIELD_NUMBER: _ClassVar[int]
    mode: str
    cc_flags: _containers.RepeatedScalarFieldContainer[str]
    opts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, mode: _Optional[str] = ..., cc_flags: _Optional[_Iterable[str]] = ..., opts: _Optional[_Iterable[str]] = ...) -> None: ...

class CommitId(_message.Message):
    __slots__ = ("changelist", "hash", "snapshot", "pending_changelist")
    CHANGELIST_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    PENDING_CHANGELIST_FIELD_NUMBER: _ClassVar[int]
    changelist: int
    hash: str
    snapshot: str
    pending_changelist: int
    def __init__(self, changelist: _Optional[int] = ..., hash: _Optional[str] = ..., snapshot: _Optional[str] = ..., pending_changelist: _Optional[int] = ...) -> None: ...

class CPUInfo(_message.Message):
    __slots__ = ("num_cores", "num_cores_allowed", "mhz_per_cpu", "cpu_info", "cpu_governor", "cache_size")
    class CacheSizeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NUM_CORES_FIELD_NUMBER: _ClassVar[int]
    NUM_CORES_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    MHZ_PER_CPU_FIELD_NUMBER: _ClassVar[int]
    CPU_INFO_FIELD_NUMBER: _ClassVar[int]
    CPU_GOVERNOR_FIELD_NUMBER: _ClassVar[int]
    CACHE_SIZE_FIELD_NUMBER: _ClassVar[int]
    num_cores: int
    num_cores_allowed: int
    mhz_per_cpu: float
    cpu_info: str
    cpu_governor: str
    cache_size: _containers.ScalarMap[str, int]
    def __init__(self, num_cores: _Optional[int] = ..., num_cores_allowed: _Optional[int] = ..., mhz_per_cpu: _Optional[float] = ..., cpu_info: _Optional[str] = ..., cpu_governor: _Optional[str] = ..., cache_size: _Optional[_Mapping[str, int]] = ...) -> None: ...

class MemoryInfo(_message.Message):
    __slots__ = ("total", "available")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    total: int
    available: int
    def __init__(self, total: _Optional[int] = ..., available: _Optional[int] = ...) -> None: ...

class PlatformInfo(_message.Message):
    __slots__ = ("bits", "linkage", "machine", "release", "system", "version")
    BITS_FIELD_NUMBER: _ClassVar[int]
    LINKAGE_FIELD_NUMBER: _ClassVar[int]
    MACHINE_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    bits: str
    linkage: str
    machine: str
    release: str
    system: str
    version: str
    def __init__(self, bits: _Optional[str] = ..., linkage: _Optional[str] = ..., machine: _Optional[str] = ..., release: _Optional[str] = ..., system: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class AvailableDeviceInfo(_message.Message):
    __slots__ = ("name", "type", "memory_limit", "physical_description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_LIMIT_FIELD_NUMBER: _ClassVar[int]
    PHYSICAL_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    memory_limit: int
    physical_description: str
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., memory_limit: _Optional[int] = ..., physical_description: _Optional[str] = ...) -> None: ...

class MachineConfiguration(_message.Message):
    __slots__ = ("hostname", "platform_info", "cpu_info", "device_info", "available_device_info", "memory_info", "serial_identifier")
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_INFO_FIELD_NUMBER: _ClassVar[int]
    CPU_INFO_FIELD_NUMBER: _ClassVar[int]
    DEVICE_INFO_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_DEVICE_INFO_FIELD_NUMBER: _ClassVar[int]
    MEMORY_INFO_FIELD_NUMBER: _ClassVar[int]
    SERIAL_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    hostname: str
    platform_info: PlatformInfo
    cpu_info: CPUInfo
    device_info: _containers.RepeatedCompositeFieldContainer[_any_pb2.Any]
    available_device_info: _containers.RepeatedCompositeFieldContainer[AvailableDeviceInfo]
    memory_info: MemoryInfo
    serial_identifier: str
    def __init__(self, hostname: _Optional[str] = ..., platform_info: _Optional[_Union[PlatformInfo, _Mapping]] = ..., cpu_info: _Optional[_Union[CPUInfo, _Mapping]] = ..., device_info: _Optional[_Iterable[_Union[_any_pb2.Any, _Mapping]]] = ..., available_device_info: _Optional[_Iterable[_Union[AvailableDeviceInfo, _Mapping]]] = ..., memory_info: _Optional[_Union[MemoryInfo, _Mapping]] = ..., serial_identifier: _Optional[str] = ...) -> None: ...

class RunConfiguration(_message.Message):
    __slots__ = ("argument",)
    ARGUMENT_FIELD_NUMBER: _ClassVar[int]
    argument: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, argument: _Optional[_Iterable[str]] = ...) -> None: ...

class GPUInfo(_message.Message):
    __slots__ = ("model", "uuid", "bus_id")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    BUS_ID_FIELD_NUMBER: _ClassVar[int]
    model: str
    uuid: str
    bus_id: str
    def __init__(self, model: _Optional[str] = ..., uuid: _Optional[str] = ..., bus_id: _Optional[str] = ...) -> None: ...

class TestResults(_message.Message):
    __slots__ = ("target", "entries", "build_configuration", "commit_id", "start_time", "run_time", "machine_configuration", "run_configuration", "name", "benchmark_type", "run_mode", "tf_version")
    class BenchmarkType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[TestResults.BenchmarkType]
        CPP_MICROBENCHMARK: _ClassVar[TestResults.BenchmarkType]
        PYTHON_BENCHMARK: _ClassVar[TestResults.BenchmarkType]
        ANDROID_BENCHMARK: _ClassVar[TestResults.BenchmarkType]
    UNKNOWN: TestResults.BenchmarkType
    CPP_MICROBENCHMARK: TestResults.BenchmarkType
    PYTHON_BENCHMARK: TestResults.BenchmarkType
    ANDROID_BENCHMARK: TestResults.BenchmarkType
    TARGET_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    BUILD_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MACHINE_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    RUN_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_TYPE_FIELD_NUMBER: _ClassVar[int]
    RUN_MODE_FIELD_NUMBER: _ClassVar[int]
    TF_VERSION_FIELD_NUMBER: _ClassVar[int]
    target: str
    entries: BenchmarkEntries
    build_configuration: BuildConfiguration
    commit_id: CommitId
    start_time: int
    run_time: float
    machine_configuration: MachineConfiguration
    run_configuration: RunConfiguration
    name: str
    benchmark_type: TestResults.BenchmarkType
    run_mode: str
    tf_version: str
    def __init__(self, target: _Optional[str] = ..., entries: _Optional[_Union[BenchmarkEntries, _Mapping]] = ..., build_configuration: _Optional[_Union[BuildConfiguration, _Mapping]] = ..., commit_id: _Optional[_Union[CommitId, _Mapping]] = ..., start_time: _Optional[int] = ..., run_time: _Optional[float] = ..., machine_configuration: _Optional[_Union[MachineConfiguration, _Mapping]] = ..., run_configuration: _Optional[_Union[RunConfiguration, _Mapping]] = ..., name: _Optional[str] = ..., benchmark_type: _Optional[_Union[TestResults.BenchmarkType, str]] = ..., run_mode: _Optional[str] = ..., tf_version: _Optional[str] = ...) -> None: ...
