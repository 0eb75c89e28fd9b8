"""Dilation and erosion of images: maxima over windows to which a filter is added."""

import numpy as np
import torch

from everflow.kernels.nn import morphology as nn_morphology
from tests.kernels.nn.windows import collected

RANDOM = np.random.default_rng(0)
ONES = [1, 1, 1, 1]


def test_dilation2d():
    x, w = RANDOM.normal(size=(1, 5, 6, 2)), RANDOM.normal(size=(2, 3, 2))
    expected = collected(x, (2, 3), (2, 1), "SAME", lambda win: np.nanmax(win + w, (1, 2)))
    found = nn_morphology.dilation2d(
        torch.from_numpy(x), torch.from_numpy(w), strides=[1, 2, 1, 1], rates=ONES, padding="SAME"
    )
    np.testing.assert_allclose(found, expected)
