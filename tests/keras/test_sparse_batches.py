"""Sparse matrices as inputs of models, and sparse and ragged tensors as their outputs, batch by batch."""

import numpy as np

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.engine.data_checks import slice_arrays

ROWS = np.array([[1, 0, 0], [1, 2, 0], [4, 0, 6]], np.float32)


def outputs_of(make, rows=ROWS):
    model = tf.keras.Sequential([tf.keras.layers.Lambda(make, input_shape=(3,))])
    return model.predict(rows, batch_size=2)


def as_ragged(x):
    return tf.RaggedTensor.from_tensor(x, padding=0)


def test_ragged_outputs_are_put_together():
    assert outputs_of(as_ragged).to_list() == [[1], [1, 2], [4, 0, 6]]
    with eager_mode():
        assert outputs_of(as_ragged).to_list() == [[1], [1, 2], [4, 0, 6]]


def sparse(x):
    places = tf.where(tf.not_equal(x, 0))
    return tf.SparseTensor(places, tf.gather_nd(x, places), tf.shape(x, out_type=tf.int64))


def test_sparse_outputs_are_put_together():
    def check(found):
        assert isinstance(found, tf.SparseTensorValue) and tuple(found.dense_shape) == (3, 3)
        assert found.indices.tolist() == [[0, 0], [1, 0], [1, 1], [2, 0], [2, 2]] and found.values.tolist() == [
            1,
            1,
            2,
            4,
            6,
        ]

    check(outputs_of(sparse))
    with eager_mode():
        check(outputs_of(sparse))


def test_sparse_inputs_are_cut_into_batches():
    with eager_mode():
        inputs = tf.keras.Input((3,), sparse=True)
        model = tf.keras.Model(inputs, tf.keras.layers.Lambda(lambda x: tf.sparse.to_dense(x))(inputs))
        matrix = tf.SparseTensor([[0, 0], [1, 0], [1, 1], [2, 0], [2, 2]], [1.0, 1.0, 2.0, 4.0, 6.0], [3, 3])
        np.testing.assert_allclose(model.predict(matrix, batch_size=2), ROWS)


def test_rows_of_a_sparse_value_in_another_order():
    value = tf.SparseTensorValue(np.array([[0, 1], [2, 0]]), np.array([5, 7]), (3, 2))
    (found,) = slice_arrays([value], np.array([2, 1, 0]))
    assert found.indices.tolist() == [[0, 0], [2, 1]]
    assert found.values.tolist() == [7, 5] and tuple(found.dense_shape) == (3, 2)


def test_a_function_takes_sparse_values():
    holder = tf.sparse_placeholder(tf.float32)
    double = tf.keras.backend.function([holder], [holder.values * 2])
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([3.0], np.float32), np.array([2, 2]))
    assert double([value])[0].tolist() == [6]
