"""Layers whose weights alone are 8-bit integers: near to what floats give, rows rounded each by its own scale."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from everflow.kernels.lite import hybrid
from everflow.kernels.lite.registry import Call, Operand
from tests.kernels.lite.calls import compute, quantized

RANDOM = np.random.RandomState(0)
FLOAT = Operand(np.dtype(np.float32))


def test_rows_reach_to_the_ends_each_by_its_own_scale():
    x = torch.tensor([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [100.0, 50.0, -0.2]])
    rounded, scale = hybrid.symmetric(x)
    assert rounded.abs().amax(1).tolist() == [127, 0, 127]
    torch.testing.assert_close(rounded * scale, x, atol=0.4, rtol=0)
    torch.testing.assert_close((rounded * scale)[0], x[0], atol=0.01, rtol=0)


def test_unsigned_bytes_of_old_files_are_signed_ones():
    bytes_ = torch.tensor([0, 1, 127, 128, 255], dtype=torch.uint8)
    assert hybrid.weights_of(bytes_, quantized(np.uint8, 1.0)).tolist() == [0, 1, 127, -128, -1]
    assert hybrid.weights_of(bytes_.view(torch.int8), quantized(np.int8, 1.0)).tolist() == [0, 1, 127, -128, -1]


@pytest.mark.parametrize("activation", ["NONE", "RELU"])
def test_a_fully_connected_layer(activation):
    x, bias = RANDOM.randn(4, 6).astype(np.float32), RANDOM.randn(3).astype(np.float32)
    weights, step = RANDOM.randint(-127, 128, (3, 6)).astype(np.int8), quantized(np.int8, 0.01)
    found = compute(
        "FULLY_CONNECTED", x, weights, bias, operands=[FLOAT, step, FLOAT], activation=activation, keep_num_dims=False
    )
    wanted = x @ (weights.T * 0.01) + bias
    np.testing.assert_allclose(found, np.maximum(wanted, 0) if activation == "RELU" else wanted, atol=0.05)


def test_a_convolution():
    x = RANDOM.randn(2, 4, 4, 2).astype(np.float32)
    weights = RANDOM.randint(-127, 128, (3, 1, 1, 2)).astype(np.int8)
    found = compute(
        "CONV_2D", x, weights, operands=[FLOAT, quantized(np.int8, 0.02)],
        stride_h=1, stride_w=1, padding=0, dilation_h_factor=1, dilation_w_factor=1,
    )  # fmt: skip
    np.testing.assert_allclose(found, x @ (weights.reshape(3, 2).T * 0.02), atol=0.1)


def test_rows_of_a_table_are_reals():
    table = np.int8([[1, 2], [-3, 4]])
    operands = (Operand(np.dtype(np.int32)), quantized(np.int8, 0.5))
    call = Call("EMBEDDING_LOOKUP", SimpleNamespace(), operands, (FLOAT,))
    assert hybrid.embedding_lookup(call, torch.tensor([1, 0]), torch.from_numpy(table)).tolist() == [
        [-1.5, 2],
        [0.5, 1],
    ]
