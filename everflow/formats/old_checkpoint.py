"""Checkpoints of the first version: tables whose values are TensorProtos, one file for each shard."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from everflow.formats.ordered_code import slice_key
from everflow.formats.slices import TensorSlice, assembled
from everflow.formats.table import TableReader, TableWriter
from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, NotFoundError
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import array_of, make_tensor_proto
from everflow.protos import saved_tensor_slice_pb2

if TYPE_CHECKING:
    from everflow.protos import tensor_pb2

_META_KEY = b""


class OldCheckpointReader:
    """The tensors of one or several files of the first version."""

    def __init__(self, paths: list[str]) -> None:
        self._tables = []
        self._meta: dict[str, saved_tensor_slice_pb2.SavedSliceMeta] = {}
        self._where: dict[str, list[tuple[TableReader, TensorSlice, str]]] = {}
        for path in paths:
            with open(path, "rb") as file:
                table = TableReader(file.read(), path)
            meta = table.get(_META_KEY)
            if meta is None:
                raise DataLossError(
                    None, None, f"{path}: the table has no entry for its contents, so it is not a checkpoint"
                )
            for tensor in _parsed(meta, path).meta.tensor:
                self._meta.setdefault(tensor.name, tensor)
                for part in tensor.slice:
                    self._where.setdefault(tensor.name, []).append((table, TensorSlice.from_proto(part), path))

    def names(self) -> list[str]:
        return list(self._meta)

    def has(self, name: str) -> bool:
        return name in self._meta

    def _entry(self, name: str) -> saved_tensor_slice_pb2.SavedSliceMeta:
        if name not in self._meta:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._meta[name]

    def dtype(self, name: str) -> dtypes.DType:
        return dtypes.as_dtype(self._entry(name).type)

    def shape(self, name: str) -> list[int]:
        return [d.size for d in self._entry(name).shape.dim]

    def read(self, name: str) -> np.ndarray:
        """A whole tensor."""
        return self.read_slice(name, TensorSlice.full(len(self._entry(name).shape.dim)))

    def read_mapped(self, name: str) -> np.ndarray:
        """A whole tensor: in this format values are spelled out, so that there is nothing to map."""
        return self.read(name)

    def read_slice(self, name: str, part: TensorSlice) -> np.ndarray:
        """A part of a tensor, put together from the parts that are stored."""
        shape = self.shape(name)
        wanted = part.resolved(shape)
        parts = {}
        for table, held, path in self._where[name]:
            resolved = held.resolved(shape)
            stored = table.get(slice_key(name, held.extents))
            if stored is None:
                raise DataLossError(None, None, f"{path}: a part of {name} is missing: {held.extents}")
            proto = _parsed(stored, path).data.data
            proto.dtype = self._entry(name).type
            proto.ClearField("tensor_shape")
            for _, length in resolved:
                proto.tensor_shape.dim.add(size=length)
            try:
                parts[tuple(resolved)] = array_of(proto)
            except (ValueError, TypeError) as error:
                raise DataLossError(
                    None, None, f"{path}: the part {held.extents} of {name} is damaged: {error}"
                ) from error
        result = assembled(wanted, list(parts.items()), self.dtype(name).as_numpy_dtype)
        if result is None:
            raise NotFoundError(None, None, f"The stored parts of {name} don't cover what was asked for")
        return result


def _parsed(value: bytes, path: str) -> saved_tensor_slice_pb2.SavedTensorSlices:
    try:
        return saved_tensor_slice_pb2.SavedTensorSlices.FromString(bytes(value))
    except DecodeError as e:
        raise DataLossError(None, None, f"{path}: an entry of the table can't be read") from e


def write_old_checkpoint(
    path: str,
    tensors: Iterable[tuple[str, Sequence[int], TensorSlice, np.ndarray, dtypes.DType]],
) -> None:
    """Write a file of the first version: `tensors` are (name, full shape, slice, array, dtype)."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    meta = saved_tensor_slice_pb2.SavedTensorSlices()
    meta.meta.versions.producer = 1
    rows: dict[bytes, bytes] = {}
    by_name: dict = {}
    for name, shape, part, array, dtype in tensors:
        entry = by_name.get(name)
        if entry is None:
            entry = by_name[name] = meta.meta.tensor.add(
                name=name, type=dtype.as_datatype_enum, shape=TensorShape(shape).as_proto()
            )
        entry.slice.append(part.to_proto())
        row = saved_tensor_slice_pb2.SavedTensorSlices()
        row.data.name = name
        row.data.slice.CopyFrom(part.to_proto())
        row.data.data.CopyFrom(_values_only(array, dtype))
        rows[slice_key(name, part.extents)] = row.SerializeToString()
    aside = f"{path}.tempstate{uuid.uuid4().hex}"
    with open(aside, "wb") as file:
        table = TableWriter(file)
        table.add(_META_KEY, meta.SerializeToString())
        for key in sorted(rows):
            table.add(key, rows[key])
        table.finish()
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def _values_only(array: np.ndarray, dtype: dtypes.DType) -> tensor_pb2.TensorProto:
    """A TensorProto with its values one by one, as this format has them, and neither type nor shape."""
    proto = make_tensor_proto(array, dtype)
    if proto.tensor_content:
        spelled = make_tensor_proto(array.reshape(-1)[:1], dtype)
        fields = [f for f, _ in spelled.ListFields() if f.name.endswith("_val")]
        proto.ClearField("tensor_content")
        getattr(proto, fields[0].name).extend(array.ravel().tolist())
    proto.ClearField("dtype")
    proto.ClearField("tensor_shape")
    return proto
