"""Element-wise ops, activations and reductions of TensorFlow Lite on floats."""

import numpy as np
import pytest
import torch

from everflow.formats.tflite import ACTIVATIONS, TYPES
from everflow.kernels.lite.arithmetic import _REDUCTIONS, _SAME, activate
from everflow.kernels.lite.registry import Operand
from everflow.kernels.registry import lookup
from tests.kernels.lite.calls import compute

X = np.float32([-7, -1.5, 0, 0.5, 8])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("NONE", X),
        ("RELU", [0, 0, 0, 0.5, 8]),
        ("RELU6", [0, 0, 0, 0.5, 6]),
        ("RELU_N1_TO_1", [-1, -1, 0, 0.5, 1]),
        ("SIGN_BIT", [1, 1, 0, 0, 0]),
        ("TANH", np.tanh(X)),
    ],
)
def test_fused_activations(name, wanted):
    np.testing.assert_allclose(activate(torch.from_numpy(X), ACTIVATIONS.index(name)), wanted, rtol=1e-6)


def test_tables_name_ops_that_exist():
    for op in {*_SAME.values(), *_REDUCTIONS.values()}:
        assert lookup(op) is not None


@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        ("LEAKY_RELU", {"alpha": 0.5}, [-3.5, -0.75, 0, 0.5, 8]),
        ("HARD_SWISH", {}, X * np.clip(X + 3, 0, 6) / 6),
        ("RELU_N1_TO_1", {}, [-1, -1, 0, 0.5, 1]),
        ("SOFTMAX", {"beta": 2.0}, np.exp(2 * X) / np.exp(2 * X).sum()),
        ("ROUND", {}, [-7, -2, 0, 0, 8]),
    ],
)
def test_functions_of_one_tensor(name, options, wanted):
    np.testing.assert_allclose(compute(name, X, **options), wanted, rtol=1e-6, atol=1e-7)


def test_functions_of_two():
    np.testing.assert_array_equal(compute("PRELU", X, np.float32([2])), np.where(X >= 0, X, 2 * X))
    np.testing.assert_array_equal(compute("DIV", np.int32([7, -7]), np.int32([2, 2])), [3, -3])
    np.testing.assert_array_equal(compute("SUB", X, np.float32(1)), X - 1)
    assert compute("NOT_EQUAL", np.int32([1, 2]), np.int32([1, 3])).tolist() == [False, True]
    np.testing.assert_array_equal(compute("ADD_N", X, X, X), 3 * X)


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(keep):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for name, reduce in {"SUM": np.sum, "MEAN": np.mean, "REDUCE_MAX": np.max, "REDUCE_PROD": np.prod}.items():
        np.testing.assert_array_equal(compute(name, x, np.int32([-1]), keep_dims=keep), reduce(x, -1, keepdims=keep))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_places_and_casts_have_the_type_asked_for(dtype):
    code = TYPES.index(np.dtype(dtype))
    place = compute("ARG_MAX", X, np.int32(0), output_type=code)
    assert place.item() == 4 and place.numpy().dtype == dtype
    cast = compute("CAST", X, outputs=[Operand(np.dtype(dtype))])
    assert cast.numpy().dtype == dtype and cast.tolist() == [-7, -1, 0, 0, 8]


def test_fake_quantization():
    found = compute("FAKE_QUANT", X, min=-1.0, max=1.0, num_bits=8, narrow_range=False)
    np.testing.assert_allclose(found, np.clip(X, -1, 1), atol=0.01)
