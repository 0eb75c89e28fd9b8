"""Static shapes of the parts of sparse tensors."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sparse(dense):
    """A SparseTensor of the non-zero elements of an array."""
    dense = np.asarray(dense)
    indices = np.argwhere(dense)
    return tf.SparseTensor(indices, dense[tuple(indices.T)], dense.shape)


def dense(value):
    out = np.zeros(value.dense_shape, value.values.dtype)
    for index, item in zip(value.indices, value.values):
        out[tuple(index)] += item
    return out


M = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, -3, 0]])


def test_static_parts():
    s = sparse(M)
    assert str(tf.sparse_reshape(s, [-1, 6]).shape) == "(2, 6)"
    assert [str(t.shape) for t in (tf.shape(s), tf.size(s), tf.rank(s))] == ["(2,)", "()", "()"]
    assert str(tf.sparse_reduce_sum(s, 1).shape) == "(3,)" and str(tf.sparse_transpose(s, [1, 0]).shape) == "(4, 3)"


def parts(sparse):
    return [t.shape.as_list() for t in (sparse.indices, sparse.values, sparse.dense_shape)]


def test_ranks_go_through():
    s = tf.sparse_placeholder(tf.float32, [3, 4])
    assert parts(tf.sparse_slice(s, [0, 0], [1, 1])) == [[None, 2], [None], [2]]
    assert parts(tf.sparse_add(s, s)) == [[None, 2], [None], [2]]
    assert parts(tf.sparse_reshape(s, [2, 3, 2])) == [[None, 3], [None], [3]]
    assert parts(tf.sparse_split(sp_input=s, num_split=2, axis=1)[0]) == [[None, 2], [None], [2]]
    filled, empty = tf.sparse_fill_empty_rows(s, 0.0)
    assert parts(filled) == [[None, 2], [None], [2]] and empty.shape.as_list() == [3]


def test_counts_that_are_known_add_up():
    a, b = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2]), tf.SparseTensor([[0, 1]], [3], [2, 2])
    assert parts(tf.sparse_concat(0, [a, b])) == [[3, 2], [3], [2]]


@pytest.mark.parametrize(
    ("axis", "keep", "shape"), [(0, False, [4]), (1, True, [3, 1]), (None, False, []), ([0, -1], True, [1, 1])]
)
def test_reductions(axis, keep, shape):
    s = tf.SparseTensor([[0, 0]], [1.0], [3, 4])
    assert tf.sparse_reduce_sum(s, axis, keepdims=keep).shape.is_compatible_with(shape)
    with tf.Session() as session:
        assert session.run(tf.sparse_reduce_sum(s, axis, keepdims=keep)).shape == tuple(shape)


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_products(adjoint_a, adjoint_b):
    s = tf.SparseTensor([[0, 0]], [1.0], [4, 3] if adjoint_a else [3, 4])
    b = tf.placeholder(tf.float32, [5, None] if adjoint_b else [None, 5])
    assert tf.sparse_tensor_dense_matmul(s, b, adjoint_a, adjoint_b).shape.as_list() == [3, 5]
    with pytest.raises(ValueError):
        tf.sparse_tensor_dense_matmul(s, tf.zeros([7, 7]), adjoint_a, adjoint_b)


@pytest.mark.parametrize("sizes", [[-1, 400], [300, -1], [300, 400]])
def test_the_shape_of_a_large_tensor_made_anew_is_known(sizes):
    s = tf.sparse_reshape(tf.SparseTensor([[0, 1], [299, 399]], [1.0, 2.0], [300, 400]), sizes)
    assert tf.sparse_tensor_dense_matmul(s, tf.zeros([400, 2])).shape.as_list() == [300, 2]


def test_sizes_below_none_are_refused_when_it_runs():
    s = tf.sparse_reshape(tf.SparseTensor([[0, 1]], [1.0], [3, 4]), tf.constant([-2, -6], tf.int64))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="-2"):
        session.run(s)
