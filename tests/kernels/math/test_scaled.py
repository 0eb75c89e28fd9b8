"""x + a * y is rounded twice, in place or not."""

import numpy as np
import pytest
import torch

from everflow.kernels.math.scaled import add_scaled, add_scaled_


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.1, -3.0, 0.0])
def test_the_bits_of_a_product_and_a_sum(dtype, scale):
    random = np.random.RandomState(0)
    x, y = random.randn(2, 5000).astype(dtype)
    expected = x + y * dtype(scale)
    a, b = torch.from_numpy(x.copy()), torch.from_numpy(y)
    scale = dtype(scale).item()
    assert add_scaled(a, b, scale).numpy().tobytes() == expected.tobytes()
    out = torch.empty_like(a)
    assert add_scaled(a, b, scale, out=out) is out and out.numpy().tobytes() == expected.tobytes()
    assert a.numpy().tobytes() == x.tobytes()
    assert add_scaled_(a, b, scale) is a and a.numpy().tobytes() == expected.tobytes()


def test_whole_numbers():
    x = torch.tensor([1, 2])
    assert add_scaled(x, x, 3).tolist() == [4, 8] and add_scaled_(x, x, -1).tolist() == [0, 0]
