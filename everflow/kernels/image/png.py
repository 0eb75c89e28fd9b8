"""PNG to arrays and back, with 8 or 16 bits a channel. Pillow reads and writes 8 bits; 16 bits of colour it can't, so
they are done here.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

import numpy as np

from everflow.framework.errors import InvalidArgumentError

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type; 3 is a palette
_COLOR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}
# Weights of red, green and blue in grey, of 32768, as libpng takes them.
_GRAY = (9797, 19234, 3737)


def decode(data: bytes, channels: int, dtype: type) -> np.ndarray:
    """The [height, width, channels] image of a PNG file; 0 channels: as many as it has."""
    try:
        _check_end(data)
        image = _read(data)
    except (OSError, SyntaxError, ValueError, KeyError, IndexError, struct.error, zlib.error) as error:
        raise InvalidArgumentError(None, None, f"Invalid PNG data, size {len(data)}") from error
    image = _with_channels(image, channels or _own_channels(data, image), _opaque(data))
    if image.dtype == dtype:
        return np.ascontiguousarray(image)
    return (image >> 8).astype(np.uint8) if dtype == np.uint8 else image.astype(np.uint16) * np.uint16(257)


def _check_end(data: bytes) -> None:
    """Raise where a file does not go on to the chunk that ends it, which Pillow does not look at."""
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        size, kind = struct.unpack_from(">I4s", data, at)
        at += 8 + size + 4
    if zlib.crc32(data[at - size - 8 : at - 4]) != int.from_bytes(data[at - 4 : at], "big"):
        raise ValueError("the last chunk is broken")


def _own_channels(data: bytes, image: np.ndarray) -> int:
    """How many channels a file has by itself: that one colour of it is transparent counts in palettes only."""
    color_type = data[25]
    return image.shape[2] if color_type == 3 else _CHANNELS[color_type]


def _opaque(data: bytes) -> int:
    """What is added as alpha: the largest value of the file's own depth, even where pixels have more bits by then."""
    return (1 << data[24]) - 1


def _with_channels(image: np.ndarray, channels: int, opaque: int) -> np.ndarray:
    have = image.shape[2]
    alpha = image[..., -1:] if have in (2, 4) else np.full_like(image[..., :1], opaque)
    color = image[..., : have - 1] if have in (2, 4) else image
    if channels == have:
        return image
    if channels in (1, 2) and color.shape[2] == 3:
        color = _to_gray(color)
    elif channels in (3, 4) and color.shape[2] == 1:
        color = np.repeat(color, 3, axis=2)
    return np.concatenate([color, alpha], axis=2) if channels in (2, 4) else color


def _to_gray(color: np.ndarray) -> np.ndarray:
    red, green, blue = (color[..., i].astype(np.uint32) for i in range(3))
    half = 1 << 14 if color.dtype == np.uint16 else 0  # only 16 bits are rounded
    gray = (red * _GRAY[0] + green * _GRAY[1] + blue * _GRAY[2] + half) >> 15
    # Pixels that are grey already stay exactly as they are.
    gray = np.where((red == green) & (red == blue), red, gray)
    return gray.astype(color.dtype)[..., None]


def _read(data: bytes) -> np.ndarray:
    from PIL import Image

    depth, color_type = data[24], data[25]
    if depth == 16:
        return _read_16(data)
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        if color_type == 3 or (depth < 8 and "transparency" in image.info):
            image = image.convert("RGBA" if "transparency" in image.info else "RGB")
        elif image.mode in ("1", "I"):
            image = image.convert("L")
        elif "transparency" in image.info:
            image = image.convert("RGBA" if image.mode == "RGB" else "LA")
        array = np.asarray(image)
    return array[..., None] if array.ndim == 2 else array


# --- 16 bits


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(kind + body) != checksum:
            raise ValueError("checksum differs")
        yield kind, body
        if kind == b"IEND":
            return
        at += size + 12
    raise ValueError("no end")


def _read_16(data: bytes) -> np.ndarray:
    body = b""
    for kind, content in _chunks(data):
        if kind == b"IHDR":
            width, height, _, color_type, _, _, interlaced = struct.unpack(">IIBBBBB", content)
        elif kind == b"IDAT":
            body += content
    channels = _CHANNELS[color_type]
    size = 2 * channels
    image = np.zeros((height, width, size), np.uint8)
    raw = zlib.decompress(body)
    at = 0
    for y0, x0, dy, dx in _ADAM7 if interlaced else [(0, 0, 1, 1)]:
        rows, columns = -(-(height - y0) // dy), -(-(width - x0) // dx)
        if rows <= 0 or columns <= 0:
            continue
        stride = columns * size + 1
        part = np.frombuffer(raw, np.uint8, rows * stride, at).reshape(rows, stride)
        image[y0::dy, x0::dx] = _unfiltered(part, size).reshape(rows, columns, size)
        at += rows * stride
    return image.view(">u2").astype(np.uint16)


# Passes of an interlaced image: first row, first column, row step, column step.
_ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def _unfiltered(part: np.ndarray, size: int) -> np.ndarray:
    """Undo the row filters; `size` is bytes a pixel."""
    rows = part[:, 1:].astype(np.int64)
    above = np.zeros(rows.shape[1], np.int64)
    for y, kind in enumerate(part[:, 0]):
        row = rows[y]
        if kind == 1:
            row[:] = row.reshape(-1, size).cumsum(0).reshape(-1)
        elif kind == 2:
            row += above
        elif kind in (3, 4):
            _unfilter_by_neighbours(row, above, size, kind)
        elif kind > 4:
            raise ValueError(f"filter {kind}")
        row &= 255
        above = row
    return rows.astype(np.uint8)


def _unfilter_by_neighbours(row: np.ndarray, above: np.ndarray, size: int, kind: int) -> None:
    left, corner = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for x in range(0, len(row), size):
        up = above[x : x + size]
        if kind == 3:
            guess = (left + up) >> 1
        else:
            base = left + up - corner
            to_left, to_up, to_corner = abs(base - left), abs(base - up), abs(base - corner)
            guess = np.where(
                (to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner)
            )
        left = row[x : x + size] = (row[x : x + size] + guess) & 255
        corner = up


def encode(image: np.ndarray, compression: int) -> bytes:
    """The PNG file of a [height, width, channels] image of bytes or 16-bit values."""
    if image.dtype == np.uint8:
        from PIL import Image

        file = io.BytesIO()
        options = {} if compression < 0 else {"compress_level": compression}
        Image.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(file, "PNG", **options)
        return file.getvalue()
    height, width, channels = image.shape
    rows = image.astype(">u2").view(np.uint8).reshape(height, -1)
    # Each row as the difference from the one above: cheap, and smooth images shrink well.
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = 2
    filtered[0, 1:], filtered[1:, 1:] = rows[0], rows[1:] - rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPE[channels], 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), compression)
    return _SIGNATURE + b"".join(_chunk(k, b) for k, b in ((b"IHDR", header), (b"IDAT", body), (b"IEND", b"")))


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
