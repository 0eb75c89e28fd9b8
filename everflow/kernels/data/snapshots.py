"""Snapshots of pipelines: their elements in files, under a folder for each pipeline, so that later runs read them.

The files are TensorFlow's: a folder by the pipeline's hash, in it what is known of the snapshot and a folder by run;
records are a length of eight bytes and a message. Only the hash is our own.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.framework.tensor_values import array_of, make_tensor_proto
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset, from_iterable, text
from everflow.kernels.data.origins import Origin
from everflow.kernels.data.rewrites import inputs_first
from everflow.kernels.ragged import RaggedVariant
from everflow.kernels.sparse.serialize import Packed
from everflow.kernels.tensors import Strings, from_numpy, to_numpy
from everflow.protos.attr_value_pb2 import NameAttrList
from everflow.protos.snapshot_pb2 import SnapshotMetadataRecord, SnapshotRecord
from everflow.protos.tensor_pb2 import TensorProto
from everflow.protos.tensor_shape_pb2 import TensorShapeProto

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.graph import Graph

_METADATA = "snapshot.metadata"
_SMALLEST_FILE = 1 << 20
_LENGTH = struct.Struct("<Q")
# What is meant by attributes that are -1.
_FILE_SIZE, _PENDING_SECONDS = 10 << 30, 86400


# --- which pipeline it is --------------------------------------------------------------------


def pipeline_hash(top: Dataset) -> str:
    """The same for pipelines that do the same: ops, settings and functions; names make no difference."""
    found: dict[Dataset, bytes] = {}
    for made in inputs_first(top):
        found[made] = _hash_of(made.origin, found)
    return found[top].hex()[:16]


def _hash_of(origin: Origin | None, found: dict[Dataset, bytes]) -> bytes:
    if origin is None:
        return b""
    digest = hashlib.sha256(origin.op_type.encode())
    for value in origin.values():
        if value in found if hasattr(value, "origin") else False:
            digest.update(found[value])
        elif isinstance(value, np.ndarray):
            digest.update(repr(value.tolist()).encode())
        else:
            digest.update(to_numpy(value).tobytes() if hasattr(value, "numpy") else type(value).__name__.encode())
    for name, value in sorted(origin.attributes.items()):
        if isinstance(value, NameAttrList):
            digest.update(_function_hash(origin.attributes["session"].graph, value.name))
        elif isinstance(value, (bool, int, float, str, bytes)):
            digest.update(f"{name}={value!r}".encode())
    return digest.digest()


def _function_hash(graph: Graph, name: str) -> bytes:
    """Of a function's nodes; its own name, and those of functions in it, are given by chance."""
    function: Any = graph._functions[name]
    digest = hashlib.sha256()
    for node in sorted(function.definition.node_def, key=lambda node: node.name):
        digest.update(f"{node.name} {node.op} {list(node.input)}".encode())
        for key in sorted(node.attr):
            value = node.attr[key]
            if value.HasField("func"):
                digest.update(_function_hash(graph, value.func.name))
            else:
                digest.update(value.SerializeToString(deterministic=True))
    digest.update(repr(sorted(function.definition.ret.items())).encode())
    return digest.digest()


# --- files -----------------------------------------------------------------------------------


def _records(file: BinaryIO) -> Iterator[bytes]:
    while head := file.read(_LENGTH.size):
        yield file.read(_LENGTH.unpack(head)[0])


def _opened(name: str, mode: str, compression: str) -> Any:
    return gzip.open(name, mode) if compression else open(name, mode)


class _Writer:
    """The files of a run: elements go to each in turn; one that is large enough is followed by another."""

    def __init__(self, folder: str, compression: str, largest: int, count: int) -> None:
        os.makedirs(folder, exist_ok=True)
        self._folder, self._compression, self._largest = folder, compression, largest
        self._made = 0
        self._files = [self._another() for _ in range(count)]
        self._sizes = [0] * count
        self._turn = 0

    def _another(self) -> Any:
        name = os.path.join(self._folder, f"{self._made:08d}.snapshot")
        self._made += 1
        return _opened(name, "wb", self._compression)

    def write(self, element: Element, output_types: list[DType]) -> None:
        values = zip(element, output_types, strict=True)
        tensors = [_proto(value, dtype) for value, dtype in values]
        record = SnapshotRecord(tensor=tensors).SerializeToString()
        turn = self._turn
        self._turn = (turn + 1) % len(self._files)
        if self._sizes[turn] > self._largest:
            self._files[turn].close()
            self._files[turn], self._sizes[turn] = self._another(), 0
        self._files[turn].write(_LENGTH.pack(len(record)) + record)
        self._sizes[turn] += len(record)

    def close(self) -> None:
        for file in self._files:
            file.close()


class _Snapshot:
    """A pipeline's folder."""

    def __init__(self, folder: str, name: str, pending_seconds: int) -> None:
        self._folder, self._name, self._pending_seconds = folder, name, pending_seconds

    def known(self) -> SnapshotMetadataRecord | None:
        """What is known of the snapshot, if there is one."""
        try:
            with open(os.path.join(self._folder, _METADATA), "rb") as file:
                return SnapshotMetadataRecord.FromString(next(_records(file)))
        except (FileNotFoundError, StopIteration):
            return None

    def is_pending(self, known: SnapshotMetadataRecord) -> bool:
        """Whether another run may still be writing it."""
        return known.creation_timestamp * 1e-6 + self._pending_seconds >= time.time()

    def begin(self) -> str:
        """A run that writes it; returns the run's name."""
        os.makedirs(self._folder, exist_ok=True)
        run = secrets.token_hex(8)
        self._note(run, False)
        return run

    def finish(self, run: str) -> None:
        """A run came to the end; where another one has taken its place since, that one's goes on."""
        known = self.known()
        if known is not None and known.run_id == run:
            self._note(run, True)

    def _note(self, run: str, finalized: bool) -> None:
        record = SnapshotMetadataRecord(
            graph_hash=self._name, run_id=run, creation_timestamp=int(time.time() * 1e6), finalized=finalized
        ).SerializeToString()
        name = os.path.join(self._folder, _METADATA)
        with open(name + ".new", "wb") as file:
            file.write(_LENGTH.pack(len(record)) + record)
        os.replace(name + ".new", name)


# --- the dataset -----------------------------------------------------------------------------


def _reading(folder: str, compression: str) -> Iterator[Element]:
    for name in sorted(os.listdir(folder)):
        with _opened(os.path.join(folder, name), "rb", compression) as file:
            for record in _records(file):
                yield tuple(map(_value, SnapshotRecord.FromString(record).tensor))


# The kinds of variants that can be written: a tensor, such as a part of a sparse one; a ragged tensor.
_TENSOR, _RAGGED = "tensorflow::Tensor", "RaggedTensor"


def _proto(value: Any, dtype: DType) -> TensorProto:
    """A component of an element, as it is written."""
    if dtype is not dtypes.variant:
        return make_tensor_proto(value if dtype is dtypes.string else to_numpy(value, dtype), dtype)
    made = TensorProto(dtype=dtype.as_datatype_enum)
    made.tensor_shape.dim.extend(TensorShapeProto.Dim(size=size) for size in getattr(value, "shape", ()))
    for variant in value.flat if isinstance(value, np.ndarray) else [value]:
        held = made.variant_val.add(type_name=_TENSOR)
        if isinstance(variant, Packed):
            held.tensors.append(_proto(variant.value, variant.dtype))
        elif isinstance(variant, RaggedVariant):
            held.type_name = _RAGGED
            parts = [*variant.splits, variant.values]
            held.tensors.extend(make_tensor_proto(p if isinstance(p, np.ndarray) else to_numpy(p)) for p in parts)
        else:
            problem = f"A snapshot can have tensors, dense, sparse or ragged, but no {type(variant).__name__}"
            raise UnimplementedError(None, None, problem)
    return made


def _value(proto: TensorProto) -> Any:
    if proto.dtype != dtypes.variant.as_datatype_enum:
        array = array_of(proto)
        return array.astype(object) if array.dtype.kind in "OSU" else from_numpy(array)
    made = np.empty([dim.size for dim in proto.tensor_shape.dim], object)
    for at, variant in zip(np.ndindex(made.shape), proto.variant_val):
        parts = [_value(tensor) for tensor in variant.tensors]
        if variant.type_name == _RAGGED:
            made[at] = RaggedVariant(parts[:-1], parts[-1])
        else:
            made[at] = Packed(parts[0], dtypes.as_dtype(variant.tensors[0].dtype))
    return made


def _writing(following: Following, writer: _Writer, output_types: list[DType], finish: Callable[[], None]) -> Following:
    """The same elements, written; `finish()` is called at the end."""
    is_over = False

    def written() -> Element:
        nonlocal is_over
        if is_over:
            raise End
        try:
            element = following()
        except End:
            is_over = True
            writer.close()
            finish()
            raise
        writer.write(element, output_types)
        return element

    return written


@dataset("SnapshotDataset")
def snapshot_dataset(
    input_dataset: Dataset,
    path: Strings,
    *,
    output_types: list[DType],
    compression: str,
    reader_path_prefix: str,
    writer_path_prefix: str,
    shard_size_bytes: int,
    pending_snapshot_expiry_seconds: int,
    num_writer_threads: int,
) -> Dataset:
    if compression not in ("", "GZIP"):
        raise InvalidArgumentError(None, None, f"compression is '' or 'GZIP', not {compression!r}")
    largest = _FILE_SIZE if shard_size_bytes == -1 else shard_size_bytes
    if largest < _SMALLEST_FILE:
        raise InvalidArgumentError(None, None, f"shard_size_bytes must be at least {_SMALLEST_FILE:,}, not {largest:,}")
    pending = _PENDING_SECONDS if pending_snapshot_expiry_seconds == -1 else pending_snapshot_expiry_seconds
    name = pipeline_hash(input_dataset)
    folder = os.path.join(text(path), name)
    snapshot = _Snapshot(writer_path_prefix + folder, name, pending)

    def begin(iteration: Iteration) -> Following:
        known = snapshot.known()
        if known is not None and known.finalized:
            written = os.path.join(reader_path_prefix + folder, known.run_id)
            return from_iterable(lambda: _reading(written, compression)).start(iteration)
        following = input_dataset.start(iteration)
        if known is not None and snapshot.is_pending(known):
            return following
        run = snapshot.begin()
        there = os.path.join(writer_path_prefix + folder, run)
        writer = _Writer(there, compression, largest, max(1, num_writer_threads))
        return _writing(following, writer, output_types, lambda: snapshot.finish(run))

    def start(iteration: Iteration) -> Following:
        following: Following | None = None

        def element() -> Element:
            nonlocal following
            if following is None:  # until one is asked for, others may begin to write, or end
                following = begin(iteration)
            return following()

        return element

    return Dataset(start, input_dataset.cardinality)
