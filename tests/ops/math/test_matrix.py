"""Products of matrices and tensors."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "complex64", "complex128"])
def test_matmul_types(sess, dtype):
    a = np.array([[1, 2], [3, 4]]).astype(dtype)
    result = tf.matmul(a, a)
    assert result.op.type == "MatMul"
    np.testing.assert_array_equal(sess.run(result), a @ a)


def test_adjoints_conjugate(sess):
    z = RANDOM.randn(2, 2) + 1j * RANDOM.randn(2, 2)
    w = RANDOM.randn(2, 2) + 1j * RANDOM.randn(2, 2)
    np.testing.assert_allclose(sess.run(tf.matmul(z, w, adjoint_a=True)), z.conj().T @ w)
    np.testing.assert_allclose(sess.run(tf.matmul(z[None], w[None], transpose_b=True)), (z @ w.T)[None])
    with pytest.raises(ValueError, match="Only one of transpose_a and adjoint_a"):
        tf.matmul(z, w, transpose_a=True, adjoint_a=True)


def test_batches_broadcast(sess):
    a, b = RANDOM.randn(5, 1, 2, 3), RANDOM.randn(4, 3, 2)
    result = tf.matmul(a, b)
    assert result.op.type == "BatchMatMulV2"
    assert result.shape.as_list() == [5, 4, 2, 2]
    np.testing.assert_allclose(sess.run(result), a @ b)


def test_static_shapes_and_refusals(sess):
    p, free = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32)
    assert tf.matmul(p, tf.ones([3, 5])).shape.as_list() == [None, 5]
    assert tf.matmul(p, p, transpose_b=True).shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(ValueError, match="rank"):
        tf.matmul(tf.ones([3]), tf.ones([3, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch"):
        sess.run(tf.matmul(p, free), {p: np.ones((2, 3)), free: np.ones((2, 2))})


def test_sparse_hints_choose_another_op(sess):
    a = np.eye(3, dtype=np.float32)
    result = tf.matmul(a, a * 2, a_is_sparse=True)
    assert result.op.type == "SparseMatMul"
    np.testing.assert_array_equal(sess.run(result), a * 2)
    mixed = tf.sparse_matmul(tf.cast(a, tf.bfloat16), a)
    assert mixed.dtype is tf.float32


def test_cross(sess):
    np.testing.assert_array_equal(sess.run(tf.cross([1, 2, 3], [3, 2, 1])), np.cross([1, 2, 3], [3, 2, 1]))
    with pytest.raises(ValueError, match="not compatible"):
        tf.cross([1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize("axes", [1, 2, 0, [[2], [0]], [[1, 2], [1, 0]], [[-1], [-3]], (2, 0)])
@pytest.mark.parametrize("shape", [[2, 3, 4], [None, 3, None], None])
def test_tensordot(sess, axes, shape):
    a, b = RANDOM.randn(2, 3, 4), RANDOM.randn(4, 3, 5)
    if axes == 2:
        b = b.transpose(1, 0, 2)
    p = tf.placeholder(tf.float64, shape)
    result = tf.tensordot(p, b, axes)
    wanted = np.tensordot(a, b, axes)
    assert result.shape.is_compatible_with(wanted.shape)
    np.testing.assert_allclose(sess.run(result, {p: a}), wanted)


def test_tensordot_refuses():
    a = tf.ones([2, 3])
    for axes in (-1, 4, [[0, 1], [0]], [[0]]):
        with pytest.raises(ValueError, match="axes"):
            tf.tensordot(a, a, axes)
