"""Gradients of sparse ops: for the values, and where there is one, for the dense operand."""

import numpy as np
import pytest

import everflow as tf

INDICES = [[0, 1], [1, 0], [2, 3]]


def sparse(values, shape=(3, 4)):
    return tf.SparseTensor(INDICES, values, shape)


@pytest.fixture
def values(sess):
    return tf.constant([1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda v: tf.sparse_tensor_to_dense(sparse(v)) * np.arange(12.0, dtype=np.float32).reshape(3, 4), [1, 4, 11]),
        (lambda v: tf.sparse_reduce_sum(sparse(v), 0) * [1.0, 2.0, 3.0, 4.0], [2, 1, 4]),
        (lambda v: tf.sparse_reduce_sum(sparse(v), 1, keepdims=True) * [[1.0], [2.0], [3.0]], [1, 2, 3]),
        (lambda v: tf.sparse_reduce_sum(sparse(v)) * 5.0, [5, 5, 5]),
        (lambda v: tf.sparse_slice(sparse(v), [1, 0], [2, 2]).values * 7.0, [0, 7, 0]),
        (lambda v: tf.sparse_add(sparse(v), sparse(v)).values, [2, 2, 2]),
        (lambda v: tf.sparse_reorder(tf.SparseTensor(INDICES[::-1], v, [3, 4])).values * [1.0, 2.0, 3.0], [3, 2, 1]),
        (lambda v: tf.sparse_fill_empty_rows(sparse(v, (5, 4)), 0.0)[0].values, [1, 1, 1]),
        (lambda v: (sparse(v) * tf.constant([[2.0], [3.0], [4.0]])).values, [2, 3, 4]),
        (lambda v: (sparse(v) / tf.constant([[2.0], [4.0], [8.0]])).values, [0.5, 0.25, 0.125]),
    ],
)
def test_of_values(sess, values, function, expected):
    np.testing.assert_allclose(sess.run(tf.gradients(function(values), values)[0]), expected)


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_of_both_operands_of_a_product(sess, values, adjoint_a, adjoint_b):
    inner = 3 if adjoint_a else 4
    b = tf.constant(np.arange(1.0, 1 + 2 * inner).reshape((2, inner) if adjoint_b else (inner, 2)), tf.float32)
    made = tf.sparse_tensor_dense_matmul(sparse(values), b, adjoint_a, adjoint_b)
    dense = tf.matmul(tf.sparse_tensor_to_dense(sparse(values)), b, transpose_a=adjoint_a, transpose_b=adjoint_b)
    weights = tf.cast(tf.reshape(tf.range(tf.size(made)), tf.shape(made)), tf.float32)
    found, wanted = (sess.run(tf.gradients(y, [values, b], weights)) for y in (made, dense))
    for have, want in zip(found, wanted):
        np.testing.assert_allclose(have, want)


def test_of_defaults(sess, values):
    default = tf.constant(3.0)
    dense = tf.sparse_tensor_to_dense(sparse(values), default)
    assert sess.run(tf.gradients(dense, default)[0]) == 9.0
    filled = tf.sparse_fill_empty_rows(sparse(values, (5, 4)), default)[0].values
    assert sess.run(tf.gradients(filled, default)[0]) == 2.0


def test_of_a_dense_operand_that_was_broadcast(sess, values):
    row = tf.constant([1.0, 2.0, 3.0, 4.0])
    assert sess.run(tf.gradients((sparse(values) * row).values, row)[0]).tolist() == [2, 1, 0, 4]
    dense = tf.zeros([3, 4])
    assert (sess.run(tf.gradients(tf.sparse_add(sparse(values), dense), dense)[0]) == 1).all()


def test_what_has_none(sess, values):
    total = tf.raw_ops.SparseDenseCwiseAdd(
        sp_indices=np.int64(INDICES), sp_values=values, sp_shape=np.int64([3, 4]), dense=tf.ones([4])
    )
    with pytest.raises(NotImplementedError):
        tf.gradients(total, values)
    joined = tf.sparse_concat(0, [sparse(values), sparse(values)])
    assert tf.gradients(joined.values, values) == [None]
    z = tf.constant([1j, 2j, 3j])
    product = tf.sparse_tensor_dense_matmul(sparse(z), tf.ones([3, 4], tf.complex128), adjoint_a=True)
    with pytest.raises(NotImplementedError):
        tf.gradients(product, z, tf.ones_like(product))
