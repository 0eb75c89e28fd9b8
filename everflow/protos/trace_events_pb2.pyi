from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Trace(_message.Message):
    __slots__ = ("devices", "trace_events")
    class DevicesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: Device
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[Device, _Mapping]] = ...) -> None: ...
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    TRACE_EVENTS_FIELD_NUMBER: _ClassVar[int]
    devices: _containers.MessageMap[int, Device]
    trace_events: _containers.RepeatedCompositeFieldContainer[TraceEvent]
    def __init__(self, devices: _Optional[_Mapping[int, Device]] = ..., trace_events: _Optional[_Iterable[_Union[TraceEvent, _Mapping]]] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("name", "device_id", "resources")
    class ResourcesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: Resource
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[Resource, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    name: str
    device_id: int
    resources: _containers.MessageMap[int, Resource]
    def __init__(self, name: _Optional[str] = ..., device_id: _Optional[int] = ..., resources: _Optional[_Mapping[int, Resource]] = ...) -> None: ...

class Resource(_message.Message):
    __slots__ = ("name", "resource_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    resource_id: int
    def __init__(self, name: _Optional[str] = ..., resource_id: _Optional[int] = ...) -> None: ...

class TraceEvent(_message.Message):
    __slots__ = ("device_id", "resource_id", "name", "timestamp_ps", "duration_ps", "args")
    class ArgsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_PS_FIELD_NUMBER: _ClassVar[int]
    DURATION_PS_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    device_id: int
    resource_id: int
    name: str
    timestamp_ps: int
    duration_ps: int
    args: _containers.ScalarMap[str, str]
    def __init__(self, device_id: _Optional[int] = ..., resource_id: _Optional[int] = ..., name: _Optional[str] = ..., timestamp_ps: _Optional[int] = ..., duration_ps: _Optional[int] = ..., args: _Optional[_Mapping[str, str]] = ...) -> None: ...
