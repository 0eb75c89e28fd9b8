"""Kernels that take fields out of serialized protocol buffers, and put them together: DecodeProtoV2 and EncodeProto."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import DecodeError, Message

from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, InvalidArgumentError, NotFoundError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import strings
from everflow.kernels.tensors import AnyTensor, Strings, Value, torch_dtype
from everflow.platform import file_io

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

# Which dtypes a field may be read as or written from.
_DTYPES = {
    Field.CPPTYPE_INT32: {dtypes.int32, dtypes.int64},
    Field.CPPTYPE_INT64: {dtypes.int64},
    Field.CPPTYPE_UINT32: {dtypes.uint32, dtypes.uint64},
    Field.CPPTYPE_UINT64: {dtypes.uint64},
    Field.CPPTYPE_FLOAT: {dtypes.float32, dtypes.float64},
    Field.CPPTYPE_DOUBLE: {dtypes.float64},
    Field.CPPTYPE_BOOL: {dtypes.bool},
    Field.CPPTYPE_ENUM: {dtypes.int32},
    Field.CPPTYPE_STRING: {dtypes.string},
    Field.CPPTYPE_MESSAGE: {dtypes.string},
}


def _is_repeated(field: Field) -> bool:
    # The property is newer than the oldest protobuf we run on.
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == Field.LABEL_REPEATED


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


@lru_cache(maxsize=64)
def _message_class(descriptor_source: str, message_type: str) -> type[Message]:
    """The class of a message: one of ours for "local://", else from a FileDescriptorSet in a file or in the attribute
    itself.
    """
    asked = message_type
    if descriptor_source in ("", "local://"):
        package = importlib.import_module("everflow.protos")
        for module in pkgutil.iter_modules(package.__path__):
            if module.name.endswith("_pb2"):
                importlib.import_module(f"everflow.protos.{module.name}")
        pool = descriptor_pool.Default()
        # TensorFlow's messages are here under our package's name.
        if message_type.startswith("tensorflow."):
            message_type = "everflow." + message_type[len("tensorflow.") :]
    else:
        pool = descriptor_pool.DescriptorPool()
        if descriptor_source.startswith("bytes://"):
            data = descriptor_source[len("bytes://") :].encode("utf-8", "surrogateescape")
        else:
            try:
                with file_io.FileIO(descriptor_source, "rb") as file:
                    data = file.read()
            except NotFoundError as error:
                raise _refuse(f"There are no descriptors at {descriptor_source!r}: {error}") from None
        for file_proto in descriptor_pb2.FileDescriptorSet.FromString(data).file:
            pool.Add(file_proto)
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(message_type))
    except KeyError:
        raise _refuse(f"No descriptor found for message type {asked}") from None


def _fields(message_class: type[Message], names: list[str], types: list[DType]) -> list[Field]:
    descriptor = message_class.DESCRIPTOR
    found = []
    for name, dtype in zip(names, types):
        field = descriptor.fields_by_name.get(name)
        if field is None:
            raise _refuse(f"Unknown field: {name} in message type {descriptor.full_name}")
        if dtype not in _DTYPES[field.cpp_type]:
            raise _refuse(
                f"Unexpected output type for {descriptor.full_name}.{name}: {field.cpp_type} to {dtype.as_datatype_enum}"
            )
        found.append(field)
    return found


def _read(value: Any, field: Field) -> Any:
    if field.cpp_type == Field.CPPTYPE_MESSAGE:
        return value.SerializeToString()
    return value.encode() if isinstance(value, str) else value


def _default(field: Field) -> Any:
    if field.cpp_type == Field.CPPTYPE_MESSAGE:
        return b""
    value = field.default_value
    return value.encode() if isinstance(value, str) else value


def _values(message: Message, field: Field) -> list:
    if _is_repeated(field):
        return [_read(v, field) for v in getattr(message, field.name)]
    present = (
        message.HasField(field.name) if field.has_presence else getattr(message, field.name) != field.default_value
    )
    return [_read(getattr(message, field.name), field)] if present else []


@fresh("DecodeProtoV2")
def decode_proto(
    bytes: Strings,
    *,
    message_type: str,
    field_names: list[str],
    output_types: list[DType],
    descriptor_source: str,
    message_format: str,
    sanitize: bool,
) -> tuple[torch.Tensor, list[AnyTensor]]:
    if message_format not in ("binary", "text"):
        raise _refuse(f"format must be one of binary or text, got {message_format!r}")
    if len(field_names) != len(output_types):
        raise _refuse(f"There are {len(field_names)} field names but {len(output_types)} output types")
    message_class = _message_class(descriptor_source, message_type)
    fields = _fields(message_class, field_names, output_types)
    rows = []
    for data in bytes.flat:
        try:
            if message_format == "text":
                message = text_format.Parse(data, message_class())
            else:
                message = message_class.FromString(data)
        except (DecodeError, text_format.ParseError) as error:
            raise DataLossError(None, None, f"Unable to parse {message_format} protobuf: {error}") from None
        if sanitize:
            message.DiscardUnknownFields()
        rows.append([_values(message, field) for field in fields])
    sizes = torch.tensor([[len(values) for values in row] for row in rows], dtype=torch.int32)
    columns = []
    for index, (field, dtype) in enumerate(zip(fields, output_types)):
        width = max((len(row[index]) for row in rows), default=0) if _is_repeated(field) else 1
        blank = ("" if dtype is dtypes.string else 0) if _is_repeated(field) else _default(field)
        blank = blank.encode() if isinstance(blank, str) else blank
        flat = [v for row in rows for v in row[index] + [blank] * (width - len(row[index]))]
        shape = (*bytes.shape, width)
        columns.append(
            strings(flat, shape)
            if dtype is dtypes.string
            else torch.tensor(flat, dtype=torch_dtype(dtype)).reshape(shape)
        )
    return sizes.reshape(*bytes.shape, len(fields)), columns


@fresh("EncodeProto")
def encode_proto(
    sizes: torch.Tensor,
    values: list[Value],
    *,
    field_names: list[str],
    message_type: str,
    descriptor_source: str,
    Tinput_types: list[DType],
) -> Strings:
    message_class = _message_class(descriptor_source, message_type)
    fields = _fields(message_class, field_names, Tinput_types)
    batch = sizes.shape[:-1]
    if sizes.dim() < 2 or sizes.shape[-1] != len(fields):
        raise _refuse(
            f"sizes must be batch_size + [field_names.size()], got {list(sizes.shape)} for {len(fields)} fields"
        )
    counts = sizes.reshape(-1, len(fields)).tolist()
    columns = []
    for name, value in zip(field_names, values):
        if tuple(value.shape[:-1]) != tuple(batch):
            raise _refuse(f"The values of {name} have shape {list(value.shape)}, sizes {list(sizes.shape)}")
        columns.append(
            (list(value.flat) if isinstance(value, np.ndarray) else value.reshape(-1).tolist(), value.shape[-1])
        )
    made = []
    for row, row_counts in enumerate(counts):
        message = message_class()
        for field, count, (flat, width) in zip(fields, row_counts, columns):
            if count > width or (count > 1 and not _is_repeated(field)):
                raise _refuse(f"Size {count} of field {field.name} is more than its values or the field can hold")
            _write(message, field, flat[row * width : row * width + max(count, 0)])
        made.append(message.SerializeToString())
    return strings(made, tuple(batch))


def _write(message: Message, field: Field, items: list[Any]) -> None:
    for item in items:
        if field.cpp_type == Field.CPPTYPE_MESSAGE:
            target = getattr(message, field.name).add() if _is_repeated(field) else getattr(message, field.name)
            target.MergeFromString(item)
            if not _is_repeated(field):
                target.SetInParent()
            continue
        if field.type == Field.TYPE_STRING:
            item = item.decode()
        if _is_repeated(field):
            getattr(message, field.name).append(item)
        else:
            setattr(message, field.name, item)
