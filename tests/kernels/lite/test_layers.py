"""Layers of TensorFlow Lite on floats: weights with the outputs first, options instead of attributes."""

import numpy as np
import pytest

from everflow.formats.tflite import PADDINGS
from tests.kernels.lite.calls import compute

RANDOM = np.random.RandomState(0)
SAME, VALID = (PADDINGS.index(p) for p in ("SAME", "VALID"))
WINDOW = {"stride_h": 1, "stride_w": 1, "padding": VALID}
IMAGE = RANDOM.randn(2, 5, 6, 3).astype(np.float32)


def windows(image, height, width, stride=1):
    """[batch, rows, columns, height, width, channels] without padding."""
    rows, columns = (image.shape[1] - height) // stride + 1, (image.shape[2] - width) // stride + 1
    return np.stack(
        [
            np.stack(
                [image[:, i * stride : i * stride + height, j * stride : j * stride + width] for j in range(columns)], 1
            )
            for i in range(rows)
        ],
        1,
    )


def test_convolutions():
    weights, bias = RANDOM.randn(4, 2, 3, 3).astype(np.float32), RANDOM.randn(4).astype(np.float32)
    wanted = np.einsum("nijhwc,ohwc->nijo", windows(IMAGE, 2, 3), weights)
    options = {**WINDOW, "dilation_h_factor": 1, "dilation_w_factor": 1}
    np.testing.assert_allclose(compute("CONV_2D", IMAGE, weights, **options), wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(compute("CONV_2D", IMAGE, weights, bias, **options), wanted + bias, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_convolutions(multiplier):
    weights = RANDOM.randn(1, 2, 2, 3 * multiplier).astype(np.float32)
    wanted = np.einsum("nijhwc,hwcm->nijcm", windows(IMAGE, 2, 2), weights.reshape(2, 2, 3, multiplier))
    found = compute("DEPTHWISE_CONV_2D", IMAGE, weights, **WINDOW, dilation_h_factor=1, dilation_w_factor=1)
    np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=1e-4, atol=1e-4)


def test_transposed_convolutions_are_the_gradients_of_plain_ones():
    weights = RANDOM.randn(3, 2, 2, 4).astype(np.float32)
    small = RANDOM.randn(2, 4, 5, 4).astype(np.float32)
    found = compute("TRANSPOSE_CONV", np.int32([2, 5, 6, 3]), weights, small, **WINDOW)
    plain = np.einsum("nijhwc,chwo->nijo", windows(IMAGE, 2, 2), weights)
    np.testing.assert_allclose((found.numpy() * IMAGE).sum(), (plain * small).sum(), rtol=1e-3)


@pytest.mark.parametrize("keep", [False, True])
def test_fully_connected_layers_flatten_what_they_are_given(keep):
    x, weights = RANDOM.randn(2, 3, 4).astype(np.float32), RANDOM.randn(5, 4).astype(np.float32)
    found = compute("FULLY_CONNECTED", x, weights, keep_num_dims=keep)
    assert found.shape == ((2, 3, 5) if keep else (6, 5))
    np.testing.assert_allclose(found.reshape(6, 5), x.reshape(6, 4) @ weights.T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "reduce"),
    [
        ("MAX_POOL_2D", lambda w: w.max((3, 4))),
        ("AVERAGE_POOL_2D", lambda w: w.mean((3, 4))),
        ("L2_POOL_2D", lambda w: np.sqrt((w * w).mean((3, 4)))),
    ],
)
def test_pools(name, reduce):
    options = {"stride_h": 2, "stride_w": 2, "padding": VALID, "filter_height": 2, "filter_width": 3}
    found = compute(name, IMAGE, **options)
    np.testing.assert_allclose(found, reduce(windows(IMAGE, 2, 3, 2)), rtol=1e-5)
    assert compute(name, IMAGE, **{**options, "padding": SAME}).shape == (2, 3, 3, 3)


def test_rows_of_length_one_and_of_nothing():
    rows = np.float32([[3, 4], [0, 0]])
    np.testing.assert_allclose(compute("L2_NORMALIZATION", rows), [[0.6, 0.8], [0, 0]], rtol=1e-6)


def test_boxes_are_filled_up():
    boxes, scores = np.float32([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]]), np.float32([0.5, 0.9, 0.7])
    given = (boxes, scores, np.int32(4), np.float32(0.5), np.float32(0.0))
    kept, count = compute("NON_MAX_SUPPRESSION_V4", *given)
    assert count.item() == 2 and kept.tolist() == [1, 2, 0, 0]
    kept, found, count = compute("NON_MAX_SUPPRESSION_V5", *given, np.float32(0.0))
    assert count.item() == 2 and found.tolist() == pytest.approx([0.9, 0.7, 0, 0])


def test_activations_are_fused():
    weights, bias = np.eye(3, dtype=np.float32), np.float32([1, 1, 1])
    found = compute("FULLY_CONNECTED", np.float32([[-3, 3, 9]]), weights, bias, activation="RELU6", keep_num_dims=False)
    assert found.tolist() == [[0, 4, 6]]
