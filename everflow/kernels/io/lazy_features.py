"""Example and SequenceExample messages whose features are parsed once somebody asks for them.

TensorFlow doesn't look into the others: a record that is broken only there is none the worse for it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from everflow.framework.errors import InvalidArgumentError
from everflow.protos.feature_pb2 import Feature, FeatureList

_M = TypeVar("_M", Feature, FeatureList)
_FEATURES, _KEY, _VALUE = b"\x0a\x0a\x12"  # tags
_Field = descriptor_pb2.FieldDescriptorProto


class Features(Mapping[str, _M], Generic[_M]):
    """The features of a record by their keys."""

    def __init__(self, packed: Mapping[str, bytes], kind: type[_M], record: bytes) -> None:
        self._packed, self._kind, self._record = packed, kind, record

    def __getitem__(self, key: str) -> _M:
        try:
            return self._kind.FromString(self._packed[key])
        except DecodeError:
            raise not_a_record(self._record) from None

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def not_a_record(data: bytes) -> InvalidArgumentError:
    """The error for bytes that are no message of the kind that is wanted."""
    return InvalidArgumentError(None, None, f"Could not parse example input, value: '{data.decode('latin-1')}'")


def of_example(data: bytes) -> Features[Feature]:
    """The features of a serialized Example."""
    try:
        found = _shallow().FromString(data).first.entry
    except DecodeError:
        try:
            found = _forgiving(data)
        except (ValueError, IndexError):
            raise not_a_record(data) from None
    return Features(found, Feature, data)


# What protobuf refuses and TensorFlow reads: lengths of fields that go beyond the end of a record.


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _field(data: bytes, at: int, tag: int) -> tuple[bytes, int]:
    """What is in a field that has to have this tag, as far as the data goes, and where it ends."""
    if data[at] != tag:
        raise ValueError("another field")
    size, at = _varint(data, at + 1)
    return data[at : at + size], at + size


def _forgiving(data: bytes) -> dict[str, bytes]:
    """The bytes of each feature of an Example."""
    found, at = {}, 0
    while at < len(data):
        if data[at] != _FEATURES:
            at = _after(data, at)
            continue
        features, at = _field(data, at, _FEATURES)
        place = 0
        while place < len(features):
            entry, place = _field(features, place, _FEATURES)
            key, start = _field(entry, 0, _KEY)
            value, end = _field(entry, start, _VALUE)
            if end != len(entry):
                raise ValueError("an entry ends elsewhere than its value")
            found[key.decode()] = value
    return found


def _after(data: bytes, at: int) -> int:
    """Where a field that nobody asked for ends."""
    tag, at = _varint(data, at)
    kind = tag & 7
    if kind == 0:
        return _varint(data, at)[1]
    if kind == 2:
        size, at = _varint(data, at)
        return at + size
    at += {1: 8, 5: 4}.get(kind, len(data) + 1)
    if at > len(data):
        raise ValueError("no such field")
    return at


def of_sequence(data: bytes) -> tuple[Features[Feature], Features[FeatureList]]:
    """The features of a serialized SequenceExample's context, and those of its steps."""
    try:
        record = _shallow().FromString(data)
    except DecodeError:
        raise not_a_record(data) from None
    context, lists = record.first.entry, record.second.entry
    return Features(context, Feature, data), Features(lists, FeatureList, data)


@functools.cache
def _shallow() -> type[Message]:
    """A message that reads both kinds of records down to the bytes of each feature: two maps from names to bytes."""
    file = descriptor_pb2.FileDescriptorProto(
        name="everflow/lazy_features.proto", package="everflow.lazy", syntax="proto3"
    )
    place = ".everflow.lazy."
    entries = file.message_type.add(name="Entries")
    entries.field.add(
        name="entry",
        number=1,
        label=_Field.LABEL_REPEATED,
        type=_Field.TYPE_MESSAGE,
        type_name=place + "Entries.EntryEntry",
    )
    entry = entries.nested_type.add(name="EntryEntry", options=descriptor_pb2.MessageOptions(map_entry=True))
    for name, number, type in (("key", 1, _Field.TYPE_STRING), ("value", 2, _Field.TYPE_BYTES)):
        entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL, type=type)
    record = file.message_type.add(name="Record")
    for number, name in enumerate(("first", "second"), 1):
        record.field.add(
            name=name, number=number, label=_Field.LABEL_OPTIONAL, type=_Field.TYPE_MESSAGE, type_name=place + "Entries"
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("everflow.lazy.Record"))
