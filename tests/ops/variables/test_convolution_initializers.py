"""Kernels that keep the norm of what they are applied to."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.variables import convolution_initializers as init

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


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (init.convolutional_delta_orthogonal, [3, 3]),
        (init.convolutional_delta_orthogonal, [3, 3, 4, 2]),
        (init.convolutional_orthogonal_1d, [3, 3, 2, 2]),
        (init.convolutional_orthogonal_2d, [3, 3, 4, 2]),
        (init.convolutional_orthogonal_2d, [3, 2, 2, 4]),
        (init.convolutional_orthogonal_3d, [3, 2, 2]),
    ],
)
def test_shapes_without_such_a_kernel(make, shape):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        make()(shape)


def test_all_but_the_middle_is_zero():
    with tf.Graph().as_default(), tf.Session() as sess:
        kernel = sess.run(init.convolutional_delta_orthogonal(gain=2.0, seed=1)([3, 3, 2, 4]))
    assert np.count_nonzero(np.abs(kernel).sum((2, 3))) == 1
    np.testing.assert_allclose(kernel[1, 1] @ kernel[1, 1].T, 4 * np.eye(2), atol=1e-5)


@pytest.mark.parametrize("make", [init.convolutional_orthogonal_1d, init.convolutional_delta_orthogonal])
def test_types_and_configurations(make):
    with tf.Graph().as_default():
        assert make(dtype=tf.float64)([3, 2, 2]).dtype == tf.float64
        assert make.from_config(make(gain=3.0, seed=5).get_config()).get_config()["gain"] == 3.0
        with pytest.raises(ValueError):
            make(dtype=tf.int32)
