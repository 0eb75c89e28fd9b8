"""Columns written down and made again, alone, in lists and in layers."""

import pytest

import everflow as tf
from everflow.feature_column import serialization
from everflow.feature_column.shared_embeddings import shared_embeddings
from everflow.legacy.inner.feature_column import _LinearModelLayer

pytestmark = pytest.mark.usefixtures("own_graph")
NUMBER = tf.feature_column.numeric_column("a", shape=2, dtype=tf.int32)
WORDS = tf.feature_column.categorical_column_with_vocabulary_list("c", ["x", "y"])


def test_a_column_there_and_back():
    written = serialization.serialize_feature_column(NUMBER)
    assert written["class_name"] == "NumericColumn" and written["config"]["dtype"] == "int32"
    assert serialization.deserialize_feature_column(written) == NUMBER
    assert serialization.serialize_feature_column("key") == "key"
    with pytest.raises(ValueError):
        serialization.serialize_feature_column(3)


def test_a_part_of_two_columns_is_one():
    columns = [tf.feature_column.indicator_column(WORDS), tf.feature_column.embedding_column(WORDS, 2)]
    a, b = serialization.deserialize_feature_columns(serialization.serialize_feature_columns(columns))
    assert a.categorical_column is b.categorical_column and a == columns[0]


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        {"config": {}},
        {"class_name": "NumericColumn"},
        {"class_name": "Nothing", "config": {}},
        {"class_name": "NumericColumn", "config": {"key": "a"}},
    ],
)
def test_what_is_no_column(wrong):
    with pytest.raises(ValueError):
        serialization.deserialize_feature_column(wrong)


def test_functions_and_classes_of_ones_own():
    def half(x):
        return x / 2

    written = serialization.serialize_feature_column(tf.feature_column.numeric_column("a", normalizer_fn=half))
    assert serialization.deserialize_feature_column(written, {"half": half}).normalizer_fn is half


def test_a_linear_layer_there_and_back():
    layer = _LinearModelLayer([NUMBER, WORDS], units=3, sparse_combiner="mean", trainable=False, name="named")
    again = _LinearModelLayer.from_config(layer.get_config())
    assert again.get_config() == layer.get_config() and not again.trainable
    made = again({"a": tf.constant([[1, 2]]), "c": tf.constant([["x"]])})
    assert made.shape == [1, 3] and made.op.name == "named/named/weighted_sum"


def test_tables_shared_by_sequences():
    column = tf.feature_column.sequence_categorical_column_with_identity("t", 3)
    layer = tf.keras.experimental.SequenceFeatures(shared_embeddings([column], 2, initializer=tf.ones_initializer()))
    values, lengths = layer({"t": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])})
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer()])
        assert sess.run(values).tolist() == [[[1, 1], [0, 0]], [[1, 1], [1, 1]]] and list(sess.run(lengths)) == [1, 2]
    assert layer.compute_output_shape((None, None)) == (None, None, 2)
