"""Likeness of images: peak signal to noise, structural similarity, total variation."""

import numpy as np
import pytest
from scipy.ndimage import correlate1d

import everflow as tf

RANDOM = np.random.default_rng(1)
A = RANDOM.uniform(size=(2, 16, 18, 3)).astype(np.float32)
B = np.clip(A + RANDOM.normal(scale=0.1, size=A.shape), 0, 1).astype(np.float32)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def similarity(a, b, size=11, sigma=1.5, k1=0.01, k2=0.03):
    """Structural similarity of two [height, width, channels], over windows that lie within the images."""
    weights = np.exp(-((np.arange(size) - (size - 1) / 2) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    edge = size // 2

    def blur(x):
        for axis in (0, 1):
            x = correlate1d(x, weights, axis)
        return x[edge : x.shape[0] - edge, edge : x.shape[1] - edge]

    a, b = a.astype(np.float64), b.astype(np.float64)
    mean = blur(a), blur(b)
    both = mean[0] * mean[1]
    squares = mean[0] ** 2 + mean[1] ** 2
    luminance = (2 * both + k1**2) / (squares + k1**2)
    contrast = (2 * (blur(a * b) - both) + k2**2) / (blur(a * a + b * b) - squares + k2**2)
    return (luminance * contrast).mean()


def test_peak_signal_to_noise():
    wanted = -10 * np.log10(((A - B).astype(np.float64) ** 2).mean((1, 2, 3)))
    np.testing.assert_allclose(evaluate(lambda a, b: tf.image.psnr(a, b, 1.0), A, B), wanted, rtol=1e-4)


@pytest.mark.parametrize("options", [{}, {"k1": 0.05, "k2": 0.1}, {"filter_size": 7, "filter_sigma": 1.0}], ids=str)
def test_structural_similarity(options):
    found = evaluate(lambda a, b: tf.image.ssim(a, b, 1.0, **options), A, B)
    mine = {{"filter_size": "size", "filter_sigma": "sigma"}.get(key, key): value for key, value in options.items()}
    np.testing.assert_allclose(found, [similarity(a, b, **mine) for a, b in zip(A, B)], rtol=1e-3)
    np.testing.assert_allclose(evaluate(lambda a: tf.image.ssim(a, a, 1.0, **options), A), 1, rtol=1e-5)


def test_similarity_at_many_scales():
    wide = RANDOM.uniform(size=(1, 64, 64, 1)).astype(np.float32)
    near = np.clip(wide + 0.05, 0, 1).astype(np.float32)
    same, other = (
        evaluate(
            lambda a, b: tf.image.ssim_multiscale(a, b, 1.0, power_factors=(0.5, 0.5), filter_size=5), wide, second
        )
        for second in (wide, near)
    )
    np.testing.assert_allclose(same, [1], rtol=1e-5)
    assert 0 < other[0] < 1


def test_total_variation():
    wanted = np.abs(np.diff(A, axis=1)).sum((1, 2, 3)) + np.abs(np.diff(A, axis=2)).sum((1, 2, 3))
    np.testing.assert_allclose(evaluate(tf.image.total_variation, A), wanted, rtol=1e-4)
    np.testing.assert_allclose(evaluate(tf.image.total_variation, A[0]), wanted[0], rtol=1e-4)
    with pytest.raises(ValueError, match="either 3 or 4-dimensional"):
        evaluate(tf.image.total_variation, A[0, 0])


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="are incompatible"):
        evaluate(lambda a, b: tf.image.ssim(a, b, 1.0), A, B[:, :12])
