"""Sparse tensors as strings, variants and handles, and what is none."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


def sparse(values=(1.5, 2.5, 3.5)):
    return tf.SparseTensor([[0, 1], [2, 0], [2, 2]], tf.constant(values), [4, 3])


def same(found, wanted):
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted))


@pytest.mark.parametrize("values", [(1.5, 2.5, 3.5), (1, 2, 3), ("a", "", "long" * 100), (True, False, True)])
@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_there_and_back(sess, values, out_type):
    x = sparse(values)
    many = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(x, out_type=tf.string), x.dtype)
    one = tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(x, out_type=out_type), dtype=x.dtype)
    whole, again, single = sess.run([x, many, list(one)])
    same(again, whole)
    same(single, whole)


def test_rows_one_by_one_and_in_another_order(sess):
    rows = tf.io.serialize_many_sparse(sparse())
    found = sess.run(tf.io.deserialize_many_sparse(tf.gather(rows, [2, 0]), tf.float32))
    assert found.indices.tolist() == [[0, 0], [0, 2], [1, 1]] and found.dense_shape.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("serialized", "dtype"),
    [
        ([["a", "b", "c"]], tf.float32),
        ([["a", "b"]], tf.float32),
        (["a", "b", "c"], tf.float32),
    ],
)
def test_strings_that_are_no_tensors(sess, serialized, dtype):
    found = tf.raw_ops.DeserializeManySparse(serialized_sparse=fed(serialized), dtype=dtype)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(list(found))


def test_another_type_than_asked_for(sess):
    found = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(sparse()), tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested SparseTensor of type int32 but"):
        sess.run(found)


def test_a_handle_is_taken_once(sess):
    x = sparse()
    add = tf.raw_ops.AddManySparseToTensorsMap(
        sparse_indices=x.indices, sparse_values=x.values, sparse_shape=x.dense_shape, shared_name="m"
    )
    handles = sess.run(add)
    assert len(handles) == 4
    take = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=fed(handles[[2, 0]]), dtype=tf.float32, shared_name="m"
    )
    indices, values, shape = sess.run(list(take))
    assert indices.tolist() == [[0, 0], [0, 2], [1, 1]] and values.tolist() == [2.5, 3.5, 1.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor"):
        sess.run(list(take))
