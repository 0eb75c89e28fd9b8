"""Quantised nn kernels against the same computation on the floats that their integers stand for."""

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.nn import quantized as nn_quantized
from everflow.kernels.nn.convolution import conv2d

RANDOM = np.random.RandomState(1)
LOW, HIGH = torch.tensor(-1.0), torch.tensor(2.0)
IMAGE = torch.from_numpy(RANDOM.randint(0, 256, (1, 4, 5, 2)).astype(np.uint8))


def floats(values, low, high, levels=255):
    return low + values.double() * ((high - low) / levels)


def test_convolution():
    filters = torch.from_numpy(RANDOM.randint(0, 256, (2, 3, 2, 3)).astype(np.uint8))
    low, high = torch.tensor(-0.5), torch.tensor(0.7)
    attrs = {"strides": [1, 1, 2, 1], "padding": "SAME", "dilations": [1, 1, 1, 1]}
    found, least, most = nn_quantized.quantized_conv2d(
        IMAGE, filters, LOW, HIGH, low, high, out_type=dtypes.qint32, **attrs
    )
    step = (most.double() - least.double()) / 2**32
    expected = conv2d(
        floats(IMAGE, LOW, HIGH), floats(filters, low, high), explicit_paddings=[], data_format="NHWC", **attrs
    )
    torch.testing.assert_close(found * step, expected, atol=0.05, rtol=0.02)


def test_pools_keep_the_range():
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    largest, least, most = nn_quantized.quantized_max_pool(IMAGE, LOW, HIGH, **window)
    blocks = IMAGE[:, :, :4].reshape(1, 2, 2, 2, 2, 2)
    assert torch.equal(largest, blocks.amax((2, 4))) and (least, most) == (LOW, HIGH)
    mean, _, _ = nn_quantized.quantized_avg_pool(IMAGE, LOW, HIGH, **window)
    assert torch.equal(mean, blocks.int().sum((2, 4)).div(4, rounding_mode="floor").to(torch.uint8))


def test_bias_and_instance_norm():
    bias = torch.tensor([31, 202], dtype=torch.uint8)
    low, high = torch.tensor(-0.5), torch.tensor(0.25)
    total, least, most = nn_quantized.quantized_bias_add(IMAGE, bias, LOW, HIGH, low, high, out_type=dtypes.qint32)
    step = (most.double() - least.double()) / 2**32
    torch.testing.assert_close(total * step, floats(IMAGE, LOW, HIGH) + floats(bias, low, high), atol=1e-3, rtol=0)
    y, least, most = nn_quantized.quantized_instance_norm(
        IMAGE,
        LOW,
        HIGH,
        output_range_given=False,
        given_y_min=0.0,
        given_y_max=0.0,
        variance_epsilon=1e-5,
        min_separation=1e-3,
    )
    normal = floats(y, least, most)
    torch.testing.assert_close(normal.mean((1, 2)), torch.zeros(1, 2).double(), atol=0.01, rtol=0)
    torch.testing.assert_close(normal.std((1, 2), correction=0), torch.ones(1, 2).double(), atol=0.02, rtol=0)
