"""Reading and writing PNG, JPEG, GIF and BMP: there and back, the pixels of TensorFlow's decoder, and broken files."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

import everflow as tf

# Some picture whose encodings are known.
PICTURE = (np.arange(20 * 30 * 3) * 7 % 251).astype(np.uint8).reshape(20, 30, 3)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def checksum(array):
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_png_there_and_back(channels, kind):
    x = (np.arange(7 * 5 * channels) * 331 % np.iinfo(kind).max).astype(kind).reshape(7, 5, channels)
    found = evaluate(lambda t: tf.image.decode_png(tf.image.encode_png(t), dtype=kind), x)
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_channels_of_a_png(channels):
    data = evaluate(lambda t: tf.image.encode_png(t), PICTURE)
    found = evaluate(lambda d: tf.image.decode_png(d, channels=channels), data)
    assert found.shape == (20, 30, channels or 3)
    if channels != 1:
        np.testing.assert_array_equal(found[..., :3], PICTURE)
    if channels == 4:
        assert (found[..., 3] == 255).all()


def test_jpeg_has_the_pixels_of_tensorflow():
    data = evaluate(lambda t: tf.image.encode_jpeg(t, quality=80), PICTURE)
    assert (len(data), zlib.crc32(data)) == (1069, 2763086226)
    assert checksum(evaluate(tf.image.decode_jpeg, data)) == 3042357586
    half = evaluate(lambda d: tf.image.decode_jpeg(d, ratio=2), data)
    assert (half.shape, checksum(half)) == ((10, 15, 3), 3197427853)
    grey = evaluate(lambda d: tf.image.decode_jpeg(d, channels=1), data)
    assert (grey.shape, checksum(grey)) == ((20, 30, 1), 2594355032)


def test_crops_of_a_jpeg():
    data = saved(Image.fromarray(PICTURE), "JPEG", quality=95, subsampling=0)
    whole = evaluate(tf.image.decode_jpeg, data)
    part = evaluate(lambda d: tf.image.decode_and_crop_jpeg(d, [3, 4, 8, 16]), data)
    np.testing.assert_array_equal(part, whole[3:11, 4:20])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window"):
        evaluate(lambda d: tf.image.decode_and_crop_jpeg(d, [3, 4, 80, 16]), data)


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
def test_shape_without_decoding(kind):
    data = saved(Image.fromarray(PICTURE), "JPEG")
    found = evaluate(lambda d: tf.image.extract_jpeg_shape(d, output_type=kind), data)
    assert found.tolist() == [20, 30, 3] and found.dtype == kind.as_numpy_dtype


def test_what_a_file_is():
    jpeg, png = saved(Image.fromarray(PICTURE), "JPEG"), saved(Image.fromarray(PICTURE), "PNG")
    assert evaluate(tf.image.is_jpeg, jpeg) and not evaluate(tf.image.is_jpeg, png)


def test_gif():
    frames = [Image.fromarray(np.full((4, 5, 3), value, np.uint8)) for value in (0, 120, 250)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=10)
    found = evaluate(tf.image.decode_gif, data)
    assert found.shape == (3, 4, 5, 3)
    assert found[:, 0, 0, 0].tolist() == [0, 120, 250]
    assert evaluate(tf.image.decode_image, data).shape == (3, 4, 5, 3)


@pytest.mark.parametrize("upside_down", [False, True])
def test_bmp(upside_down):
    data = saved(Image.fromarray(PICTURE), "BMP")
    if upside_down:
        # A negative height means that the first row is the top one.
        data = data[:22] + struct.pack("<i", -20) + data[26:]
    found = evaluate(tf.image.decode_bmp, data)
    np.testing.assert_array_equal(found, PICTURE[::-1] if upside_down else PICTURE)


@pytest.mark.parametrize("kind", ["PNG", "BMP"])
@pytest.mark.parametrize("dtype", [tf.uint8, tf.float32, tf.uint16])
def test_any_image(kind, dtype):
    data = saved(Image.fromarray(PICTURE), kind)
    found = evaluate(lambda d: tf.image.decode_image(d, dtype=dtype), data)
    scale = {tf.uint8: 1, tf.float32: 1 / 255, tf.uint16: 257 if kind == "PNG" else 256}[dtype]
    np.testing.assert_allclose(found, PICTURE.astype(np.float64) * scale, rtol=1e-5)


# function, contents, part of the message
BROKEN = [
    (tf.image.decode_png, b"nothing like it", "Expected image"),
    (tf.image.decode_jpeg, b"\xff\xd8\xff nothing like it", "Invalid JPEG data"),
    (tf.image.decode_gif, b"GIF8 nothing like it", "Invalid GIF data"),
    (tf.image.decode_bmp, b"nothing like it", "Incomplete bmp content"),
    (tf.image.decode_image, b"nothing like it", "Unable to decode bytes as JPEG, PNG, GIF, or BMP"),
]


@pytest.mark.parametrize(("function", "contents", "message"), BROKEN)
def test_broken_files(function, contents, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(function, contents)


def test_static_shapes():
    with tf.Graph().as_default():
        data = tf.placeholder(tf.string, [])
        assert tf.image.decode_png(data).shape.as_list() == [None, None, None]
        assert tf.image.decode_jpeg(data, channels=3).shape.as_list() == [None, None, 3]
        assert tf.image.decode_gif(data).shape.as_list() == [None, None, None, 3]
        assert tf.image.encode_png(tf.ones([2, 2, 3], tf.uint8)).shape.as_list() == []
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
            tf.image.decode_png(tf.placeholder(tf.string, [2]))
        with pytest.raises(TypeError):
            tf.image.encode_png(tf.ones([2, 2, 3], tf.float32))


def test_quality():
    found = evaluate(lambda t: tf.image.adjust_jpeg_quality(t, 20), PICTURE)
    assert found.shape == PICTURE.shape and found.dtype == np.uint8
    assert 0 < np.abs(found.astype(int) - PICTURE).mean() < 90
