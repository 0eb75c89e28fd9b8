"""Checkpoints of the second version: tensors as raw bytes in data files, and a table that says where each one is.

`PREFIX.data-00000-of-00001` holds the bytes, `PREFIX.index` the table. A bundle is written aside and renamed when it is
complete, so that at every moment what is there can be read; `publish` says how.
"""

from __future__ import annotations

import glob
import mmap
import os
import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import numpy as np
from google.protobuf.message import DecodeError, Message

from everflow.formats import varints
from everflow.formats.checksums import crc32c, mask
from everflow.formats.ordered_code import slice_key
from everflow.formats.slices import TensorSlice, assembled, overlaps
from everflow.formats.table import TableReader, TableWriter
from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from everflow.framework.shapes import TensorShape
from everflow.platform.progress import Work
from everflow.protos import tensor_bundle_pb2

_Proto = TypeVar("_Proto", bound=Message)

_HEADER_KEY = b""
_CHUNK = 1 << 22


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The file of one shard of tensors."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def index_name(prefix: str) -> str:
    """The file that tells where each tensor is."""
    return f"{prefix}.index"


def _plain(array: np.ndarray) -> np.ndarray:
    """An array's elements as they lie in a file: contiguous, little end first."""
    array = np.ascontiguousarray(array)
    return array.astype(array.dtype.newbyteorder("<")) if array.dtype.byteorder == ">" else array


def _bytes_of(array: np.ndarray) -> memoryview:
    """The memory of a contiguous array."""
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat) if array.size else memoryview(b"")


class BundleWriter:
    """Writes a checkpoint of one data file; `finish` makes it visible, all at once."""

    def __init__(self, prefix: str, work: Work | None = None) -> None:
        self._prefix = prefix
        self._work = work or Work(f"Writing {os.path.basename(prefix)}", unit="bytes")
        self._entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
        self._offset = 0
        folder = os.path.dirname(prefix)
        if folder:
            os.makedirs(folder, exist_ok=True)
        self._aside = _aside(prefix)
        self._data = open(self._aside + ".partial", "wb")

    def add(self, name: str, array: np.ndarray, dtype: dtypes.DType | None = None) -> None:
        """Append a whole tensor."""
        self._append(name.encode(), array, dtype)

    def add_slice(
        self,
        name: str,
        shape: Sequence[int],
        part: TensorSlice,
        array: np.ndarray,
        dtype: dtypes.DType | None = None,
    ) -> None:
        """Append a part of a tensor whose full shape is given."""
        if part.is_full and tuple(shape) == array.shape:
            self.add(name, array, dtype)
            return
        dtype = dtype or dtypes.as_dtype(array.dtype)
        entry = self._entries.get(name.encode())
        if entry is None:
            entry = self._entries[name.encode()] = tensor_bundle_pb2.BundleEntryProto(
                dtype=dtype.as_datatype_enum, shape=TensorShape(shape).as_proto()
            )
        resolved = TensorSlice(part.resolved(shape))
        entry.slices.append(resolved.to_proto())
        self._append(slice_key(name, resolved.extents), array, dtype)

    def _append(self, key: bytes, array: np.ndarray, dtype: dtypes.DType | None) -> None:
        if not key:
            raise InvalidArgumentError(None, None, "A tensor in a checkpoint must have a name")
        if key in self._entries:
            raise InvalidArgumentError(None, None, f"Adding duplicate key: {key.decode(errors='replace')}")
        dtype = dtype or dtypes.as_dtype(array.dtype)
        if dtype in (dtypes.string, dtypes.variant):  # a variant that can be saved comes as its bytes
            size, crc = self._write_strings(array)
        elif dtype.is_numpy_compatible:
            view = _bytes_of(_plain(array))
            crc = 0
            for position in range(0, len(view), _CHUNK):
                piece = view[position : position + _CHUNK]
                crc = crc32c(piece, crc)
                self._data.write(piece)
                self._work.advance(len(piece))
            size = len(view)
        else:
            raise UnimplementedError(
                None, None, f"A {dtype.name} tensor can't be saved ({key.decode(errors='replace')})"
            )
        self._entries[key] = tensor_bundle_pb2.BundleEntryProto(
            dtype=dtype.as_datatype_enum,
            shape=TensorShape(array.shape).as_proto(),
            offset=self._offset,
            size=size,
            crc32c=mask(crc),
        )
        self._offset += size

    def _write_strings(self, array: np.ndarray) -> tuple[int, int]:
        """Lengths, their checksum, then the strings."""
        values = array.ravel().tolist()
        lengths = b"".join(varints.encode(len(v)) for v in values)
        crc = 0
        for value in values:
            crc = crc32c(struct.pack("<I" if len(value) < 1 << 32 else "<Q", len(value)), crc)
        checksum = struct.pack("<I", mask(crc))
        crc = crc32c(checksum, crc)
        body = b"".join(values)
        self._data.write(lengths + checksum + body)
        return len(lengths) + 4 + len(body), crc32c(body, crc)

    def finish(self) -> None:
        """Complete the files, have them on disk, and give them their names."""
        _sync_close(self._data)
        header = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
        header.version.producer = 1
        write_index(index_name(self._aside), header, self._entries)
        publish(self._prefix, self._aside, [self._aside + ".partial"])

    def abandon(self) -> None:
        """Drop what was written."""
        self._data.close()
        for end in (".partial", ".index"):
            if os.path.exists(self._aside + end):
                os.remove(self._aside + end)


def _aside(prefix: str) -> str:
    return f"{prefix}.tempstate{uuid.uuid4().hex}"


def publish(prefix: str, aside: str, data: list[str]) -> None:
    """Give the complete files of a bundle their names, so that a process killed in between leaves the old bundle or the
    new.

    Renaming `aside.index` is the moment at which the new bundle is there. Its data files have moved to `aside.data-*`
    before, and get their own names after: whoever finds `aside.data-*` without `aside.index` knows that they are the
    ones in use.
    """
    complete_publishing(prefix)
    for shard, path in enumerate(data):
        os.replace(path, data_name(aside, shard, len(data)))
    os.replace(index_name(aside), index_name(prefix))
    complete_publishing(prefix)
    _sync_folder(prefix)


def complete_publishing(prefix: str) -> None:
    """Finish the renaming that a killed process may have left."""
    for path, name in _moving(prefix).items():
        os.replace(name, path)


def _moving(prefix: str) -> dict[str, str]:
    """{data file of a bundle: where it is until its renaming} for a bundle that is published and not yet renamed in
    full.
    """
    found = {}
    for name in glob.glob(glob.escape(prefix) + ".tempstate*.data-?????-of-?????"):
        aside, _, shard = name.rpartition(".data-")
        if not os.path.exists(index_name(aside)):
            found[f"{prefix}.data-{shard}"] = name
    return found


def write_index(
    path: str, header: tensor_bundle_pb2.BundleHeaderProto, entries: Mapping[bytes, tensor_bundle_pb2.BundleEntryProto]
) -> None:
    """Write the table of a bundle and have it on disk."""
    file = open(path, "wb")
    table = TableWriter(file)
    table.add(_HEADER_KEY, header.SerializeToString())
    for key in sorted(entries):
        table.add(key, entries[key].SerializeToString())
    table.finish()
    _sync_close(file)


def _sync_close(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def _sync_folder(path: str) -> None:
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class BundleReader:
    """A checkpoint of the second version: names, types and shapes at once, tensors when asked for."""

    work: Work | None = None  # is told of bytes that are read

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        try:
            with open(index_name(prefix), "rb") as file:
                data = file.read()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(
                None,
                None,
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}",
            ) from None
        self._entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
        self._files: dict[int, mmap.mmap | bytes] = {}
        header = None
        for key, value in TableReader(data, index_name(prefix)):
            if key == _HEADER_KEY:
                header = self._parsed(tensor_bundle_pb2.BundleHeaderProto, value, "header")
            else:
                self._entries[bytes(key)] = self._parsed(tensor_bundle_pb2.BundleEntryProto, value, key)
        if header is None:
            raise DataLossError(None, None, f"{index_name(prefix)}: the table has no header, so it is not a checkpoint")
        if header.endianness != tensor_bundle_pb2.BundleHeaderProto.LITTLE:
            raise UnimplementedError(
                None, None, f"{index_name(prefix)}: the checkpoint was written on a machine of the other byte order"
            )
        self._shards = header.num_shards
        # Parts of partitioned tensors have keys of their own, that begin with a zero.
        self._names = [k.decode() for k in self._entries if not k.startswith(b"\x00")]

    def _parsed(self, kind: type[_Proto], value: bytes, what: str | bytes) -> _Proto:
        try:
            return kind.FromString(value)
        except DecodeError as e:
            raise DataLossError(None, None, f"{index_name(self._prefix)}: the entry {what!r} can't be read") from e

    def names(self) -> list[str]:
        return list(self._names)

    def has(self, name: str) -> bool:
        return name.encode() in self._entries

    def _entry(self, name: str) -> tensor_bundle_pb2.BundleEntryProto:
        entry = self._entries.get(name.encode())
        if entry is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self._prefix}")
        return entry

    def dtype(self, name: str) -> dtypes.DType:
        return dtypes.as_dtype(self._entry(name).dtype)

    def shape(self, name: str) -> list[int]:
        return [d.size for d in self._entry(name).shape.dim]

    def size(self, name: str) -> int:
        """How many bytes a tensor takes in the file; 0 for one that is stored in parts."""
        return self._entry(name).size

    def slices(self, name: str) -> list[TensorSlice]:
        """The parts a partitioned tensor is stored in; empty for one stored whole."""
        return [TensorSlice.from_proto(p) for p in self._entry(name).slices]

    def read(self, name: str) -> np.ndarray:
        """A whole tensor."""
        entry = self._entry(name)
        if entry.slices:
            return self.read_slice(name, TensorSlice.full(len(entry.shape.dim)))
        return self._load(entry, name)

    def read_mapped(self, name: str) -> np.ndarray:
        """A whole tensor, large ones as a view of the file: it takes no memory of its own, and is there as long as the
        array is.
        """
        entry = self._entry(name)
        if entry.slices or entry.size < _CHUNK:
            return self.read(name)
        return self._load(entry, name, mapped=True)

    def read_slice(self, name: str, part: TensorSlice) -> np.ndarray:
        """A part of a tensor, put together from the parts that are stored."""
        entry = self._entry(name)
        shape = self.shape(name)
        wanted = part.resolved(shape)
        if not entry.slices:
            whole = self._load(entry, name, mapped=True)
            return whole[tuple(slice(start, start + length) for start, length in wanted)]
        parts = {}
        for proto in entry.slices:
            held = TensorSlice(TensorSlice.from_proto(proto).resolved(shape))
            stored = self._entries.get(slice_key(name, held.extents))
            if stored is None:
                raise DataLossError(
                    None, None, f"{index_name(self._prefix)}: a part of {name} is missing: {held.extents}"
                )
            if overlaps(wanted, held.extents):
                array = self._load(stored, name, mapped=True)
                if list(array.shape) != [length for _, length in held.extents]:
                    raise DataLossError(
                        None,
                        None,
                        f"{index_name(self._prefix)}: the part {held.extents} of {name} has shape {array.shape}",
                    )
                parts[tuple(held.extents)] = array
        result = assembled(wanted, list(parts.items()), self.dtype(name).as_numpy_dtype)
        if result is None:
            raise NotFoundError(
                None, None, f"{self._prefix}: the stored parts of {name} don't cover what was asked for"
            )
        return result

    def _file(self, shard: int) -> mmap.mmap | bytes:
        if shard not in self._files:
            path = data_name(self._prefix, shard, self._shards)
            path = _moving(self._prefix).get(path, path)
            try:
                with open(path, "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    # A private mapping: what `read_mapped` gives may be written to, and the file stays as it is.
                    self._files[shard] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else b""
            except FileNotFoundError:
                raise DataLossError(None, None, f"{path} is missing, a part of the checkpoint {self._prefix}") from None
        return self._files[shard]

    def _load(self, entry: tensor_bundle_pb2.BundleEntryProto, name: str, mapped: bool = False) -> np.ndarray:
        data = self._file(entry.shard_id)
        path = data_name(self._prefix, entry.shard_id, self._shards)
        dtype = dtypes.as_dtype(entry.dtype)
        shape = [d.size for d in entry.shape.dim]
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > len(data):
            raise DataLossError(
                None,
                None,
                f"{path}: tensor {name} lies at bytes {entry.offset} to {entry.offset + entry.size} of a file with {len(data)}",
            )
        raw = memoryview(data)[entry.offset : entry.offset + entry.size]
        if dtype in (dtypes.string, dtypes.variant):
            return self._load_strings(bytes(raw), entry, shape, name, path)
        numpy_dtype = np.dtype(dtype.as_numpy_dtype)
        if any(s < 0 for s in shape) or int(np.prod(shape, dtype=object)) * numpy_dtype.itemsize != entry.size:
            raise DataLossError(
                None,
                None,
                f"{path}: tensor {name} of shape {shape} and type {dtype.name} can't have {entry.size} bytes",
            )
        if mapped and entry.size and entry.offset % numpy_dtype.itemsize == 0:
            array, target = np.frombuffer(raw, numpy_dtype).reshape(shape), None
        else:
            array = np.empty(shape, numpy_dtype)
            target = _bytes_of(array)
        crc = 0
        for position in range(0, entry.size, _CHUNK):
            piece = raw[position : position + _CHUNK]
            crc = crc32c(piece, crc)
            if target is not None:
                target[position : position + len(piece)] = piece
            if self.work is not None:
                self.work.advance(len(piece))
        self._check(crc, entry, name, path)
        return array

    def _check(self, crc: int, entry: tensor_bundle_pb2.BundleEntryProto, name: str, path: str) -> None:
        if mask(crc) != entry.crc32c:
            raise DataLossError(None, None, f"{path}: checksum of tensor {name} does not match: the file is damaged")

    def _load_strings(
        self,
        raw: bytes,
        entry: tensor_bundle_pb2.BundleEntryProto,
        shape: list[int],
        name: str,
        path: str,
    ) -> np.ndarray:
        count = int(np.prod(shape, dtype=object))
        if count > len(raw) or any(s < 0 for s in shape):
            raise DataLossError(None, None, f"{path}: tensor {name} can't hold {count} strings in {len(raw)} bytes")
        lengths, position, crc = [], 0, 0
        for _ in range(count):
            length, position = varints.decode(raw, position)
            lengths.append(length)
            crc = crc32c(struct.pack("<I" if length < 1 << 32 else "<Q", length), crc)
        checksum = raw[position : position + 4]
        if checksum != struct.pack("<I", mask(crc)):
            raise DataLossError(None, None, f"{path}: checksum of the string lengths of tensor {name} does not match")
        position += 4
        self._check(crc32c(raw[position:], crc32c(checksum, crc)), entry, name, path)
        if sum(lengths) != len(raw) - position:
            raise DataLossError(None, None, f"{path}: the strings of tensor {name} don't fill its bytes")
        values = np.empty(count, dtype=object)
        for i, length in enumerate(lengths):
            values[i] = raw[position : position + length]
            position += length
        return values.reshape(shape)


def merge_bundles(prefixes: list[str], target: str) -> None:
    """Make one bundle of several by renaming their data files and merging their tables."""
    shards: list[str] = []
    entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
    for prefix in prefixes:
        reader = BundleReader(prefix)
        first = len(shards)
        shards += [data_name(prefix, i, reader._shards) for i in range(reader._shards)]
        for key, entry in reader._entries.items():
            known = entries.get(key)
            if known is not None:
                if not (known.slices and entry.slices):
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"Tensor {key.decode(errors='replace')} is in more than one of the checkpoints to be merged",
                    )
                known.slices.extend(entry.slices)
                continue
            moved = tensor_bundle_pb2.BundleEntryProto()
            moved.CopyFrom(entry)
            moved.shard_id = first + entry.shard_id
            entries[key] = moved
    folder = os.path.dirname(target)
    if folder:
        os.makedirs(folder, exist_ok=True)
    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=len(shards))
    header.version.producer = 1
    aside = _aside(target)
    write_index(index_name(aside), header, entries)
    publish(target, aside, shards)
    for prefix in prefixes:
        if prefix != target and os.path.exists(index_name(prefix)):
            os.remove(index_name(prefix))
