from everflow.protos import graph_pb2 as _graph_pb2
from everflow.protos import tensor_shape_pb2 as _tensor_shape_pb2
from everflow.protos import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RemoteFusedGraphExecuteInfo(_message.Message):
    __slots__ = ("remote_graph", "graph_input_node_name", "graph_output_node_name", "executor_name", "serialized_executor_parameters", "default_graph_input_tensor_shape", "default_graph_output_tensor_shape")
    class TensorShapeTypeProto(_message.Message):
        __slots__ = ("dtype", "shape")
        DTYPE_FIELD_NUMBER: _ClassVar[int]
        SHAPE_FIELD_NUMBER: _ClassVar[int]
        dtype: _types_pb2.DataType
        shape: _tensor_shape_pb2.TensorShapeProto
        def __init__(self, dtype: _Optional[_Union[_types_pb2.DataType, str]] = ..., shape: _Optional[_Union[_tensor_shape_pb2.TensorShapeProto, _Mapping]] = ...) -> None: ...
    REMOTE_GRAPH_FIELD_NUMBER: _ClassVar[int]
    GRAPH_INPUT_NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    GRAPH_OUTPUT_NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_NAME_FIELD_NUMBER: _ClassVar[int]
    SERIALIZED_EXECUTOR_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_GRAPH_INPUT_TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_GRAPH_OUTPUT_TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    remote_graph: _graph_pb2.GraphDef
    graph_input_node_name: _containers.RepeatedScalarFieldContainer[str]
    graph_output_node_name: _containers.RepeatedScalarFieldContainer[str]
    executor_name: str
    serialized_executor_parameters: bytes
    default_graph_input_tensor_shape: _containers.RepeatedCompositeFieldContainer[RemoteFusedGraphExecuteInfo.TensorShapeTypeProto]
    default_graph_output_tensor_shape: _containers.RepeatedCompositeFieldContainer[RemoteFusedGraphExecuteInfo.TensorShapeTypeProto]
    def __init__(self, remote_graph: _Optional[_Union[_graph_pb2.GraphDef, _Mapping]] = ..., graph_input_node_name: _Optional[_Iterable[str]] = ..., graph_output_node_name: _Optional[_Iterable[str]] = ..., executor_name: _Optional[str] = ..., serialized_executor_parameters: _Optional[bytes] = ..., default_graph_input_tensor_shape: _Optional[_Iterable[_Union[RemoteFusedGraphExecuteInfo.TensorShapeTypeProto, _Mapping]]] = ..., default_graph_output_tensor_shape: _Optional[_Iterable[_Union[RemoteFusedGraphExecuteInfo.TensorShapeTypeProto, _Mapping]]] = ...) -> None: ...
