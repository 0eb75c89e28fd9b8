"""Products of matrices: empty ones, odd types, and what is said where they don't fit."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.math import matrix
from everflow.native.values import input_value
from tests.kernels.feeding import fed
from tests.native.expressions import compiled

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(2, 0, 3), (0, 2, 3), (2, 3, 0)])
def test_nothing_adds_up_to_zero(sess, rows, inner, columns):
    a, b = np.ones((rows, inner), np.float32), np.ones((inner, columns), np.float32)
    product, batch = sess.run([tf.matmul(fed(a), fed(b)), tf.raw_ops.BatchMatMulV2(x=fed(a[None]), y=fed(b[None]))])
    assert product.tolist() == np.zeros((rows, columns)).tolist() and batch.shape == (1, rows, columns)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.int64, np.complex128])
@pytest.mark.parametrize(("left", "right"), [(False, False), (True, False), (False, True), (True, True)])
def test_sides_are_transposed_but_not_conjugated(sess, dtype, left, right):
    a, b = (RANDOM.randint(-4, 5, shape) for shape in ((3, 4), (4, 2)))
    if dtype is np.complex128:
        a, b = a + 1j * RANDOM.randint(-4, 5, a.shape), b - 2j
    a, b = a.astype(dtype), b.astype(dtype)
    product = tf.raw_ops.MatMul(
        a=fed(a.T.copy() if left else a), b=fed(b.T.copy() if right else b), transpose_a=left, transpose_b=right
    )
    np.testing.assert_array_equal(sess.run(product), a @ b)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: tf.raw_ops.MatMul(a=x(2, 3), b=x(2, 3)), None),
        (lambda x: tf.raw_ops.MatMul(a=x(2), b=x(2, 3)), None),
        (lambda x: tf.raw_ops.BatchMatMulV2(x=x(2), y=x(2, 2)), "ndims must be >= 2"),
        (lambda x: tf.raw_ops.BatchMatMulV2(x=x(4, 2, 3), y=x(4, 2, 3)), "mismatch In.1. shape: 3 vs. 2"),
        (lambda x: tf.raw_ops.BatchMatMulV2(x=x(4, 2, 3), y=x(5, 3, 2)), "compatible batch dimensions"),
        (lambda x: tf.raw_ops.BatchMatMul(x=x(4, 2, 3), y=x(3, 2)), "different ndims"),
        (
            lambda x: tf.raw_ops.BatchMatMul(x=x(4, 2, 3), y=x(1, 3, 2)),
            r"In\[0\].dim\(0\) and In\[1\].dim\(0\) must be the same",
        ),
    ],
)
def test_what_does_not_fit(sess, build, message):
    product = build(lambda *shape: fed(np.ones(shape, np.float32)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(product)


def test_sparse_hints_and_short_floats_still_multiply_in_single_precision(sess):
    a, b = np.float32([[1, 0], [0, 2]]), np.float32([[3, 4], [5, 6]])
    product = tf.raw_ops.SparseMatMul(a=tf.cast(a, tf.bfloat16), b=tf.cast(b, tf.bfloat16), a_is_sparse=True)
    found = sess.run(product)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, a @ b)


@pytest.mark.parametrize("shape", [(1, 4, 3), (7, 5, 9), (8, 48, 33), (64, 3, 64)])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_small_products_in_machine_code(shape, transposed):
    rows, inner, columns = shape
    random = np.random.RandomState(0)
    a, b = random.randn(rows, inner).astype("f4"), random.randn(inner, columns).astype("f4")
    given = [x.T.copy() if t else x for x, t in zip((a, b), transposed, strict=True)]
    values = [input_value(i, x.dtype, x.shape) for i, x in enumerate(given)]
    made = matrix.product(*values, *transposed)
    np.testing.assert_allclose(compiled([made], given)[0], a @ b, rtol=1e-4, atol=1e-5)


def test_large_products_and_wrong_ones_are_left_to_the_library():
    large, wrong = input_value(0, "f4", [300, 300]), input_value(1, "f4", [3, 5])
    assert matrix.product(large, large, False, False) is None
    assert matrix.product(wrong, wrong, False, False) is None
    assert matrix.product(wrong, wrong, False, True).shape == (3, 3)
