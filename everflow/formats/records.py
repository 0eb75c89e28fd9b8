"""TFRecord files: records one after the other, each with its length and checksums; plain, GZIP or ZLIB."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from everflow.formats.checksums import masked_crc32c
from everflow.framework.errors import DataLossError

_HEADER = struct.Struct("<QI")
_CHUNK = 1 << 18
_PIECE = 1 << 24


def encode(record: bytes) -> bytes:
    """One record with length and checksums around it."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc32c(length)) + record + struct.pack("<I", masked_crc32c(record))


class _Inflating:
    """A file that is decompressed as it is read."""

    def __init__(self, file: BinaryIO, window_bits: int) -> None:
        self._file = file
        self._window_bits = window_bits
        self._inflate = zlib.decompressobj(window_bits)
        self._ready = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._ready) < size:
            chunk = self._inflate.unused_data or self._file.read(_CHUNK)
            if not chunk:
                break
            if self._inflate.eof:  # a file may be several compressed streams in a row
                self._inflate = zlib.decompressobj(self._window_bits)
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
    while (record := read_record(source, position, name)) is not None:
        yield record
        position += len(record) + 16
