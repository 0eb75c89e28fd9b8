"""Sorted tables: files of keys and values in order, in checksummed blocks. Checkpoints are made of them.

A block holds entries whose keys share prefixes with their predecessors; an index block at the end says where blocks
lie.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import cramjam

from everflow.formats import varints
from everflow.formats.checksums import crc32c, mask
from everflow.framework.errors import DataLossError

if TYPE_CHECKING:
    import mmap

_MAGIC = 0xDB4775248B80FB57
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5
_NO_COMPRESSION, _SNAPPY = 0, 1
_RESTART_INTERVAL = 16
# A block that claims to be larger is not read.
_MAX_BLOCK = 1 << 31


class _BlockBuilder:
    def __init__(self) -> None:
        self.buffer = bytearray()
        self.restarts = [0]
        self.count = 0
        self.last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count < _RESTART_INTERVAL:
            limit = min(len(key), len(self.last_key))
            while shared < limit and key[shared] == self.last_key[shared]:
                shared += 1
        else:
            self.restarts.append(len(self.buffer))
            self.count = 0
        rest = key[shared:]
        self.buffer += varints.encode(shared) + varints.encode(len(rest)) + varints.encode(len(value)) + rest + value
        self.last_key = key
        self.count += 1

    def finish(self) -> bytes:
        return (
            bytes(self.buffer)
            + b"".join(struct.pack("<I", r) for r in self.restarts)
            + struct.pack("<I", len(self.restarts))
        )


class TableWriter:
    """Writes a table to a binary file; keys must come in ascending order."""

    def __init__(self, file: BinaryIO, block_size: int = 262144) -> None:
        self._file = file
        self._offset = 0
        self._block_size = block_size
        self._data, self._index = _BlockBuilder(), _BlockBuilder()
        self._last_key: bytes | None = None

    def add(self, key: bytes, value: bytes) -> None:
        if self._last_key is not None and key <= self._last_key:
            raise ValueError(f"Keys of a table must ascend: {key!r} comes after {self._last_key!r}")
        self._data.add(key, value)
        self._last_key = key
        if len(self._data.buffer) >= self._block_size:
            self._flush()

    def finish(self) -> None:
        """Write the index and the footer; the file itself stays open."""
        self._flush()
        meta = self._write(_BlockBuilder().finish())
        index = self._write(self._index.finish())
        handles = meta + index
        self._file.write(handles.ljust(_FOOTER_SIZE - 8, b"\0") + struct.pack("<Q", _MAGIC))

    def _flush(self) -> None:
        if self._data.buffer:
            self._index.add(self._data.last_key, self._write(self._data.finish()))
            self._data = _BlockBuilder()

    def _write(self, block: bytes) -> bytes:
        """Write a block with its trailer; returns its handle."""
        kind = bytes([_NO_COMPRESSION])
        checksum = mask(crc32c(kind, crc32c(block)))
        self._file.write(block + kind + struct.pack("<I", checksum))
        handle = varints.encode(self._offset) + varints.encode(len(block))
        self._offset += len(block) + _TRAILER_SIZE
        return handle


class TableReader:
    """A table in memory (bytes or a memory map): look-ups by key and reading in order."""

    def __init__(self, data: bytes | mmap.mmap, name: str = "table") -> None:
        self._data = data
        self._name = name
        if len(data) < _FOOTER_SIZE:
            raise self._corrupt(f"it has {len(data)} bytes, fewer than a footer takes")
        footer = bytes(data[len(data) - _FOOTER_SIZE :])
        if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
            raise self._corrupt("not an sstable (bad magic number)")
        _, _, position = self._handle(footer, 0)
        offset, size, _ = self._handle(footer, position)
        index = list(self._entries(offset, size))
        self._last_keys = [key for key, _ in index]
        self._handles = [self._handle(value, 0)[:2] for _, value in index]

    def _corrupt(self, what: str) -> DataLossError:
        return DataLossError(None, None, f"{self._name}: {what}")

    def _handle(self, data: bytes, position: int) -> tuple[int, int, int]:
        offset, position = varints.decode(data, position)
        size, position = varints.decode(data, position)
        return offset, size, position

    def _entries(self, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        block = self._block(offset, size)
        if len(block) < 4:
            raise self._corrupt(f"the block at byte {offset} is too short")
        restarts = struct.unpack("<I", block[-4:])[0]
        end = len(block) - 4 - 4 * restarts
        if end < 0:
            raise self._corrupt(f"the block at byte {offset} claims {restarts} restarts")
        position, key = 0, b""
        while position < end:
            shared, position = varints.decode(block, position)
            rest, position = varints.decode(block, position)
            length, position = varints.decode(block, position)
            if shared > len(key) or position + rest + length > end:
                raise self._corrupt(f"the block at byte {offset} has an entry that reaches beyond it")
            key = key[:shared] + block[position : position + rest]
            position += rest
            yield key, block[position : position + length]
            position += length

    def _block(self, offset: int, size: int) -> bytes:
        if size > _MAX_BLOCK or offset + size + _TRAILER_SIZE > len(self._data):
            raise self._corrupt(
                f"a block of {size} bytes at byte {offset} reaches beyond the file's {len(self._data)} bytes"
            )
        raw = bytes(self._data[offset : offset + size + _TRAILER_SIZE])
        block, kind, stored = raw[:size], raw[size], struct.unpack("<I", raw[size + 1 :])[0]
        if mask(crc32c(raw[: size + 1])) != stored:
            raise self._corrupt(f"block checksum mismatch at byte {offset}")
        if kind == _NO_COMPRESSION:
            return block
        if kind == _SNAPPY:
            try:
                return bytes(cramjam.snappy.decompress_raw(block))
            except Exception as e:  # cramjam has an exception type of its own for each version
                raise self._corrupt(f"the compressed block at byte {offset} can't be read: {e}") from e
        raise self._corrupt(f"the block at byte {offset} has an unknown compression {kind}")

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for offset, size in self._handles:
            yield from self._entries(offset, size)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        at = bisect.bisect_left(self._last_keys, key)
        if at == len(self._handles):
            return None
        return next((value for found, value in self._entries(*self._handles[at]) if found == key), None)
