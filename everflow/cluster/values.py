"""Arrays as they travel: TensorProtos with raw contents, checked when they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import array_of, as_bytes_array
from everflow.protos import tensor_pb2

_LARGEST = (1 << 31) - 1  # bytes that a proto can hold


def encode(array: Any, dtype: dtypes.DType) -> tensor_pb2.TensorProto:
    """The TensorProto of an array."""
    array = np.asarray(array, dtype=object if dtype is dtypes.string else None)
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if dtype is dtypes.string:
        proto.string_val.extend(as_bytes_array(array).ravel().tolist())
    elif array.nbytes > _LARGEST:
        raise errors.InvalidArgumentError(
            None, None, f"A {dtype.name} tensor of shape {list(array.shape)} is larger than the 2 GB a message holds"
        )
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def decode(proto: tensor_pb2.TensorProto, dtype: dtypes.DType | None = None) -> np.ndarray:
    """The array of a TensorProto; InvalidArgumentError where it is broken or of another type than `dtype`."""
    if dtype is not None and proto.dtype != dtype.as_datatype_enum:
        raise errors.InvalidArgumentError(None, None, f"Tensor type {proto.dtype} came where {dtype.name} was expected")
    try:
        if proto.dtype == dtypes.string.as_datatype_enum and proto.tensor_content:
            return _packed_text(proto)
        return array_of(proto)
    except (TypeError, ValueError) as e:
        raise errors.InvalidArgumentError(None, None, f"A tensor that came can't be read: {e}") from None


def _packed_text(proto: tensor_pb2.TensorProto) -> np.ndarray:
    """Strings in TensorFlow's packed form: their lengths as varints, then all their bytes."""
    shape, data = [d.size for d in proto.tensor_shape.dim], proto.tensor_content
    count = int(np.prod(shape, dtype=np.int64))
    if not 0 <= count <= len(data):
        raise ValueError(f"{len(data)} bytes can't hold strings of shape {shape}")
    lengths, position = [], 0
    for _ in range(count):
        length, position = _varint(data, position)
        lengths.append(length)
    if position + sum(lengths) != len(data):
        raise ValueError(f"{len(data) - position} bytes where strings of {sum(lengths)} bytes were announced")
    result = np.empty(count, object)
    for i, length in enumerate(lengths):
        result[i] = data[position : position + length]
        position += length
    return result.reshape(shape)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """(number, position after it)."""
    value = shift = 0
    while shift < 64:
        if position >= len(data):
            raise ValueError("a length is cut off")
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
    raise ValueError("a length takes more than 64 bits")
