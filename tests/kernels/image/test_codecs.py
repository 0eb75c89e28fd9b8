"""Image files that are broken, cut short or of another kind than the op's name says."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

import everflow as tf
from tests.kernels.feeding import fed

PIXELS = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)


def bitmap(pixels, top_down=False, bits=None):
    rows, columns, depth = pixels.shape
    order = pixels[..., [2, 1, 0, 3][:depth]] if depth == 4 else pixels[..., [2, 1, 0]] if depth == 3 else pixels
    lines = [row.tobytes().ljust((depth * columns + 3) // 4 * 4, b"\0") for row in order]
    body = b"".join(lines if top_down else lines[::-1])
    header = struct.pack("<2sihhi", b"BM", 54 + len(body), 0, 0, 54)
    return (
        header
        + struct.pack("<iiihh", 40, columns, -rows if top_down else rows, 1, bits or 8 * depth).ljust(40, b"\0")
        + body
    )


@pytest.mark.parametrize("depth", [1, 3, 4])
@pytest.mark.parametrize("top_down", [False, True])
def test_bitmaps(sess, depth, top_down):
    pixels = np.random.RandomState(0).randint(0, 256, (3, 5, depth)).astype(np.uint8)
    np.testing.assert_array_equal(sess.run(tf.image.decode_bmp(bitmap(pixels, top_down))), pixels)


@pytest.mark.parametrize(
    ("data", "channels", "message"),
    [
        (b"BM", 0, "Incomplete bmp content"),
        (bitmap(PIXELS)[:-60], 0, "Incomplete bmp content"),
        (bitmap(PIXELS), 4, "does not match bits per pixel"),
        (bitmap(PIXELS, bits=16), 0, "Number of channels must be 1, 3 or 4"),
    ],
)
def test_bitmaps_that_are_none(sess, data, channels, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.image.decode_bmp(fed(data), channels=channels))


def test_every_decoder_looks_at_the_file_itself(sess):
    png, jpeg = sess.run([tf.image.encode_png(PIXELS), tf.image.encode_jpeg(PIXELS)])
    by_jpeg, by_png, frames = sess.run(
        [tf.image.decode_jpeg(fed(png)), tf.image.decode_png(fed(jpeg)), tf.image.decode_gif(fed(png))]
    )
    np.testing.assert_array_equal(by_jpeg, PIXELS)
    assert by_png.shape == PIXELS.shape
    np.testing.assert_array_equal(frames, PIXELS[None])


@pytest.mark.parametrize("ratio", [2, 4, 8])
def test_smaller_images_of_a_jpeg(sess, ratio):
    image = np.tile(np.arange(64, dtype=np.uint8)[:, None, None], (1, 48, 3))
    small = sess.run(tf.image.decode_jpeg(tf.image.encode_jpeg(image, quality=95), ratio=ratio))
    assert small.shape == (64 // ratio, 48 // ratio, 3)
    np.testing.assert_allclose(small[:, 0, 0], image.reshape(64 // ratio, ratio, 48, 3).mean(1)[:, 0, 0], atol=4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.image.decode_jpeg(fed([b"a"])), "contents must be scalar"),
        (lambda: tf.image.decode_png(fed(b"")), "got empty file"),
        (lambda: tf.image.decode_png(fed(b"what is this\x01")), "unknown format starting with 'what is this"),
        (lambda: tf.image.decode_png(tf.image.encode_jpeg(PIXELS), dtype=tf.uint16), "does not support uint16 output"),
        (lambda: tf.image.decode_jpeg(tf.image.encode_jpeg(PIXELS), channels=4), "must be 0, 1, or 3 for JPEG"),
        (lambda: tf.image.decode_jpeg(tf.image.encode_jpeg(PIXELS), ratio=3), "ratio must be 1, 2, 4, or 8"),
        (lambda: tf.image.decode_jpeg(b"\xff\xd8\xff\xe0" + bytes(40)), "Invalid JPEG data"),
        (
            lambda: tf.image.decode_and_crop_jpeg(tf.image.encode_jpeg(PIXELS), fed([0, 0, 7, 8])),
            "Invalid JPEG data or crop window",
        ),
        (lambda: tf.image.decode_png(b"\x89PNG\r\n\x1a\n" + bytes(40)), "Invalid PNG data"),
        (lambda: tf.image.encode_png(fed(PIXELS[0])), "image must be 3-dimensional"),
        (lambda: tf.image.encode_png(fed(np.zeros([2, 2, 5], np.uint8))), "must have 1, 2, 3, or 4 channels"),
        (lambda: tf.image.encode_png(fed(PIXELS), compression=10), "compression should be in"),
        (lambda: tf.image.encode_jpeg(fed(PIXELS), format="grayscale"), "format grayscale expects 1 channel"),
        (lambda: tf.image.encode_jpeg(fed(PIXELS), quality=101), r"quality must be in \[0,100\]"),
        (lambda: tf.image.encode_jpeg(fed(np.zeros([2, 2, 4], np.uint8))), "must have 1 or 3 channels"),
    ],
)
def test_what_can_not_be_read_or_written(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_a_jpeg_cut_short_is_recovered_on_request(sess):
    whole = sess.run(tf.image.encode_jpeg(np.full([32, 32, 3], 100, np.uint8)))
    short = fed(whole[:-20])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        sess.run(tf.image.decode_jpeg(short))
    assert sess.run(tf.image.decode_jpeg(short, try_recover_truncated=True)).shape == (32, 32, 3)


def test_density_and_metadata_are_in_the_file(sess):
    data = sess.run(
        tf.image.encode_jpeg(PIXELS, density_unit="cm", x_density=7, y_density=9, xmp_metadata="<x>about</x>")
    )
    assert data[6:11] == b"JFIF\0" and data[13] == 2 and data[14:18] == struct.pack(">HH", 7, 9)
    assert b"<x>about</x>" in data


def test_frames_are_laid_over_each_other_whatever_is_transparent(sess):
    """A frame of one pixel, its colour transparent and to be taken away again, over one of two, and then the other."""
    head = b"GIF89a" + bytes([2, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255])  # two by one, red and blue
    control = bytes([0x21, 0xF9, 4, 2 << 2 | 1, 0, 0, 1, 0])  # blue is transparent, the frame is taken away

    def frame(left, width, pixels):  # codes of three bits: 4 clears the table, 5 ends the pixels
        codes = sum(code << 3 * i for i, code in enumerate([4, *pixels, 5]))
        place = bytes([0x2C, left, 0, 0, 0, width, 0, 1, 0, 0])
        return control + place + bytes([2, 2]) + codes.to_bytes(2, "little") + b"\0"

    data = head + frame(0, 2, [0, 0]) + frame(1, 1, [1]) + frame(0, 1, [1]) + b";"
    red, blue = [255, 0, 0], [0, 0, 255]
    assert sess.run(tf.image.decode_gif(fed(data)))[:, 0].tolist() == [[red, red], [red, blue], [blue, blue]]


def picture(**options):
    """A JPEG of 48 rows and 64 columns, and where its data begins."""
    y, x = np.mgrid[:48, :64]
    noise = np.random.RandomState(3).randn(48, 64, 3) * 12
    pixels = np.stack([128 + 100 * np.sin(x / 7), 128 + 100 * np.cos(y / 5), (3 * x + 2 * y) % 256], -1) + noise
    file = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=80, **options)
    data = file.getvalue()
    at = data.index(b"\xff\xda")
    return data, at + 2 + (data[at + 2] << 8 | data[at + 3])


@pytest.mark.parametrize("marker", [0xD0, 0xD3, 0xD9, 0x01])
def test_markers_in_the_data_of_a_jpeg_that_say_nothing(sess, marker):
    data, start = picture()
    at = (start + len(data)) // 2
    image = sess.run(tf.image.decode_jpeg(fed(data[:at] + bytes([0xFF, marker]) + data[at:])))
    assert image.shape == (48, 64, 3) and (image[:14] == sess.run(tf.image.decode_jpeg(fed(data)))[:14]).all()


@pytest.mark.parametrize("marker", [0xC0, 0xC4, 0xD8, 0xDA, 0xDB, 0xDD, 0xE0, 0xFE, 0xFF])
def test_markers_in_the_data_of_a_jpeg_that_begin_something(sess, marker):
    """What they begin is read when all rows are there, and makes no sense."""
    data, start = picture()
    at = start + (len(data) - start) * 3 // 10
    assert data[at - 1] != 0xFF
    broken = data[:at] + bytes([0xFF, marker]) + data[at:]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        sess.run(tf.image.decode_jpeg(fed(broken)))


@pytest.mark.parametrize(("subsampling", "rows"), [(0, 32), (2, 30)])
def test_enough_of_a_jpeg_is_accepted(sess, subsampling, rows):
    data, start = picture(subsampling=subsampling)
    cut = data[: start + int((len(data) - start) * 0.7)]
    image = sess.run(tf.image.decode_jpeg(fed(cut), acceptable_fraction=0.5))
    whole = sess.run(tf.image.decode_jpeg(fed(data)))
    assert (image[:rows] == whole[:rows]).all() and not image[rows:].any()
    for fraction in (1, 0.8):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
            sess.run(tf.image.decode_jpeg(fed(cut), acceptable_fraction=fraction))


def test_the_shape_of_a_progressive_jpeg_is_known_when_its_scans_are_read(sess):
    data, start = picture(progressive=True)
    assert sess.run(tf.image.extract_jpeg_shape(fed(data[: start + 40]))).tolist() == [48, 64, 3]
    broken = data[: start + 40] + b"\xff\xd8" + data[start + 40 :]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.image.extract_jpeg_shape(fed(broken)))
