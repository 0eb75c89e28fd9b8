"""Parts of JPEG images: TensorFlow's pixels, whether the part is cut out of the file or out of the decoded image."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
import torch

import everflow as tf
from everflow.kernels.image import codecs, jpeg_parts

# Files, options, windows, and the shape and the sum of what TensorFlow 1.15 makes of them.
IMAGES = json.loads((Path(__file__).parent / "jpeg_parts.json").read_text())
RANDOM = np.random.RandomState(0)


def decoded(data, window, **options):
    how = {
        "channels": 0,
        "ratio": 1,
        "fancy_upscaling": True,
        "try_recover_truncated": False,
        "acceptable_fraction": 1.0,
        "dct_method": "",
    }
    contents = np.array(data, dtype=object)
    return codecs.decode_and_crop_jpeg(contents, torch.tensor(window, dtype=torch.int32), **{**how, **options})


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image["name"])
def test_parts_are_those_that_tensorflow_decodes(image, both_ways):
    data = base64.b64decode(image["jpeg"])
    for window, expected in image["parts"]:
        found = both_ways(lambda: decoded(data, window, **image["options"]))  # noqa: B023
        if expected == "error":
            assert found[0] is tf.errors.InvalidArgumentError
        else:
            assert [list(found.shape), zlib.crc32(found.numpy().tobytes())] == expected, window


def test_a_small_part_of_a_large_image_is_cut_out_of_the_file(both_ways):
    pixels = RANDOM.randint(0, 256, (20, 20, 3)).astype(np.uint8).repeat(30, 0).repeat(30, 1)
    data = simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), 90, "RGB", "444")
    part = jpeg_parts.Part(300, 200, 40, 60, 1)
    assert (
        both_ways(lambda: decoded(data, part[:4])).numpy()
        == simplejpeg.decode_jpeg(data, fastdct=True)[300:340, 200:260]
    ).all()
    file, top, left = jpeg_parts.cut(data, part)
    assert (top, left) == (300 % 8, 0)
    assert simplejpeg.decode_jpeg_header(file)[:2] == (48, 60)
    assert len(file) < len(data) / 5


@pytest.mark.parametrize(
    "window", [[-1, 0, 5, 5], [0, -1, 5, 5], [0, 0, 0, 5], [0, 0, 5, 0], [0, 0, 41, 5], [38, 0, 3, 5]]
)
def test_a_window_beyond_the_image_is_an_error(window, both_ways):
    data = simplejpeg.encode_jpeg(np.zeros((40, 50, 3), np.uint8))
    assert both_ways(lambda: decoded(data, window))[0] is tf.errors.InvalidArgumentError


def test_damaged_files_come_to_the_same_both_ways(both_ways):
    pixels = RANDOM.randint(0, 256, (64, 64, 3)).astype(np.uint8)
    for subsampling in ("444", "420"):
        whole = simplejpeg.encode_jpeg(pixels, 50, "RGB", subsampling)
        for _ in range(60):
            data = bytearray(whole)
            for at in RANDOM.randint(2, len(data), RANDOM.randint(1, 4)):
                data[at] = RANDOM.choice([0, 255, RANDOM.randint(256)])
            given = bytes(data[: RANDOM.choice([len(data), RANDOM.randint(len(data))])])
            both_ways(lambda: decoded(given, [9, 10, 20, 20]))  # noqa: B023
