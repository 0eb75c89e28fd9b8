"""Batch normalization in its fused forms, and normalization over neighbouring channels."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("beta", [0.5, 0.75, 0.6])
def test_local_response_normalization(sess, beta):
    x = RANDOM.rand(2, 3, 4, 9).astype(np.float32)
    squares = np.pad(x * x, [(0, 0)] * 3 + [(2, 2)])
    around = sum(squares[..., i : i + 9] for i in range(5))
    result = sess.run(tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=beta))
    np.testing.assert_allclose(result, x / (1.5 + 0.3 * around) ** beta, rtol=1e-5)
