"""PNG files of every colour type and depth, with all row filters, interlaced or not: written here byte by byte."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.image import png

RANDOM = np.random.RandomState(0)
TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def filtered(rows, size):
    """Rows of bytes with each of the five filters in turn."""
    rows = rows.astype(int)
    out = b""
    above = np.zeros(rows.shape[1], int)
    for y, row in enumerate(rows):
        left = np.concatenate([np.zeros(size, int), row[:-size]])
        corner = np.concatenate([np.zeros(size, int), above[:-size]])
        base = left + above - corner
        distances = np.abs(np.stack([base - left, base - above, base - corner]))
        paeth = np.choose(distances.argmin(0), [left, above, corner])
        guess = [0 * row, left, above, (left + above) // 2, paeth][y % 5]
        out += bytes([y % 5]) + ((row - guess) % 256).astype(np.uint8).tobytes()
        above = row
    return out


def written(image, interlaced=False):
    """A PNG file of 16 bits a channel."""
    rows, columns, channels = image.shape
    header = struct.pack(">IIBBBBB", columns, rows, 16, TYPES[channels], 0, 0, int(interlaced))
    body = b""
    for y, x, dy, dx in PASSES if interlaced else [(0, 0, 1, 1)]:
        part = image[y::dy, x::dx]
        if part.size:
            lines = part.astype(">u2").tobytes()
            body += filtered(np.frombuffer(lines, np.uint8).reshape(part.shape[0], -1), 2 * channels)
    body = zlib.compress(body)
    parts = [(b"IHDR", header), (b"IDAT", body[:9]), (b"IDAT", body[9:]), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (9, 7), (3, 11)])
def test_sixteen_bits(interlaced, channels, size):
    image = RANDOM.randint(0, 2**16, (*size, channels)).astype(np.uint16)
    data = written(image, interlaced)
    np.testing.assert_array_equal(png.decode(data, 0, np.uint16), image)
    np.testing.assert_array_equal(png.decode(data, 0, np.uint8), image >> 8)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_there_and_back(dtype, channels, compression):
    image = RANDOM.randint(0, np.iinfo(dtype).max, (5, 4, channels)).astype(dtype)
    np.testing.assert_array_equal(png.decode(png.encode(image, compression), 0, dtype), image)


def test_eight_bits_as_sixteen_reach_the_top():
    image = np.uint8([[[0], [1], [255]]])
    assert png.decode(png.encode(image, -1), 0, np.uint16).ravel().tolist() == [0, 257, 65535]


def saved(mode, **options):
    image = Image.new(mode, (3, 2))
    if mode == "P":
        image.putpalette([10, 20, 30, 40, 50, 60] + [0] * 762)
        image.putdata([0, 1, 0, 1, 0, 1])
    elif mode == "1":
        image.putdata([0, 255, 0, 255, 0, 255])
    else:
        image.putdata([7, 8, 9, 7, 8, 9])
    file = io.BytesIO()
    image.save(file, "PNG", **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (saved("P"), [[10, 20, 30], [40, 50, 60], [10, 20, 30]]),
        (saved("P", transparency=0), [[10, 20, 30, 0], [40, 50, 60, 255], [10, 20, 30, 0]]),
        (saved("1"), [[0], [255], [0]]),
        (saved("L", transparency=8), [[7], [8], [9]]),
    ],
)
def test_palettes_bits_and_transparent_colours(data, row):
    assert png.decode(data, 0, np.uint8)[0].tolist() == row


@pytest.mark.parametrize(
    ("data", "alpha"),
    [(saved("L", transparency=8), [255, 0, 255]), (saved("1"), [1, 1, 1]), (saved("P", bits=4), [15, 15, 15])],
)
def test_alpha_that_is_asked_for(data, alpha):
    """A colour that is transparent shows only then; what is opaque is the largest value of the file's own depth."""
    assert png.decode(data, 4, np.uint8)[0, :, 3].tolist() == alpha


def test_grey_of_sixteen_bits_is_rounded():
    image = np.uint16([[[1, 2, 4], [65535, 0, 1]]])
    assert png.decode(png.encode(image, -1), 1, np.uint16).ravel().tolist() == [2, 19594]


@pytest.mark.parametrize(("have", "want"), [(3, 1), (1, 3), (1, 4), (4, 3), (3, 4), (2, 1), (4, 1)])
def test_channels_that_are_asked_for(have, want):
    image = np.full((1, 1, have), 50, np.uint8)
    found = png.decode(png.encode(image, -1), want, np.uint8)
    alpha = [50 if have in (2, 4) else 255] if want in (2, 4) else []
    assert found[0, 0].tolist() == [50] * (want - len(alpha)) + alpha


def test_grey_is_weighted_as_libpng_does():
    image = np.uint8([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [90, 90, 90]]])
    assert png.decode(png.encode(image, -1), 1, np.uint8).ravel().tolist() == [76, 149, 29, 90]


@pytest.mark.parametrize("interlaced", [False, True])
def test_damaged_files_are_refused(interlaced):
    data = written(RANDOM.randint(0, 2**16, (6, 6, 3)).astype(np.uint16), interlaced)
    wrong = data[:60] + bytes([data[60] ^ 1]) + data[61:]
    for damaged in (data[:40], data[:-12], data[: len(data) // 2], wrong):
        with pytest.raises(InvalidArgumentError, match="Invalid PNG data"):
            png.decode(damaged, 0, np.uint16)
