"""Arrays as they travel: TensorProtos with raw contents, or parcels of bytes; checked when they come in."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import array_of, as_bytes_array
from everflow.protos import tensor_pb2

_LARGEST = (1 << 31) - 1  # bytes that a proto can hold
_PARCEL = struct.Struct("<HH")  # type, rank; the sizes follow
_HIGHEST_RANK = 64  # that numpy has


class Parcel(NamedTuple):
    """A tensor as it goes from one of our tasks to another: its type and an array; strings as the bytes of a proto."""

    dtype: dtypes.DType
    array: np.ndarray

    def kept(self) -> Parcel:
        """The same with memory of its own: it stays as it is when the tensor changes."""
        return Parcel(self.dtype, self.array.copy())


def wrap(array: np.ndarray, dtype: dtypes.DType) -> Parcel:
    """The parcel of an array, over its memory where that can be."""
    if dtype is dtypes.string:
        return Parcel(dtype, np.frombuffer(encode(array, dtype).SerializeToString(), np.uint8))
    return Parcel(dtype, array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape))


def unwrap(parcel: Parcel) -> np.ndarray:
    """The array of a parcel that came."""
    if parcel.dtype is dtypes.string:
        return decode(tensor_pb2.TensorProto.FromString(parcel.array.tobytes()), dtypes.string)
    if parcel.dtype is dtypes.bool:  # any byte but zero is true, and an array of truth values must not hold others
        return np.asarray(parcel.array.view(np.uint8) != 0)
    return parcel.array


def described(parcels: list[Parcel]) -> bytes:
    """Types and shapes of parcels, from which `of_description` makes room for them."""
    return b"".join(
        _PARCEL.pack(dtype.as_datatype_enum, array.ndim) + struct.pack(f"<{array.ndim}q", *array.shape)
        for dtype, array in parcels
    )


def of_description(description: bytes, size_in_bytes: int) -> list[Parcel]:
    """Parcels as they were described, not filled yet; ValueError where they don't take so many bytes."""
    found = _read(description)
    if size_in_bytes != _bytes_of(found):
        raise ValueError("sizes that don't agree")
    return [Parcel(dtype, np.empty(shape, form)) for dtype, shape, form in found]


def described_size(description: bytes) -> int:
    """The bytes that described parcels have."""
    return _bytes_of(_read(description))


def _read(description: bytes) -> list[tuple[dtypes.DType, tuple[int, ...], np.dtype]]:
    """(type, shape, form of the array) of each parcel; ValueError where there can be none such."""
    found, position = [], 0
    while position < len(description):
        number, rank = _PARCEL.unpack_from(description, position)
        if rank > _HIGHEST_RANK:
            raise ValueError(f"a rank of {rank}")
        shape = struct.unpack_from(f"<{rank}q", description, position + _PARCEL.size)
        if any(s < 0 for s in shape):
            raise ValueError("a negative size")
        position += _PARCEL.size + 8 * rank
        dtype = dtypes.as_dtype(number)
        found.append((dtype, shape, np.dtype(np.uint8 if dtype is dtypes.string else dtype.as_numpy_dtype)))
    return found


def _bytes_of(found: list[tuple[dtypes.DType, tuple[int, ...], np.dtype]]) -> int:
    return sum(math.prod(shape) * form.itemsize for _, shape, form in found)


_PIECE = 1 << 20


def _view(array: np.ndarray) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8).data)


def pieces(parcels: list[Parcel]) -> Iterator[bytes]:
    """The bytes of parcels in pieces, which can be on their way while the next is made."""
    for _, array in parcels:
        view = _view(array)
        for start in range(0, len(view), _PIECE):
            yield bytes(view[start : start + _PIECE])


def fill(parcels: list[Parcel], coming: Iterable[bytes]) -> None:
    """Put pieces into parcels that `of_description` made; DataLossError where they are too few or too many."""
    views = [_view(array) for _, array in parcels]
    number = at = 0
    for piece in coming:
        while number < len(views) and at == len(views[number]):
            number, at = number + 1, 0
        if number == len(views) or at + len(piece) > len(views[number]):
            raise errors.DataLossError(None, None, "More of a tensor came than was announced")
        views[number][at : at + len(piece)] = piece
        at += len(piece)
    if any(len(view) for view in views[number + 1 :]) or number < len(views) and at < len(views[number]):
        raise errors.DataLossError(None, None, "Less of a tensor came than was announced")


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
