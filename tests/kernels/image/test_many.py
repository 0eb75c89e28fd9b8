"""Many images at once: what each gives alone."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

import everflow as tf
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.image import many, resize
from everflow.kernels.image.codecs import decode

OPTIONS = {
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}


def files(sizes, kind="JPEG"):
    random, made = np.random.RandomState(0), []
    for size in sizes:
        file = io.BytesIO()
        Image.fromarray(random.randint(0, 256, (*size, 3)).astype(np.uint8)).save(file, kind)
        made.append(file.getvalue())
    return np.array(made, object)


def decoded(contents):
    return many.decode_jpegs(contents, channels=3, **OPTIONS)


def alone(contents):
    return [decode(contents[i : i + 1].reshape(()), 3) for i in range(len(contents))]


def test_images_of_one_size_lie_behind_each_other():
    contents = files([(20, 30)] * 4)
    images = decoded(contents)
    assert images.block is not None and torch.equal(images.block, torch.stack(alone(contents)))
    assert images.images[2].data_ptr() == images.block[2].data_ptr() and many.stack_images(images) is images.block


def test_images_of_different_sizes():
    contents = files([(20, 30), (24, 18), (20, 30), (40, 60)])
    images = decoded(contents)
    assert images.block is None and all(map(torch.equal, images.images, alone(contents)))
    assert many.image_shapes(images, out_type=tf.int32).tolist() == [[20, 30, 3], [24, 18, 3], [20, 30, 3], [40, 60, 3]]
    with pytest.raises(InvalidArgumentError, match="different sizes"):
        many.stack_images(images)


def test_other_formats_are_decoded_too():
    contents = files([(5, 7)] * 3, "PNG")
    images = many.decode_pngs(contents, channels=3, dtype=tf.uint8)
    assert torch.equal(images.block, torch.stack(alone(contents)))
    assert torch.equal(decoded(contents).block, images.block)


def test_parts_of_one_size():
    images = decoded(files([(20, 30), (24, 18)]))
    begin, size = torch.tensor([[1, 2, 0], [5, 6, 0]]), torch.tensor([10, 12, -1])
    found = many.crop_images(images, begin, size, T=tf.uint8)
    wanted = [images.images[0][1:11, 2:14], images.images[1][5:15, 6:18]]
    assert torch.equal(found, torch.stack(wanted))


@pytest.mark.parametrize("begin", [[1, 25, 0], [-1, 0, 0], [15, 0, 0]])
def test_parts_beyond_an_image(begin):
    images = decoded(files([(20, 30), (24, 18)]))
    with pytest.raises(InvalidArgumentError, match="not in the image"):
        many.crop_images(images, torch.tensor([[0, 0, 0], begin]), torch.tensor([10, 12, 3]), T=tf.uint8)


@pytest.mark.parametrize("sizes", [[(20, 30)] * 3, [(20, 30), (24, 18)]])
def test_resized(sizes):
    images, size = decoded(files(sizes)), torch.tensor([8, 9])
    options = {"align_corners": False, "half_pixel_centers": False}
    wanted = [resize.resize_bilinear(image[None], size, **options) for image in images.images]
    from everflow.kernels.registry import lookup

    assert torch.equal(lookup("_ResizeBilinears").function(images, size, **options), torch.cat(wanted))
    wanted = [resize.resize_area(image[None], size, align_corners=False) for image in images.images]
    assert torch.equal(many.resize_areas(images, size, align_corners=False), torch.cat(wanted))
