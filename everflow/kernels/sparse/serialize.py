"""Kernels that turn sparse tensors into strings, variants or handles, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.formats import varints
from everflow.framework import dtypes
from everflow.framework.errors import DataLossError
from everflow.framework.tensor_values import make_ndarray
from everflow.kernels.array.basic import bracketed, copied, dims_of, invalid, is_text
from everflow.kernels.facts import same
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.sparse.functions import pick
from everflow.kernels.tensors import AnyTensor, SparseParts, Strings, Value, from_numpy, to_numpy
from everflow.protos import tensor_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session


def _to_bytes(value: AnyTensor, dtype: DType) -> bytes:
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum)
    for d in value.shape:
        proto.tensor_shape.dim.add().size = d
    proto.tensor_content = (
        varints.encode_strings(value.reshape(-1).tolist())
        if is_text(value)
        else np.ascontiguousarray(to_numpy(value)).tobytes()
    )
    return proto.SerializeToString()


def _from_bytes(data: bytes) -> tuple[AnyTensor, DType]:
    """(value, dtype) of a serialized TensorProto."""
    proto = tensor_pb2.TensorProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        raise invalid("Could not parse serialized TensorProto") from None
    dtype = dtypes.as_dtype(proto.dtype)
    if dtype is dtypes.string and proto.tensor_content:
        dims = [d.size for d in proto.tensor_shape.dim]
        try:
            strings = varints.decode_strings(proto.tensor_content, int(np.prod(dims)))
        except DataLossError as e:
            raise invalid(f"Could not parse serialized string tensor: {e.message}") from None
        return np.array(strings, object).reshape(dims), dtype
    return from_numpy(make_ndarray(proto)), dtype


class Packed:
    """A variant that holds a tensor."""

    __slots__ = ("value", "dtype")

    def __init__(self, value: AnyTensor, dtype: DType) -> None:
        self.value, self.dtype = value, dtype


def _encode(parts: SparseParts, T: DType, out_type: DType) -> list[bytes | Packed]:
    kinds = (dtypes.int64, T, dtypes.int64)
    if out_type is dtypes.variant:
        return [Packed(value, kind) for value, kind in zip(parts, kinds, strict=True)]
    return [_to_bytes(value, kind) for value, kind in zip(parts, kinds, strict=True)]


def _decode(cell: bytes | Packed) -> tuple[Value, DType]:
    return (cell.value, cell.dtype) if isinstance(cell, Packed) else _from_bytes(cell)


def _rows(indices: torch.Tensor, values: AnyTensor, shape: torch.Tensor) -> Iterator[SparseParts]:
    """The sparse tensors of rank one less that a sparse tensor's rows are."""
    dims = dims_of(shape)
    if len(dims) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(dims)}")
    owners = indices[:, 0]
    bad = ((owners < 0) | (owners >= dims[0])).nonzero()
    if bad.numel():
        raise invalid(f"Received unexpected batch index {owners[bad[0]].item()} where the first dimension is {dims[0]}")
    for row in range(dims[0]):
        mine = (owners == row).nonzero().squeeze(1)
        yield indices[mine, 1:], pick(values, mine), torch.tensor(dims[1:], dtype=torch.int64)


@kernel("SerializeSparse", result=same())
def serialize_sparse(
    sparse_indices: torch.Tensor, sparse_values: AnyTensor, sparse_shape: torch.Tensor, *, T: DType, out_type: DType
) -> Strings:
    out = np.empty(3, object)
    out[:] = _encode((sparse_indices, sparse_values, sparse_shape), T, out_type)
    return out


@kernel("SerializeManySparse", result=same())
def serialize_many_sparse(
    sparse_indices: torch.Tensor, sparse_values: AnyTensor, sparse_shape: torch.Tensor, *, T: DType, out_type: DType
) -> Strings:
    rows = [_encode(parts, T, out_type) for parts in _rows(sparse_indices, sparse_values, sparse_shape)]
    out = np.empty((len(rows), 3), object)
    for i, j in itertools.product(range(len(rows)), range(3)):
        out[i, j] = rows[i][j]
    return out


def _stacked(parts: list[SparseParts], lead: tuple[int, ...]) -> SparseParts:
    """One sparse tensor of several, along new leading axes of dims `lead`."""
    ranks = {shape.numel() for _, _, shape in parts}
    if len(ranks) > 1:
        raise invalid(f"Inconsistent rank across SparseTensors: {sorted(ranks)}")
    rank = ranks.pop() if ranks else 0
    widest = [max(int(shape[i]) for _, _, shape in parts) for i in range(rank)]
    indices = []
    for place, (index, _, _) in zip(np.ndindex(*lead), parts, strict=True):
        indices.append(torch.cat([torch.tensor(place, dtype=torch.int64).expand(index.shape[0], -1), index], 1))
    values: list[Value] = [v for _, v, _ in parts]
    joined = np.concatenate(values) if values and is_text(values[0]) else torch.cat(values)
    return torch.cat(indices), joined, torch.tensor([*lead, *widest], dtype=torch.int64)


def _deserialized(serialized: Strings, dtype: DType) -> tuple[list[SparseParts], tuple[int, ...]]:
    if serialized.ndim < 1 or serialized.shape[-1] != 3:
        raise invalid(
            f"Serialized sparse should have 3 as the last dimension but received shape: {bracketed(serialized.shape)}"
        )
    lead = serialized.shape[:-1]
    parts: list[SparseParts] = []
    for i, cells in enumerate(serialized.reshape(-1, 3)):
        (indices, kind), (values, held), (shape, _) = (_decode(c) for c in cells)
        if kind is not dtypes.int64 or indices.ndim != 2:
            raise invalid(
                f"Expected serialized_sparse[{i}, 0] to represent an index matrix but received shape {bracketed(indices.shape)}"
            )
        if held != dtype:
            name = {"float32": "float", "float64": "double"}
            raise invalid(
                f"Requested SparseTensor of type {name.get(dtype.name, dtype.name)} but SparseTensor[{i}].values.dtype() == "
                f"{name.get(held.name, held.name)}"
            )
        if values.ndim != 1 or values.shape[0] != indices.shape[0] or shape.shape[0] != indices.shape[1]:
            raise invalid(
                f"Sparse tensor {i} has inconsistent parts: {bracketed(indices.shape)}, {bracketed(values.shape)}, {bracketed(shape.shape)}"
            )
        parts.append((indices, values, shape))
    return parts, lead


@kernel("DeserializeSparse", result=same())
def deserialize_sparse(serialized_sparse: Strings, *, dtype: DType) -> SparseParts:
    parts, lead = _deserialized(serialized_sparse, dtype)
    return _stacked(parts, lead) if lead else parts[0]


@kernel("DeserializeManySparse", result=same())
def deserialize_many_sparse(serialized_sparse: Strings, *, dtype: DType) -> SparseParts:
    if serialized_sparse.ndim != 2:
        raise invalid(f"Serialized sparse should be a matrix but received shape: {bracketed(serialized_sparse.shape)}")
    parts, lead = _deserialized(serialized_sparse, dtype)
    return _stacked(parts, lead)


# Handles: a map kept by the session.


class _TensorsMap:
    """Sparse tensors by the numbers they were stored under; taking one removes it."""

    def __init__(self) -> None:
        self._held: dict[int, SparseParts] = {}
        self._next = itertools.count()

    def add(self, parts: SparseParts) -> int:
        number = next(self._next)
        self._held[number] = parts
        return number

    def take(self, number: int) -> SparseParts:
        if number not in self._held:
            raise invalid(f"Unable to find SparseTensor: {number} in map")
        return self._held.pop(number)


def _map_of(session: Session, container: str, shared_name: str, node: Node) -> _TensorsMap:
    return session.resources.lookup_or_create(container, "sparse_tensors_map", shared_name or node.name, _TensorsMap)


@fresh("AddSparseToTensorsMap")
def add_sparse_to_tensors_map(
    sparse_indices: torch.Tensor,
    sparse_values: AnyTensor,
    sparse_shape: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> torch.Tensor:
    number = _map_of(session, container, shared_name, node).add(
        (copied(sparse_indices), copied(sparse_values), copied(sparse_shape))
    )
    return torch.tensor(number, dtype=torch.int64)


@fresh("AddManySparseToTensorsMap")
def add_many_sparse_to_tensors_map(
    sparse_indices: torch.Tensor,
    sparse_values: AnyTensor,
    sparse_shape: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> torch.Tensor:
    held = _map_of(session, container, shared_name, node)
    return torch.tensor(
        [held.add((copied(i), copied(v), copied(s))) for i, v, s in _rows(sparse_indices, sparse_values, sparse_shape)],
        dtype=torch.int64,
    )


@fresh("TakeManySparseFromTensorsMap")
def take_many_sparse_from_tensors_map(
    sparse_handles: torch.Tensor, *, dtype: DType, container: str, shared_name: str, node: Node, session: Session
) -> SparseParts:
    held = _map_of(session, container, shared_name, node)
    parts = [held.take(number) for number in sparse_handles.tolist()]
    return _stacked(parts, (len(parts),))
