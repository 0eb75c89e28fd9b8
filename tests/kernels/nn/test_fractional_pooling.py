"""Pools over windows of uneven size."""

import pytest
import torch

from everflow.kernels.nn import fractional_pooling as nn_fractional_pooling


@pytest.mark.parametrize(
    "pseudo_random, rows", [(False, [0, 1, 3, 5, 7, 8, 9, 11, 12]), (True, [0, 1, 3, 4, 6, 7, 9, 10, 12])]
)
def test_fractional_pool_windows(pseudo_random, rows):
    x = torch.arange(12.0 * 13).view(1, 12, 13, 1)
    attrs = {
        "pooling_ratio": [1.0, 1.44, 1.73, 1.0],
        "pseudo_random": pseudo_random,
        "deterministic": True,
        "seed": 7,
        "seed2": 11,
    }
    pooled, row_bounds, column_bounds = nn_fractional_pooling.fractional_max_pool(x, overlapping=False, **attrs)
    assert row_bounds.tolist() == rows
    assert pooled[0, :, 0, 0].tolist() == [(end - 1) * 13 + column_bounds[1].item() - 1 for end in rows[1:]]
