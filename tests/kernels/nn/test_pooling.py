"""Pools against plain loops over windows, for many sizes, strides and paddings."""

import numpy as np
import pytest
import torch

from everflow.kernels.nn import pooling
from tests.kernels.nn.windows import GRID, collected

RANDOM = np.random.default_rng(0)


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


def test_empty_batches():
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME", "data_format": "NHWC"}
    assert pooling.max_pool(torch.zeros(0, 4, 4, 2), **window).shape == (0, 2, 2, 2)
    assert pooling.avg_pool_grad(torch.tensor([0, 4, 4, 2]), torch.zeros(0, 2, 2, 2), **window).shape == (0, 4, 4, 2)


def test_results_are_contiguous():
    """What reads a result next, a reshape above all, should not have to copy it."""
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NHWC"}
    assert pooling.max_pool(torch.randn(2, 6, 6, 3), **window).is_contiguous()


def test_equal_cells_of_a_volume_all_get_the_gradient():
    x = torch.ones(1, 3, 3, 3, 1)
    options = {"ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "SAME", "data_format": "NDHWC"}
    grad = pooling.max_pool_grad(x, torch.ones_like(x), torch.ones_like(x), **options)
    assert grad[0, 0, 0, :, 0].tolist() == [1, 2, 2]
    assert grad[0, 1, 1, :, 0].tolist() == [4, 8, 8]
    rows = torch.arange(8.0).reshape(1, 2, 2, 2, 1)
    whole = {**options, "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
    grad = pooling.max_pool_grad(rows, rows[:, 1:, 1:, 1:], torch.full((1, 1, 1, 1, 1), 3.0), **whole)
    assert grad.flatten().tolist() == [0, 0, 0, 0, 0, 0, 0, 3]
