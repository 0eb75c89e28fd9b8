"""Convolutions, pools and morphology against plain loops over windows, for many sizes, strides and paddings."""

import itertools

import numpy as np
import pytest
import torch

from everflow.framework.windows import parse_format, slide
from everflow.kernels.nn import convolution, pooling
from everflow.kernels.nn import morphology as nn_morphology

RANDOM = np.random.default_rng(0)
ONES = [1, 1, 1, 1]


def windows(x, extent, strides, padding, dilations=(1, 1)):
    """(row, column, window with NaN outside of the image) of [N, H, W, C]."""
    fits = [slide(x.shape[1 + d], extent[d], strides[d], padding, dilations[d]) for d in (0, 1)]
    widths = [(0, 0)] + [(f.before, f.after + extent[d] * dilations[d]) for d, f in enumerate(fits)] + [(0, 0)]
    padded = np.pad(x, widths, constant_values=np.nan)
    for i, j in itertools.product(range(fits[0].output), range(fits[1].output)):
        a, b = i * strides[0], j * strides[1]
        yield (
            i,
            j,
            padded[:, a : a + extent[0] * dilations[0] : dilations[0], b : b + extent[1] * dilations[1] : dilations[1]],
        )


def collected(x, extent, strides, padding, reduce, dilations=(1, 1)):
    parts = {(i, j): reduce(w) for i, j, w in windows(x, extent, strides, padding, dilations)}
    rows, columns = (max(k[d] for k in parts) + 1 for d in (0, 1))
    return np.stack([np.stack([parts[i, j] for j in range(columns)], 1) for i in range(rows)], 1)


GRID = [
    (size, extent, strides, padding)
    for size, extent, strides, padding in itertools.product(
        [(5, 6), (7, 4)], [(1, 1), (2, 2), (3, 2), (3, 4)], [(1, 1), (2, 2), (3, 1)], ["SAME", "VALID"]
    )
]


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


@pytest.mark.parametrize("size, extent, strides, padding", GRID)
def test_pools_and_their_gradients(size, extent, strides, padding):
    x = RANDOM.integers(0, 5, size=(2, *size, 3)).astype(np.float64)
    image = torch.from_numpy(x)
    attrs = {"ksize": [1, *extent, 1], "strides": [1, *strides, 1], "padding": padding, "data_format": "NHWC"}
    largest = pooling.max_pool(image, **attrs)
    np.testing.assert_array_equal(largest, collected(x, extent, strides, padding, lambda win: np.nanmax(win, (1, 2))))
    mean = pooling.avg_pool(image, **attrs)
    np.testing.assert_allclose(mean, collected(x, extent, strides, padding, lambda win: np.nanmean(win, (1, 2))))
    for dtype in (torch.int32, torch.uint8, torch.int64):
        np.testing.assert_array_equal(pooling.max_pool(image.to(dtype), **attrs), largest)
    # Gradients by the same identity as above; the place a maximum came from holds that maximum.
    g = torch.from_numpy(RANDOM.normal(size=tuple(mean.shape)))
    back = pooling.avg_pool_grad(torch.tensor(x.shape), g, **attrs)
    torch.testing.assert_close((back * image).sum(), (mean * g).sum())
    for pooled in (largest, largest.clone()):  # with and without the places that the forward kernel keeps
        back = pooling.max_pool_grad(image, pooled, g, **attrs)
        torch.testing.assert_close((back * image).sum(), (largest * g).sum())
    attrs.pop("data_format")
    values, where = pooling.max_pool_with_argmax(image, **attrs, include_batch_in_index=True, Targmax="int64")
    np.testing.assert_array_equal(image.flatten()[where], values)


def test_a_tie_goes_to_the_first_cell():
    _, where = pooling.max_pool_with_argmax(
        torch.ones(1, 3, 3, 1),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="SAME",
        include_batch_in_index=False,
        Targmax="int32",
    )
    assert where.ravel().tolist() == [0, 2, 6, 8]
    assert where.dtype == torch.int32


def test_dilation2d():
    x, w = RANDOM.normal(size=(1, 5, 6, 2)), RANDOM.normal(size=(2, 3, 2))
    expected = collected(x, (2, 3), (2, 1), "SAME", lambda win: np.nanmax(win + w, (1, 2)))
    found = nn_morphology.dilation2d(
        torch.from_numpy(x), torch.from_numpy(w), strides=[1, 2, 1, 1], rates=ONES, padding="SAME"
    )
    np.testing.assert_allclose(found, expected)


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
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME", "data_format": "NHWC"}
    assert pooling.max_pool(x, **window).shape == (0, 2, 2, 2)
    assert pooling.avg_pool_grad(torch.tensor([0, 4, 4, 2]), torch.zeros(0, 2, 2, 2), **window).shape == (0, 4, 4, 2)


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
        pooling.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME", data_format="NHWC"),
    ]
    assert all(r.is_contiguous() for r in results)


def test_slide():
    assert slide(5, 3, 2, "SAME") == (3, 1, 1)
    assert slide(6, 3, 2, "SAME") == (3, 0, 1)
    assert slide(5, 3, 2, "VALID") == (2, 0, 0)
    assert slide(5, 2, 1, "EXPLICIT", 2, (3, 1)) == (7, 3, 1)
    with pytest.raises(ValueError, match="negative"):
        slide(2, 5, 1, "VALID")
    assert parse_format("NCDHW").arrange("n", "dhw", "c") == ["n", "c", "d", "h", "w"]
