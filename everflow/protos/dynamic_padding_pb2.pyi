from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PaddingMap(_message.Message):
    __slots__ = ("arg_index", "shape_index", "padding_arg_index")
    ARG_INDEX_FIELD_NUMBER: _ClassVar[int]
    SHAPE_INDEX_FIELD_NUMBER: _ClassVar[int]
    PADDING_ARG_INDEX_FIELD_NUMBER: _ClassVar[int]
    arg_index: int
    shape_index: int
    padding_arg_index: int
    def __init__(self, arg_index: _Optional[int] = ..., shape_index: _Optional[int] = ..., padding_arg_index: _Optional[int] = ...) -> None: ...
