"""Keras layers over columns."""

import subprocess
import sys

import pytest

import everflow as tf
from everflow.feature_column.features_layers import DenseFeatures, SequenceFeatures

fc = tf.feature_column
IDS = fc.categorical_column_with_identity("i", 4)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_layer_keeps_the_variables_of_its_columns():
    layer = DenseFeatures([fc.embedding_column(IDS, 2, initializer=tf.ones_initializer()), fc.numeric_column("x")])
    first = layer({"i": tf.constant([[1]]), "x": tf.constant([[5.0]])})
    second = layer({"i": tf.constant([[2], [3]]), "x": tf.constant([[6.0], [7.0]])})
    assert [weight.name for weight in layer.weights] == ["dense_features/i_embedding/embedding_weights:0"]
    assert first.name == "dense_features/concat:0" and second.name == "dense_features_1/concat:0"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(first).tolist() == [[1, 1, 5]]
        assert session.run(second).tolist() == [[1, 1, 6], [1, 1, 7]]


def test_layers_from_configs():
    def half(x):
        return x / 2

    columns = [
        fc.numeric_column("x", 2, default_value=[1, 2], normalizer_fn=half),
        fc.indicator_column(fc.crossed_column(["a", fc.bucketized_column(fc.numeric_column("q"), [1.0, 2.0])], 3)),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("z", ["a", "b"])),
    ]
    config = DenseFeatures(columns).get_config()
    assert config["feature_columns"][1]["class_name"] == "NumericColumn"
    again = DenseFeatures.from_config(config, custom_objects={"half": half})
    assert sorted(again._feature_columns) == sorted(columns)
    assert again.compute_output_shape((5, 3)) == (5, 7)


def test_columns_that_layers_refuse():
    for columns, message in (
        ([IDS], "must be a DenseColumn"),
        (fc.shared_embedding_columns([IDS], 2), "must be a FeatureColumn"),
        ([tf.contrib.layers.real_valued_column("x")], "must be a FeatureColumn"),
    ):
        with pytest.raises(ValueError, match=message):
            DenseFeatures(columns)
    with pytest.raises(ValueError, match="expected a dictionary"):
        DenseFeatures([fc.numeric_column("x")])([tf.constant([[1.0]])])


def test_shared_tables_of_version_two():
    columns = tf.compat.v2.feature_column.shared_embeddings([IDS, fc.categorical_column_with_identity("j", 4)], 2)
    DenseFeatures(columns)({"i": tf.constant([[1]]), "j": tf.constant([[1]])})
    DenseFeatures(columns[:1])({"i": tf.constant([[1]])})
    assert [variable.name for variable in tf.global_variables()] == ["i_j_shared_embedding:0"]
    with pytest.raises(ValueError, match="`linear_model` and `input_layer` look for tables"):
        fc.input_layer({"i": tf.constant([[1]])}, columns[:1])


def test_sequences():
    column = fc.embedding_column(
        fc.sequence_categorical_column_with_identity("i", 4), 2, initializer=tf.ones_initializer()
    )
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 2], tf.int64), [2, 2])
    layer = SequenceFeatures([column])
    tensor, lengths = layer({"i": ids})
    assert tensor.shape.as_list() == [2, 2, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(lengths).tolist() == [2, 0]
        assert session.run(tensor).tolist() == [[[1, 1], [1, 1]], [[0, 0], [0, 0]]]


def test_a_configuration_names_a_layer_over_columns_that_nobody_has_touched():
    code = """
import everflow as tf
columns = [{"class_name": "NumericColumn", "config": {"key": "a", "shape": (1,), "default_value": None, "dtype": "float32", "normalizer_fn": None}}]
config = {"name": "d", "trainable": True, "dtype": "float32", "feature_columns": columns}
layer = tf.keras.layers.deserialize({"class_name": "DenseFeatures", "config": config})
assert type(layer) is tf.keras.layers.DenseFeatures
"""
    subprocess.run([sys.executable, "-c", code], check=True)
