"""Kernels that keep the norm of what they are applied to."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ConvolutionDeltaOrthogonal", [3, 3, 2, 4]),
        ("ConvolutionOrthogonal1D", [3, 2, 4]),
        ("ConvolutionOrthogonal2D", [3, 3, 2, 3]),
        ("ConvolutionOrthogonal3D", [2, 2, 2, 2, 3]),
    ],
)
def test_convolution_kernels_keep_norms(name, shape):
    from everflow.ops.variables import convolution_initializers as initializers_convolution

    kernel = run(getattr(initializers_convolution, name)(seed=1)(shape))
    assert kernel.shape == tuple(shape)
    # Of a circular convolution, the matrix of each frequency has orthonormal rows.
    axes = tuple(range(len(shape) - 2))
    spectrum = np.fft.fftn(kernel, s=[5] * len(axes), axes=axes)
    product = spectrum @ spectrum.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(shape[-2]), product.shape), atol=1e-5)
