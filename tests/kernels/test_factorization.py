"""Kernels of contrib's models, with the values that TensorFlow 1.15.5 gives."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

M = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def test_products_at_some_places():
    def product(b, transposed, places):
        return lambda: raw.MaskedMatmul(
            a=M[0], b=b, mask_indices=np.array(places, np.int64), transpose_a=False, transpose_b=transposed
        )

    assert run(product(M[1].T, False, [[0, 1], [2, 2]])).tolist() == [110.0, 822.0]
    assert run(product(M[1], True, [[0, 1], [2, 2]])).tolist() == [110.0, 822.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(product(M[1], True, [[0, 7]]))


@pytest.mark.parametrize("transposed", [False, True])
def test_sides_of_normal_equations(transposed):
    factors = np.random.RandomState(1).rand(5, 3).astype("f")
    entries = np.array([[0, 1], [0, 3], [1, 2]], np.int64)
    left, right = run(
        lambda: raw.WALSComputePartialLhsAndRhs(
            factors=factors,
            factor_weights=np.arange(1, 6, dtype=np.float32),
            unobserved_weights=0.5,
            input_weights=[1.0, 2.0],
            input_indices=entries[:, ::-1] if transposed else entries,
            input_values=[1.0, 2.0, 3.0],
            entry_weights=np.zeros(0, np.float32),
            input_block_size=np.int64(2),
            input_is_transpose=transposed,
        )
    )
    used = factors[2]
    np.testing.assert_allclose(left[1], 6 * np.outer(used, used), rtol=1e-5)
    np.testing.assert_allclose(right[1], 6.5 * 3 * used, rtol=1e-5)
    np.testing.assert_allclose(right[0], [5.6052, 4.1396, 6.3978], rtol=1e-4)


def test_sums_into_places_and_slices():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros([3, 2], np.float32))
        session.run(v.initializer)
        session.run(raw.ScatterAddNdim(input=v, indices=[[0, 1], [2, 0], [0, 1]], deltas=[1.0, 2.0, 3.0]))
        session.run(raw.ScatterAddNdim(input=v, indices=[[1]], deltas=[[5.0, 6.0]]))
        assert session.run(v).tolist() == [[0.0, 4.0], [5.0, 6.0], [2.0, 0.0]]


def test_hashes_as_floats():
    hashes = run(lambda: raw.ReinterpretStringToFloat(input_data=["a", "hello", ""]))
    np.testing.assert_allclose(hashes, [4.993892752916742e18, 2.76216947179887e18, 6.142509119745032e18])


def test_resampling():
    flat = run(lambda: raw.PeriodicResample(values=np.arange(12.0).reshape(2, 6), shape=[4, None]))
    assert flat.tolist() == np.arange(12.0).reshape(4, 3).tolist()
    spread = run(lambda: raw.PeriodicResample(values=M, shape=[4, 6, None]))
    assert spread[:2, :, 0].tolist() == [[0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]]
    back = run(lambda: raw.PeriodicResampleOpGrad(grad=spread, original_shape=[2, 3, 4], desired_shape=[4, 6, None]))
    assert back.tolist() == M.tolist()
    for wrong in ([4, 6], [4, 6, 2], [None, 2, 4]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(lambda: raw.PeriodicResample(values=M, shape=wrong))  # noqa: B023
