from everflow.protos import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GraphTransferNodeInput(_message.Message):
    __slots__ = ("node_id", "output_port")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PORT_FIELD_NUMBER: _ClassVar[int]
    node_id: int
    output_port: int
    def __init__(self, node_id: _Optional[int] = ..., output_port: _Optional[int] = ...) -> None: ...

class GraphTransferNodeInfo(_message.Message):
    __slots__ = ("name", "node_id", "type_name", "soc_op_id", "padding_id", "input_count", "output_count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_NAME_FIELD_NUMBER: _ClassVar[int]
    SOC_OP_ID_FIELD_NUMBER: _ClassVar[int]
    PADDING_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    node_id: int
    type_name: str
    soc_op_id: int
    padding_id: int
    input_count: int
    output_count: int
    def __init__(self, name: _Optional[str] = ..., node_id: _Optional[int] = ..., type_name: _Optional[str] = ..., soc_op_id: _Optional[int] = ..., padding_id: _Optional[int] = ..., input_count: _Optional[int] = ..., output_count: _Optional[int] = ...) -> None: ...

class GraphTransferConstNodeInfo(_message.Message):
    __slots__ = ("name", "node_id", "shape", "data", "dtype")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    node_id: int
    shape: _containers.RepeatedScalarFieldContainer[int]
    data: bytes
    dtype: _types_pb2.DataType
    def __init__(self, name: _Optional[str] = ..., node_id: _Optional[int] = ..., shape: _Optional[_Iterable[int]] = ..., data: _Optional[bytes] = ..., dtype: _Optional[_Union[_types_pb2.DataType, str]] = ...) -> None: ...

class GraphTransferNodeInputInfo(_message.Message):
    __slots__ = ("node_id", "node_input")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_INPUT_FIELD_NUMBER: _ClassVar[int]
    node_id: int
    node_input: _containers.RepeatedCompositeFieldContainer[GraphTransferNodeInput]
    def __init__(self, node_id: _Optional[int] = ..., node_input: _Optional[_Iterable[_Union[GraphTransferNodeInput, _Mapping]]] = ...) -> None: ...

class GraphTransferNodeOutputInfo(_message.Message):
    __slots__ = ("node_id", "max_byte_size")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTE_SIZE_FIELD_NUMBER: _ClassVar[int]
    node_id: int
    max_byte_size: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, node_id: _Optional[int] = ..., max_byte_size: _Optional[_Iterable[int]] = ...) -> None: ...

class GraphTransferGraphInputNodeInfo(_message.Message):
    __slots__ = ("name", "shape", "dtype")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    dtype: _types_pb2.DataType
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., dtype: _Optional[_Union[_types_pb2.DataType, str]] = ...) -> None: ...

class GraphTransferGraphOutputNodeInfo(_message.Message):
    __slots__ = ("name", "shape", "dtype")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    dtype: _types_pb2.DataType
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., dtype: _Optional[_Union[_types_pb2.DataType, str]] = ...) -> None: ...

class GraphTransferInfo(_message.Message):
    __slots__ = ("node_info", "const_node_info", "node_input_info", "node_output_info", "graph_input_node_info", "graph_output_node_info", "destination")
    class Destination(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NOP: _ClassVar[GraphTransferInfo.Destination]
        HEXAGON: _ClassVar[GraphTransferInfo.Destination]
    NOP: GraphTransferInfo.Destination
    HEXAGON: GraphTransferInfo.Destination
    NODE_INFO_FIELD_NUMBER: _ClassVar[int]
    CONST_NODE_INFO_FIELD_NUMBER: _ClassVar[int]
    NODE_INPUT_INFO_FIELD_NUMBER: _ClassVar[int]
    NODE_OUTPUT_INFO_FIELD_NUMBER: _ClassVar[int]
    GRAPH_INPUT_NODE_INFO_FIELD_NUMBER: _ClassVar[int]
    GRAPH_OUTPUT_NODE_INFO_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    node_info: _containers.RepeatedCompositeFieldContainer[GraphTransferNodeInfo]
    const_node_info: _containers.RepeatedCompositeFieldContainer[GraphTransferConstNodeInfo]
    node_input_info: _containers.RepeatedCompositeFieldContainer[GraphTransferNodeInputInfo]
    node_output_info: _containers.RepeatedCompositeFieldContainer[GraphTransferNodeOutputInfo]
    graph_input_node_info: _containers.RepeatedCompositeFieldContainer[GraphTransferGraphInputNodeInfo]
    graph_output_node_info: _containers.RepeatedCompositeFieldContainer[GraphTransferGraphOutputNodeInfo]
    destination: GraphTransferInfo.Destination
    def __init__(self, node_info: _Optional[_Iterable[_Union[GraphTransferNodeInfo, _Mapping]]] = ..., const_node_info: _Optional[_Iterable[_Union[GraphTransferConstNodeInfo, _Mapping]]] = ..., node_input_info: _Optional[_Iterable[_Union[GraphTransferNodeInputInfo, _Mapping]]] = ..., node_output_info: _Optional[_Iterable[_Union[GraphTransferNodeOutputInfo, _Mapping]]] = ..., graph_input_node_info: _Optional[_Iterable[_Union[GraphTransferGraphInputNodeInfo, _Mapping]]] = ..., graph_output_node_info: _Optional[_Iterable[_Union[GraphTransferGraphOutputNodeInfo, _Mapping]]] = ..., destination: _Optional[_Union[GraphTransferInfo.Destination, str]] = ...) -> None: ...
