"""Sparse tensors out of order, with repeated places, too large to count, or empty."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.sparse import functions
from tests.kernels.feeding import fed

HUGE = [2**40, 2**40]


def sparse(indices, values, shape):
    rank = len(shape)
    return tf.SparseTensor(
        fed(np.array(indices, np.int64).reshape(-1, rank)), fed(np.array(values)), fed(np.array(shape, np.int64))
    )


@pytest.mark.parametrize("dims", [[5, 7], HUGE])
def test_rows_are_put_in_order(dims):
    indices = torch.tensor([[3, 1], [0, 6], [3, 0], [0, 6]])
    order = functions.row_order(indices, dims)
    assert indices[order].tolist() == [[0, 6], [0, 6], [3, 0], [3, 1]] and order.tolist()[:2] == [1, 3]
    first, groups = functions.group_ids(indices, dims)
    assert first.tolist() == [1, 2, 0] and groups.tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[0, 0], [0, 0]], r"indices\[1\] = \[0,0\] is repeated"),
        ([[1, 0], [0, 1]], r"indices\[1\] = \[0,1\] is out of order"),
        ([[0, 3]], r"indices\[0\] = \[0,3\] is out of bounds"),
        ([[0, 0], [-1, 0]], "is out of bounds"),
    ],
)
def test_places_that_are_checked(sess, indices, message):
    made = tf.sparse_to_dense(fed(indices), fed([2, 3]), fed(np.arange(len(indices))))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(made)


def test_unchecked_places_keep_the_last(sess):
    made = tf.sparse_to_dense(fed([2, 0, 2]), fed([3]), fed([1, 2, 3]), 9, validate_indices=False)
    assert sess.run(made).tolist() == [2, 9, 3]
    words = tf.sparse_to_dense(fed([1]), fed([3]), fed(["a"]), "-")
    assert sess.run(words).tolist() == [b"-", b"a", b"-"]


def test_one_value_for_all_places(sess):
    assert sess.run(tf.sparse_to_dense(fed([0, 2]), fed([4]), fed(5))).tolist() == [5, 0, 5, 0]


def test_reordering_tensors_too_large_to_count(sess):
    found = sess.run(tf.sparse_reorder(sparse([[2**39, 1], [0, 5]], [1, 2], HUGE)))
    assert found.values.tolist() == [2, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.sparse_reshape(sparse([[0, 5]], [1], HUGE), [-1]))


def test_reshaping(sess):
    x = sparse([[0, 1], [2, 3]], ["a", "b"], [3, 4])
    found = sess.run(tf.sparse_reshape(x, [2, -1]))
    assert found.indices.tolist() == [[0, 1], [1, 5]] and found.dense_shape.tolist() == [2, 6]
    empty = sess.run(tf.sparse_reshape(sparse([], np.zeros(0), [0, 4]), [4, 0]))
    assert empty.indices.shape == (0, 2) and empty.dense_shape.tolist() == [4, 0]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joined_and_split_again(sess, axis):
    x, y = sparse([[0, 1]], ["a"], [2, 2]), sparse([[1, 0]], ["b"], [2, 2])
    joined = tf.sparse_concat(axis, [x, y])
    parts = tf.sparse_split(sp_input=joined, num_split=2, axis=axis % 2)
    first, second = sess.run(parts)
    assert first.values.tolist() == [b"a"] and first.indices.tolist() == [[0, 1]]
    assert second.values.tolist() == [b"b"] and second.indices.tolist() == [[1, 0]]


def test_uneven_parts(sess):
    parts = sess.run(tf.sparse_split(sp_input=sparse([[0], [3], [4]], [1, 2, 3], [5]), num_split=3, axis=0))
    assert [p.dense_shape.tolist() for p in parts] == [[2], [2], [1]]
    assert [p.indices.tolist() for p in parts] == [[[0]], [[1]], [[0]]]


def test_slices_that_reach_over_the_end(sess):
    found = sess.run(
        tf.sparse_slice(sparse([[0, 0], [1, 2]], [1, 2], [2, 3]), fed(np.int64([1, 1])), fed(np.int64([5, 5])))
    )
    assert found.indices.tolist() == [[0, 1]] and found.dense_shape.tolist() == [1, 2]


def test_empty_rows_are_filled_where_there_are_none_to_fill(sess):
    filled, empty = sess.run(tf.sparse_fill_empty_rows(sparse([[1, 0]], ["a"], [3, 2]), "-"))
    assert filled.values.tolist() == [b"-", b"a", b"-"] and empty.tolist() == [True, False, True]
    none, flags = sess.run(tf.sparse_fill_empty_rows(sparse([], np.zeros(0), [0, 2]), 0.0))
    assert none.indices.shape == (0, 2) and flags.shape == (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.int64])
def test_two_tensors_at_a_time(sess, dtype):
    x = sparse([[0, 0], [1, 1]], np.array([5, 2], dtype), [2, 2])
    y = sparse([[0, 0], [1, 0]], np.array([3, 4], dtype), [2, 2])
    largest, smallest = sess.run([tf.sparse_maximum(x, y), tf.sparse_minimum(x, y)])
    assert largest.indices.tolist() == [[0, 0], [1, 0], [1, 1]] and largest.values.tolist() == [5, 4, 2]
    assert smallest.values.tolist() == [3, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.complex64])
@pytest.mark.parametrize("adjoint", [False, True])
def test_products_with_matrices(sess, dtype, adjoint):
    dense = np.array([[0, 2, 0], [1, 0, 3]], dtype)
    x = sparse(np.argwhere(dense), dense[dense != 0], dense.shape)
    other = np.arange(4 if adjoint else 6).reshape(-1, 2).astype(dtype)
    found = sess.run(tf.sparse_tensor_dense_matmul(x, fed(other), adjoint_a=adjoint))
    np.testing.assert_array_equal(found, (dense.T if adjoint else dense) @ other)


def test_repeated_places_add_up_in_sums(sess):
    x = sparse([[0, 0], [0, 0], [1, 1]], [1.0, 2.0, 4.0], [2, 2])
    total, rows, largest = sess.run([tf.sparse_reduce_sum(x), tf.sparse_reduce_sum(x, 1), tf.sparse_reduce_max(x, 0)])
    assert total == 7 and rows.tolist() == [3, 4] and largest.tolist() == [2, 4]
    assert sess.run(tf.sparse_add(x, fed(np.ones([2, 2])))).tolist() == [[4, 1], [1, 5]]


@pytest.mark.parametrize("keep", [False, True])
def test_reductions_of_nothing(sess, keep):
    x = sparse([], np.zeros(0), [2, 3])
    found = sess.run(tf.sparse_reduce_sum(x, 1, keepdims=keep))
    assert found.tolist() == ([[0], [0]] if keep else [0, 0])
    left = sess.run(tf.sparse_reduce_sum_sparse(x, 1, keepdims=keep))
    assert left.values.shape == (0,) and left.dense_shape.tolist() == ([2, 1] if keep else [2])


def test_division_by_what_is_zero(sess):
    x = sparse([[0, 1]], np.int32([4]), [1, 2])
    found = tf.raw_ops.SparseDenseCwiseDiv(
        sp_indices=x.indices, sp_values=x.values, sp_shape=x.dense_shape, dense=fed([[1, 0]])
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        sess.run(found)
