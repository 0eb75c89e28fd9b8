"""Sparse tensors as strings and variants, and back."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches, feed=None):
    with tf.Session() as session:
        values = session.run(list(fetches), feed)
    return values[0] if len(values) == 1 else values


@pytest.mark.parametrize(
    "values", [np.array([1.5, 2.5], np.float32), np.array([3, 4], np.int64), np.array([b"x", b""], object)]
)
@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_serialized_and_back(values, out_type):
    s = tf.SparseTensor([[0, 2], [1, 0]], values, [3, 4])
    dtype = s.dtype
    many = run(tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(s), dtype, rank=2))
    assert (
        many.indices.tolist() == [[0, 2], [1, 0]]
        and many.values.tolist() == values.tolist()
        and many.dense_shape.tolist() == [3, 4]
    )
    from everflow.ops.sparse.serialize import deserialize_sparse

    one = run(deserialize_sparse(tf.io.serialize_sparse(s, out_type=out_type), dtype))
    assert one.values.tolist() == values.tolist() and one.dense_shape.tolist() == [3, 4]


def test_ranks_that_are_told():
    one = tf.SparseTensor([[0, 1]], [5], [2, 3])
    back = tf.deserialize_many_sparse(tf.serialize_many_sparse(one), tf.int32, rank=2)
    assert back.indices.shape.as_list() == [None, 2] and back.dense_shape.shape.as_list() == [2]
    assert tf.serialize_sparse(one).shape.as_list() == [3] and tf.serialize_many_sparse(one).shape.as_list() == [
        None,
        3,
    ]


def test_other_types_are_refused():
    with pytest.raises(TypeError):
        tf.serialize_sparse([[1]])
    made = tf.serialize_many_sparse(tf.SparseTensor([[0, 1]], [5], [2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.deserialize_many_sparse(made, tf.float32).values)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.deserialize_many_sparse(tf.constant([["a", "b", "c"]]), tf.int32).values)
