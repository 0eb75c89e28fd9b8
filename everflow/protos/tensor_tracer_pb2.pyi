from everflow.protos import graph_pb2 as _graph_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorTracerReport(_message.Message):
    __slots__ = ("config", "graphdef", "tensordef")
    class TensorTracerConfig(_message.Message):
        __slots__ = ("version", "device", "trace_mode", "num_cores", "num_hosts", "submode", "num_cores_per_host", "included_cores", "signatures")
        VERSION_FIELD_NUMBER: _ClassVar[int]
        DEVICE_FIELD_NUMBER: _ClassVar[int]
        TRACE_MODE_FIELD_NUMBER: _ClassVar[int]
        NUM_CORES_FIELD_NUMBER: _ClassVar[int]
        NUM_HOSTS_FIELD_NUMBER: _ClassVar[int]
        SUBMODE_FIELD_NUMBER: _ClassVar[int]
        NUM_CORES_PER_HOST_FIELD_NUMBER: _ClassVar[int]
        INCLUDED_CORES_FIELD_NUMBER: _ClassVar[int]
        SIGNATURES_FIELD_NUMBER: _ClassVar[int]
        version: str
        device: str
        trace_mode: str
        num_cores: int
        num_hosts: int
        submode: str
        num_cores_per_host: int
        included_cores: _containers.RepeatedScalarFieldContainer[int]
        signatures: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, version: _Optional[str] = ..., device: _Optional[str] = ..., trace_mode: _Optional[str] = ..., num_cores: _Optional[int] = ..., num_hosts: _Optional[int] = ..., submode: _Optional[str] = ..., num_cores_per_host: _Optional[int] = ..., included_cores: _Optional[_Iterable[int]] = ..., signatures: _Optional[_Iterable[str]] = ...) -> None: ...
    class TracedTensorDef(_message.Message):
        __slots__ = ("name", "cache_index", "trace_point_name", "is_traced", "explanation")
        NAME_FIELD_NUMBER: _ClassVar[int]
        CACHE_INDEX_FIELD_NUMBER: _ClassVar[int]
        TRACE_POINT_NAME_FIELD_NUMBER: _ClassVar[int]
        IS_TRACED_FIELD_NUMBER: _ClassVar[int]
        EXPLANATION_FIELD_NUMBER: _ClassVar[int]
        name: str
        cache_index: int
        trace_point_name: str
        is_traced: bool
        explanation: str
        def __init__(self, name: _Optional[str] = ..., cache_index: _Optional[int] = ..., trace_point_name: _Optional[str] = ..., is_traced: bool = ..., explanation: _Optional[str] = ...) -> None: ...
    class TensordefEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: TensorTracerReport.TracedTensorDef
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[TensorTracerReport.TracedTensorDef, _Mapping]] = ...) -> None: ...
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    GRAPHDEF_FIELD_NUMBER: _ClassVar[int]
    TENSORDEF_FIELD_NUMBER: _ClassVar[int]
    config: TensorTracerReport.TensorTracerConfig
    graphdef: _graph_pb2.GraphDef
    tensordef: _containers.MessageMap[str, TensorTracerReport.TracedTensorDef]
    def __init__(self, config: _Optional[_Union[TensorTracerReport.TensorTracerConfig, _Mapping]] = ..., graphdef: _Optional[_Union[_graph_pb2.GraphDef, _Mapping]] = ..., tensordef: _Optional[_Mapping[str, TensorTracerReport.TracedTensorDef]] = ...) -> None: ...
