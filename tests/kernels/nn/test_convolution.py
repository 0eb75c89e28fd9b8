"""Convolutions against plain loops over windows, for many sizes, strides and paddings."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.nn import convolution
from tests.kernels.nn.windows import GRID, collected

RANDOM = np.random.default_rng(0)
ONES = [1, 1, 1, 1]


@pytest.mark.parametrize("size, extent, strides, padding", GRID)
def test_convolution_and_its_gradients(size, extent, strides, padding):
    x, w = RANDOM.normal(size=(2, *size, 2)), RANDOM.normal(size=(*extent, 2, 3))
    attrs = {
        "strides": [1, *strides, 1],
        "padding": padding,
        "explicit_paddings": [],
        "data_format": "NHWC",
        "dilations": ONES,
    }
    expected = collected(x, extent, strides, padding, lambda win: np.einsum("nhwc,hwco->no", np.nan_to_num(win), w))
    image, filters = torch.from_numpy(x), torch.from_numpy(w)
    found = convolution.conv2d(image, filters, **attrs)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    # A convolution is linear in each argument: <conv(x, w), g> = <x, dx> = <w, dw>.
    g = torch.from_numpy(RANDOM.normal(size=expected.shape))
    dx = convolution.conv2d_backprop_input(torch.tensor(x.shape), filters, g, **attrs)
    dw = convolution.conv2d_backprop_filter(image, torch.tensor(w.shape), g, **attrs)
    total = (found * g).sum()
    torch.testing.assert_close((dx * image).sum(), total)
    torch.testing.assert_close((dw * filters).sum(), total)
    # Channels first is the same with the dimensions moved.
    first = {**attrs, "strides": [1, 1, *strides], "data_format": "NCHW"}
    moved = convolution.conv2d(image.movedim(-1, 1).contiguous(), filters, **first)
    np.testing.assert_allclose(moved.movedim(1, -1), expected, atol=1e-10)


@pytest.mark.parametrize("dilations", [(2, 2), (3, 1)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilated_convolution(dilations, padding):
    x, w = RANDOM.normal(size=(1, 8, 7, 1)), RANDOM.normal(size=(3, 2, 1, 2))
    expected = collected(
        x, (3, 2), (1, 1), padding, lambda win: np.einsum("nhwc,hwco->no", np.nan_to_num(win), w), dilations
    )
    attrs = {
        "strides": ONES,
        "padding": padding,
        "explicit_paddings": [],
        "data_format": "NHWC",
        "dilations": [1, *dilations, 1],
    }
    found = convolution.conv2d(torch.from_numpy(x), torch.from_numpy(w), **attrs)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    x, w = torch.randn(1, 6, 6, 4), torch.randn(3, 3, 4, 5)
    attrs = {
        "strides": [1, 2, 2, 1],
        "padding": "SAME",
        "explicit_paddings": [],
        "data_format": "NHWC",
        "dilations": ONES,
    }
    exact, found = convolution.conv2d(x, w, **attrs), convolution.conv2d(x.to(dtype), w.to(dtype), **attrs)
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), exact, atol=0.15, rtol=0.05)


def test_empty_batches():
    x, w = torch.zeros(0, 4, 4, 2), torch.zeros(2, 2, 2, 3)
    attrs = {"strides": ONES, "padding": "SAME", "explicit_paddings": [], "data_format": "NHWC", "dilations": ONES}
    assert convolution.conv2d(x, w, **attrs).shape == (0, 4, 4, 3)
    filters = convolution.conv2d_backprop_filter(x, torch.tensor(w.shape), torch.zeros(0, 4, 4, 3), **attrs)
    assert filters.shape == w.shape and not filters.any()


def test_results_are_contiguous():
    """What reads a result next, a reshape above all, should not have to copy it."""
    x, w = torch.randn(2, 6, 6, 3), torch.randn(3, 3, 3, 4)
    attrs = {
        "strides": [1, 2, 2, 1],
        "padding": "SAME",
        "explicit_paddings": [],
        "data_format": "NHWC",
        "dilations": ONES,
    }
    y = convolution.conv2d(x, w, **attrs)
    results = [
        y,
        convolution.conv2d_backprop_input(torch.tensor(x.shape), w, y, **attrs),
        convolution.conv2d_backprop_filter(x, torch.tensor(w.shape), y, **attrs),
    ]
    assert all(r.is_contiguous() for r in results)


# --- filters that cover whole rows, as those over sentences do ---------------------------------


@pytest.mark.parametrize(
    ("image", "window", "stride", "padding"),
    [
        ((2, 7, 5, 1), (3, 5, 1, 4), 1, "VALID"),
        ((2, 8, 5, 3), (3, 5, 3, 4), 2, "VALID"),
        ((3, 9, 4, 2), (2, 4, 2, 3), 1, [[0, 0], [1, 2], [0, 0], [0, 0]]),
        ((2, 9, 1, 3), (3, 1, 3, 4), 2, "VALID"),
        ((2, 3, 4, 2), (3, 4, 2, 3), 1, "VALID"),
        ((2, 1, 4, 2), (1, 4, 2, 3), 1, "VALID"),
    ],
)
def test_values_and_gradients_of_filters_over_whole_rows(image, window, stride, padding):
    x, w = RANDOM.normal(size=image), RANDOM.normal(size=window)
    above, below = (0, 0) if padding == "VALID" else padding[1]
    rows = np.pad(x, [(0, 0), (above, below), (0, 0), (0, 0)])
    starts = range(0, rows.shape[1] - window[0] + 1, stride)
    expected = np.stack([np.einsum("nhwc,hwco->no", rows[:, i : i + window[0]], w) for i in starts], 1)[:, :, None]
    by_x, by_w = np.zeros_like(rows), np.zeros_like(w)
    for place, i in enumerate(starts):
        slope = 2 * expected[:, place, 0]
        by_x[:, i : i + window[0]] += np.einsum("no,hwco->nhwc", slope, w)
        by_w += np.einsum("nhwc,no->hwco", rows[:, i : i + window[0]], slope)
    with tf.Graph().as_default(), tf.Session() as sess:
        image_tensor, filter_tensor = tf.constant(x), tf.constant(w)
        y = tf.nn.conv2d(image_tensor, filter_tensor, strides=[1, stride, 1, 1], padding=padding)
        got = sess.run([y, *tf.gradients(y * y, [image_tensor, filter_tensor])])
    for result, wanted in zip(got, [expected, by_x[:, above : above + image[1]], by_w], strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9)
