"""Layers on bytes: within a step of the same layers on the reals, also where each channel has a scale of its own."""

import numpy as np
import pytest

from everflow.formats.tflite import PADDINGS
from tests.kernels.lite.calls import compute, floats, quantized

RANDOM = np.random.RandomState(0)
SAME, VALID = (PADDINGS.index(p) for p in ("SAME", "VALID"))
WINDOW = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
SOURCE, OUTPUT = quantized(np.int8, 0.05, 4), quantized(np.int8, 0.2, -7)
IMAGE = RANDOM.randint(-128, 128, (1, 5, 5, 3)).astype(np.int8)


def near(found, wanted, output=OUTPUT, steps=1.01):
    limits = np.iinfo(output.dtype)
    low, high = floats(output, limits.min), floats(output, limits.max)
    np.testing.assert_allclose(floats(output, found), np.clip(wanted, low, high), atol=steps * float(output.step))


@pytest.mark.parametrize("scales", [[0.02], [0.01, 0.02, 0.03, 0.005]])
@pytest.mark.parametrize("padding", [SAME, VALID])
def test_convolutions(scales, padding):
    weights = RANDOM.randint(-127, 128, (4, 2, 2, 3)).astype(np.int8)
    bias = RANDOM.randint(-500, 500, 4).astype(np.int32)
    step = quantized(np.int8, scales)
    found = compute(
        "CONV_2D", IMAGE, weights, bias,
        operands=[SOURCE, step, quantized(np.int32, 0.001)], outputs=[OUTPUT], padding=padding, **WINDOW,
    )  # fmt: skip
    by_channel = np.broadcast_to(np.float64(step.scale), [4])
    reals = weights * by_channel[:, None, None, None]
    wanted = compute("CONV_2D", floats(SOURCE, IMAGE), reals, bias * by_channel * 0.05, padding=padding, **WINDOW)
    near(found, wanted.numpy())


def test_fully_connected_layers():
    x, weights = RANDOM.randint(-128, 128, (4, 6)).astype(np.int8), RANDOM.randint(-127, 128, (3, 6)).astype(np.int8)
    step = quantized(np.int8, 0.02)
    found = compute("FULLY_CONNECTED", x, weights, operands=[SOURCE, step], outputs=[OUTPUT], keep_num_dims=False)
    near(found, floats(SOURCE, x) @ floats(step, weights).T)


def test_transposed_convolutions():
    weights = RANDOM.randint(-127, 128, (2, 2, 2, 3)).astype(np.int8)
    step = quantized(np.int8, 0.01)
    shape = np.int32([1, 6, 6, 2])
    found = compute(
        "TRANSPOSE_CONV", shape, weights, IMAGE,
        operands=[None, step, SOURCE], outputs=[OUTPUT], padding=VALID, **WINDOW,
    )  # fmt: skip
    wanted = compute("TRANSPOSE_CONV", shape, floats(step, weights), floats(SOURCE, IMAGE), padding=VALID, **WINDOW)
    near(found, wanted.numpy())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("padding", [SAME, VALID])
def test_pools_keep_the_scale(dtype, padding):
    limits = np.iinfo(dtype)
    image = RANDOM.randint(limits.min, limits.max + 1, (1, 5, 5, 2)).astype(dtype)
    step = quantized(dtype, 0.1, 3)
    options = {"stride_h": 2, "stride_w": 2, "filter_height": 3, "filter_width": 3, "padding": padding}
    for name in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        found = compute(name, image, operands=[step], outputs=[step], **options)
        wanted = compute(name, image.astype(np.float64), **options)
        np.testing.assert_allclose(found.numpy().astype(float), wanted, atol=0.5 if name[0] == "A" else 0)


def test_joined_parts_are_brought_to_one_scale():
    other = quantized(np.int8, 0.1, -20)
    a, b = (RANDOM.randint(-128, 128, (2, 3)).astype(np.int8) for _ in range(2))
    found = compute("CONCATENATION", a, b, operands=[OUTPUT, other], outputs=[OUTPUT], axis=1)
    np.testing.assert_array_equal(found[:, :3], a)
    near(found[:, 3:], floats(other, b))


@pytest.mark.parametrize("name", ["MEAN", "SUM"])
@pytest.mark.parametrize("keep", [False, True])
def test_means_and_sums(name, keep):
    output = quantized(np.int8, 0.5, -7)
    found = compute(name, IMAGE, np.int32([3]), operands=[SOURCE, None], outputs=[output], keep_dims=keep)
    reduce = np.mean if name == "MEAN" else np.sum
    near(found, reduce(floats(SOURCE, IMAGE), -1, keepdims=keep), output)


@pytest.mark.parametrize("align", [False, True])
def test_resized_images(align):
    found = compute(
        "RESIZE_BILINEAR", IMAGE, np.int32([7, 9]), operands=[SOURCE, None], outputs=[SOURCE], align_corners=align
    )
    wanted = compute("RESIZE_BILINEAR", IMAGE.astype(np.float32), np.int32([7, 9]), align_corners=align)
    np.testing.assert_allclose(found.numpy().astype(float), wanted, atol=1.0)
