"""TFRecord files: records one after the other, each with its length and checksums; plain, GZIP or ZLIB."""

from __future__ import annotations

import ctypes
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from everflow.formats.checksums import masked_crc32c
from everflow.framework.errors import DataLossError
from everflow.native.loops.library import Library

_HEADER = struct.Struct("<QI")
_CHUNK = 1 << 18
_PIECE = 1 << 24


def encode(record: bytes) -> bytes:
    """One record with length and checksums around it."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc32c(length)) + record + struct.pack("<I", masked_crc32c(record))


class _Inflating:
    """A file that is decompressed as it is read. What comes after the compressed stream, such as another one, is left
    alone, as in TensorFlow.
    """

    def __init__(self, file: BinaryIO, window_bits: int) -> None:
        self._file = file
        self._inflate = zlib.decompressobj(window_bits)
        self._ready = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._ready) < size and not self._inflate.eof:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                break
            try:
                self._ready += self._inflate.decompress(chunk)
            except zlib.error as e:
                raise DataLossError(None, None, f"compressed data can't be read: {e}") from e
        out = bytes(self._ready[:size])
        del self._ready[:size]
        return out


def decoded(file: Any, compression: str = "") -> Any:
    """A file object whose `read` gives what was compressed: compression "", "GZIP" or "ZLIB"."""
    if not compression:
        return file
    return _Inflating(file, zlib.MAX_WBITS | 16 if compression == "GZIP" else zlib.MAX_WBITS)


def read_record(file: Any, position: int, name: str = "") -> bytes | None:
    """The next record of an open file; None at its end. `position` is for messages.

    A file cut inside the first 12 bytes of a record ends silently, as a writer that is still at work leaves it.
    """
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    length, stored = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != stored:
        raise DataLossError(None, None, f"corrupted record at {position}{_of(name)}")
    record = file.read(length) if length < _PIECE else _read_exactly(file, length)
    footer = file.read(4)
    if len(record) < length or len(footer) < 4:
        raise DataLossError(None, None, f"truncated record at {position}{_of(name)}")
    if masked_crc32c(record) != int.from_bytes(footer, "little"):
        raise DataLossError(None, None, f"corrupted record at {position}{_of(name)}")
    return record


def _read_exactly(file: Any, size: int) -> bytes:
    """Up to `size` bytes, in pieces, so that an absurd length in a broken file asks for no memory."""
    pieces, left = [], size
    while left > 0:
        piece = file.read(min(left, _PIECE))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _of(name: str) -> str:
    return f" of {name}" if name else ""


def read_records(file: Any, compression: str = "", name: str = "") -> Iterator[bytes]:
    """All records of an open binary file."""
    source = decoded(file, compression)
    position = 0
    while (code := _BLOCKS.ready(1)) is None:
        record = read_record(source, position, name)
        if record is None:
            return
        yield record
        position += len(record) + _AROUND
    yield from _read_blocks(source, position, name, code)


_BLOCKS = Library("record_blocks", cost=20)
_AROUND = 16  # bytes around a record
_MOST = 4096  # records looked at together


def _read_blocks(source: Any, position: int, name: str, code: Any) -> Iterator[bytes]:
    """The records of a file from a place on, many at a time by a compiled loop; what it does not take is read alone."""
    spans = (ctypes.c_int64 * (2 * _MOST))()
    place = ctypes.addressof(spans)
    while block := source.read(_CHUNK):
        at = 0
        while found := code.free.scan(id(block) + bytes.__basicsize__ - 1 + at, len(block) - at, place, _MOST):
            base = at
            for start, size in zip(spans[: 2 * found : 2], spans[1 : 2 * found : 2]):
                yield block[base + start : base + start + size]
            at = base + start + size + 4
        position += at
        # What begins in this block is longer than the rest of it, or broken, or the end.
        record = read_record(_Pushed(block[at:], source), position, name)
        if record is None:
            return
        yield record
        position += len(record) + _AROUND


class _Pushed:
    """A file with bytes in front of it that were read already."""

    def __init__(self, ready: bytes, file: Any) -> None:
        self._ready, self._file = ready, file

    def read(self, size: int) -> bytes:
        out, self._ready = self._ready[:size], self._ready[size:]
        return out if len(out) == size else out + self._file.read(size - len(out))
