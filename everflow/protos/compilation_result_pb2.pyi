from everflow.protos import error_codes_pb2 as _error_codes_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CompilationResultProto(_message.Message):
    __slots__ = ("status_code", "status_error_message", "hlo_protos")
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HLO_PROTOS_FIELD_NUMBER: _ClassVar[int]
    status_code: _error_codes_pb2.Code
    status_error_message: str
    hlo_protos: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, status_code: _Optional[_Union[_error_codes_pb2.Code, str]] = ..., status_error_message: _Optional[str] = ..., hlo_protos: _Optional[_Iterable[bytes]] = ...) -> None: ...
