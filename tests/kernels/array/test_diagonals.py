"""Diagonals in and out of matrices: bands, batches, strings, and bands that lie outside."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

BATCH = np.arange(1, 25).reshape(2, 3, 4)


def test_tensors_of_twice_the_rank(sess):
    x = np.arange(6).reshape(2, 3)
    whole = tf.diag(fed(x))
    there, back = sess.run([whole, tf.diag_part(whole)])
    np.testing.assert_array_equal(there, np.diag(x.ravel()).reshape(2, 3, 2, 3))
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool", "complex64"])
def test_batches_of_matrices(sess, dtype):
    x = fed(BATCH.astype(dtype))
    diagonal = tf.matrix_diag_part(x)
    part, made, replaced = sess.run(
        [diagonal, tf.matrix_diag(diagonal), tf.matrix_set_diag(x, tf.zeros_like(diagonal))]
    )
    wanted = np.diagonal(BATCH, axis1=1, axis2=2).astype(dtype)
    np.testing.assert_array_equal(part, wanted)
    np.testing.assert_array_equal(made, np.stack([np.diag(row) for row in wanted]))
    expected = BATCH.astype(dtype).copy()
    expected[:, range(3), range(3)] = 0
    np.testing.assert_array_equal(replaced, expected)


@pytest.mark.parametrize("k", [(-2, 1), (0, 3), (-1, -1), (2, 2), (-2, 3)])
def test_bands(sess, k):
    low, high = k
    x = fed(BATCH)
    found = sess.run(tf.raw_ops.MatrixDiagPartV2(input=x, k=fed(list(k)), padding_value=-7))
    rows = [np.diagonal(BATCH, d, 1, 2) for d in range(high, low - 1, -1)]
    longest = max(row.shape[1] for row in rows)
    wanted = np.stack([np.pad(r, [(0, 0), (0, longest - r.shape[1])], constant_values=-7) for r in rows], 1)
    np.testing.assert_array_equal(found, wanted[:, 0] if low == high else wanted)
    ones = np.ones(found.shape, BATCH.dtype)
    replaced = sess.run(tf.raw_ops.MatrixSetDiagV2(input=x, diagonal=ones, k=fed(list(k))))
    place = np.arange(4)[None] - np.arange(3)[:, None]
    np.testing.assert_array_equal(replaced, np.where((place >= low) & (place <= high), 1, BATCH))


def test_a_band_alone_makes_a_matrix(sess):
    band = fed([[8, 9, 0], [1, 2, 3]])
    made = tf.raw_ops.MatrixDiagV2(diagonal=band, k=fed([0, 1]), num_rows=-1, num_cols=fed(4), padding_value=-1)
    assert sess.run(made).tolist() == [[1, 8, -1, -1], [-1, 2, 9, -1], [-1, -1, 3, 0]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.diag_part(fed(np.ones([2, 3]))), None),
        (lambda: tf.diag_part(fed(np.ones([2, 2, 2]))), None),
        (lambda: tf.matrix_diag(fed(1.0)), "at least 1-dim"),
        (lambda: tf.matrix_diag_part(fed([1.0])), "at least 2-dim"),
        (lambda: tf.raw_ops.MatrixDiagPartV2(input=fed(BATCH), k=fed([4]), padding_value=0), "out of bound"),
        (lambda: tf.raw_ops.MatrixDiagPartV2(input=fed(BATCH), k=fed([1, 0]), padding_value=0), "must not be larger"),
        (
            lambda: tf.raw_ops.MatrixDiagPartV2(input=fed(BATCH), k=fed([0, 1, 2]), padding_value=0),
            "one or two elements",
        ),
        (lambda: tf.matrix_set_diag(fed(BATCH), fed(np.ones([2, 2], np.int64))), None),
        (
            lambda: tf.raw_ops.MatrixDiagV2(diagonal=fed([1, 2]), k=0, num_rows=fed(1), num_cols=-1, padding_value=0),
            "The number of rows is too small",
        ),
        (
            lambda: tf.raw_ops.MatrixDiagV2(
                diagonal=fed([1, 2]), k=0, num_rows=fed(3), num_cols=fed(3), padding_value=0
            ),
            "is not consistent",
        ),
    ],
)
def test_diagonals_that_can_not_be(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)
