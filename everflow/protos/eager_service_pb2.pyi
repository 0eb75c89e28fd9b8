from everflow.protos import attr_value_pb2 as _attr_value_pb2
from everflow.protos import device_attributes_pb2 as _device_attributes_pb2
from everflow.protos import function_pb2 as _function_pb2
from everflow.protos import tensor_pb2 as _tensor_pb2
from everflow.protos import tensor_shape_pb2 as _tensor_shape_pb2
from everflow.protos import tensorflow_server_pb2 as _tensorflow_server_pb2
from everflow.protos import types_pb2 as _types_pb2
from everflow.protos import versions_pb2 as _versions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorHandle(_message.Message):
    __slots__ = ("op_id", "output_num", "device", "op_device", "dtype")
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_NUM_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    OP_DEVICE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    op_id: int
    output_num: int
    device: str
    op_device: str
    dtype: _types_pb2.DataType
    def __init__(self, op_id: _Optional[int] = ..., output_num: _Optional[int] = ..., device: _Optional[str] = ..., op_device: _Optional[str] = ..., dtype: _Optional[_Union[_types_pb2.DataType, str]] = ...) -> None: ...

class RemoteOperation(_message.Message):
    __slots__ = ("id", "name", "inputs", "control_op_ids", "attrs", "device")
    class AttrsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _attr_value_pb2.AttrValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_attr_value_pb2.AttrValue, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    CONTROL_OP_IDS_FIELD_NUMBER: _ClassVar[int]
    ATTRS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    inputs: _containers.RepeatedCompositeFieldContainer[TensorHandle]
    control_op_ids: _containers.RepeatedScalarFieldContainer[int]
    attrs: _containers.MessageMap[str, _attr_value_pb2.AttrValue]
    device: str
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[TensorHandle, _Mapping]]] = ..., control_op_ids: _Optional[_Iterable[int]] = ..., attrs: _Optional[_Mapping[str, _attr_value_pb2.AttrValue]] = ..., device: _Optional[str] = ...) -> None: ...

class SentTensors(_message.Message):
    __slots__ = ("op_id", "tensors", "device_name")
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    op_id: int
    tensors: _containers.RepeatedCompositeFieldContainer[_tensor_pb2.TensorProto]
    device_name: str
    def __init__(self, op_id: _Optional[int] = ..., tensors: _Optional[_Iterable[_Union[_tensor_pb2.TensorProto, _Mapping]]] = ..., device_name: _Optional[str] = ...) -> None: ...

class QueueItem(_message.Message):
    __slots__ = ("handle_to_release", "operation", "sent_tensors")
    HANDLE_TO_RELEASE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    SENT_TENSORS_FIELD_NUMBER: _ClassVar[int]
    handle_to_release: TensorHandle
    operation: RemoteOperation
    sent_tensors: SentTensors
    def __init__(self, handle_to_release: _Optional[_Union[TensorHandle, _Mapping]] = ..., operation: _Optional[_Union[RemoteOperation, _Mapping]] = ..., sent_tensors: _Optional[_Union[SentTensors, _Mapping]] = ...) -> None: ...

class QueueResponse(_message.Message):
    __slots__ = ("shape",)
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedCompositeFieldContainer[_tensor_shape_pb2.TensorShapeProto]
    def __init__(self, shape: _Optional[_Iterable[_Union[_tensor_shape_pb2.TensorShapeProto, _Mapping]]] = ...) -> None: ...

class CreateContextRequest(_message.Message):
    __slots__ = ("server_def", "keep_alive_secs", "version_def", "cluster_device_attributes", "context_id")
    SERVER_DEF_FIELD_NUMBER: _ClassVar[int]
    ASYNC_FIELD_NUMBER: _ClassVar[int]
    KEEP_ALIVE_SECS_FIELD_NUMBER: _ClassVar[int]
    VERSION_DEF_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_DEVICE_ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    server_def: _tensorflow_server_pb2.ServerDef
    keep_alive_secs: int
    version_def: _versions_pb2.VersionDef
    cluster_device_attributes: _containers.RepeatedCompositeFieldContainer[_device_attributes_pb2.DeviceAttributes]
    context_id: int
    def __init__(self, server_def: _Optional[_Union[_tensorflow_server_pb2.ServerDef, _Mapping]] = ..., keep_alive_secs: _Optional[int] = ..., version_def: _Optional[_Union[_versions_pb2.VersionDef, _Mapping]] = ..., cluster_device_attributes: _Optional[_Iterable[_Union[_device_attributes_pb2.DeviceAttributes, _Mapping]]] = ..., context_id: _Optional[int] = ..., **kwargs) -> None: ...

class CreateContextResponse(_message.Message):
    __slots__ = ("device_attributes",)
    DEVICE_ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    device_attributes: _containers.RepeatedCompositeFieldContainer[_device_attributes_pb2.DeviceAttributes]
    def __init__(self, device_attributes: _Optional[_Iterable[_Union[_device_attributes_pb2.DeviceAttributes, _Mapping]]] = ...) -> None: ...

class EnqueueRequest(_message.Message):
    __slots__ = ("context_id", "queue")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    context_id: int
    queue: _containers.RepeatedCompositeFieldContainer[QueueItem]
    def __init__(self, context_id: _Optional[int] = ..., queue: _Optional[_Iterable[_Union[QueueItem, _Mapping]]] = ...) -> None: ...

class EnqueueResponse(_message.Message):
    __slots__ = ("queue_response",)
    QUEUE_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    queue_response: _containers.RepeatedCompositeFieldContainer[QueueResponse]
    def __init__(self, queue_response: _Optional[_Iterable[_Union[QueueResponse, _Mapping]]] = ...) -> None: ...

class WaitQueueDoneRequest(_message.Message):
    __slots__ = ("context_id", "op_id")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: int
    op_id: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, context_id: _Optional[int] = ..., op_id: _Optional[_Iterable[int]] = ...) -> None: ...

class WaitQueueDoneResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class KeepAliveRequest(_message.Message):
    __slots__ = ("context_id",)
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: int
    def __init__(self, context_id: _Optional[int] = ...) -> None: ...

class KeepAliveResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CloseContextRequest(_message.Message):
    __slots__ = ("context_id",)
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    context_id: int
    def __init__(self, context_id: _Optional[int] = ...) -> None: ...

class CloseContextResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RegisterFunctionRequest(_message.Message):
    __slots__ = ("context_id", "function_def")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_DEF_FIELD_NUMBER: _ClassVar[int]
    context_id: int
    function_def: _function_pb2.FunctionDef
    def __init__(self, context_id: _Optional[int] = ..., function_def: _Optional[_Union[_function_pb2.FunctionDef, _Mapping]] = ...) -> None: ...

class RegisterFunctionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
