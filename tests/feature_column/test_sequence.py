"""Columns of sequences, and input made of them. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column
STEPS = fc.sequence_categorical_column_with_identity("i", 4)


def sparse(rows, dtype):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(
        np.array(indices, "int64").reshape(-1, 2), tf.constant(sum(rows, []), dtype), [len(rows), max(map(len, rows))]
    )


def run(features, columns):
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = tf.contrib.feature_column.sequence_input_layer(features(), columns)
        session.run(tf.global_variables_initializer())
        tensor, lengths = session.run(outputs)
        return tensor.tolist(), lengths.tolist()


def test_categories_in_steps():
    tensor, lengths = run(lambda: {"i": sparse([[0, 2], [], [3]], tf.int64)}, [fc.indicator_column(STEPS)])
    assert lengths == [2, 0, 1]
    assert tensor == [[[1, 0, 0, 0], [0, 0, 1, 0]], [[0] * 4, [0] * 4], [[0, 0, 0, 1], [0] * 4]]


def test_embedded_steps():
    column = fc.embedding_column(STEPS, 2, initializer=tf.constant_initializer(np.arange(8.0)))
    tensor, lengths = run(lambda: {"i": sparse([[0, 2], [], [3]], tf.int64)}, [column])
    assert tensor == [[[0, 1], [4, 5]], [[0, 0], [0, 0]], [[6, 7], [0, 0]]] and lengths == [2, 0, 1]


def test_numbers_in_steps():
    column = fc.sequence_numeric_column("x", 2, default_value=-1.0)
    tensor, lengths = run(lambda: {"x": sparse([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0], []], tf.float32)}, [column])
    assert tensor == [[[1, 2], [3, 4]], [[5, 6], [-1, -1]], [[-1, -1], [-1, -1]]] and lengths == [2, 1, 0]


def test_lengths_must_agree():
    columns = [fc.sequence_numeric_column("x"), fc.indicator_column(STEPS)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run(lambda: {"i": sparse([[0, 2], [1]], tf.int64), "x": sparse([[1.0], [2.0, 3.0]], tf.float32)}, columns)


def test_sequences_and_other_columns_are_told_apart():
    with pytest.raises(ValueError, match="must not be of type _SequenceCategoricalColumn"):
        fc.input_layer({"i": sparse([[1]], tf.int64)}, [fc.embedding_column(STEPS, 2)])
    with pytest.raises(ValueError, match="must be of type _SequenceCategoricalColumn"):
        run(lambda: {"i": sparse([[1]], tf.int64)}, [fc.indicator_column(fc.categorical_column_with_identity("i", 4))])
    with pytest.raises(ValueError, match="SequenceDenseColumn"):
        run(lambda: {"x": sparse([[1.0]], tf.float32)}, [fc.numeric_column("x")])
