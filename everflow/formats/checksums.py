"""CRC-32C as TensorFlow's files hold it: masked, so that a checksum of data with checksums in it stays useful."""

from __future__ import annotations

import google_crc32c

_MASK_DELTA = 0xA282EAD8


def crc32c(data: bytes | bytearray | memoryview, start: int = 0) -> int:
    """The CRC-32C of bytes, going on from `start`."""
    # The C extension takes bytes only; a view is copied in pieces, not whole.
    if isinstance(data, bytes):
        return google_crc32c.extend(start, data)
    view = memoryview(data).cast("B")
    for position in range(0, len(view), 1 << 20):
        start = google_crc32c.extend(start, bytes(view[position : position + (1 << 20)]))
    return start


def mask(crc: int) -> int:
    """A checksum as it is stored."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: bytes | bytearray | memoryview) -> int:
    """The stored form of the checksum of bytes."""
    return mask(crc32c(data))
