"""Columns as programs before 1.13 wrote and used them. Expected values are TensorFlow's."""

import numpy as np
import pytest

import everflow as tf
from everflow.feature_column.columns import CategoricalColumn, DenseColumn
from everflow.feature_column.linear_layer import LinearModel
from everflow.legacy.inner import feature_column as inner
from everflow.legacy.inner.feature_column import _LazyBuilder, _LinearModel, _transform_features

pytestmark = pytest.mark.usefixtures("own_graph")


class Doubled(DenseColumn):
    name = "doubled"
    _parse_example_spec = {"a": tf.FixedLenFeature([], tf.float32)}
    _variable_shape = tf.TensorShape([1])

    def _transform_feature(self, inputs):
        return inputs.get("a") * 2

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)


class Ids(CategoricalColumn):
    name = "ids"
    _parse_example_spec = {"b": tf.VarLenFeature(tf.int64)}
    _num_buckets = 4

    def _transform_feature(self, inputs):
        return tf.contrib.layers.dense_to_sparse(inputs.get("b"), eos_token=-1)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return CategoricalColumn.IdWeightPair(inputs.get(self), None)


class Nothing(Doubled):
    name = "nothing"

    def _transform_feature(self, inputs):
        return None


def run(fetch):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetch)


FEATURES = {"a": [[1.0], [3.0]], "b": [[1], [2]]}


def test_columns_of_ones_own_are_taken_everywhere():
    assert run(tf.feature_column.input_layer(FEATURES, [Doubled()])).tolist() == [[2], [6]]
    assert sorted(tf.feature_column.make_parse_example_spec([Doubled(), Ids()])) == ["a", "b"]
    assert run(tf.feature_column.linear_model(FEATURES, [Doubled(), Ids()])).tolist() == [[0], [0]]
    indicator = tf.feature_column.indicator_column(Ids())
    assert run(tf.feature_column.input_layer(FEATURES, [indicator])).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    shapes = {v.name: v.shape.as_list() for v in tf.global_variables()}
    assert shapes["linear_model/ids/weights:0"] == [4, 1]


def test_our_columns_answer_to_older_names():
    ids = tf.feature_column.categorical_column_with_identity("b", 3)
    embedding = tf.feature_column.embedding_column(ids, 2)
    builder = _LazyBuilder(FEATURES)
    assert embedding._get_dense_tensor(builder, weight_collections=["w"]).shape.as_list() == [2, 2]
    assert [v.name for v in tf.get_collection("w")] == ["embedding_weights:0"]
    assert run(ids._get_sparse_tensors(builder).id_tensor).values.tolist() == [1, 2]
    assert (ids._num_buckets, ids._is_v2_column) == (3, True)


def test_transformations_by_column():
    number = tf.feature_column.numeric_column("a")
    buckets = tf.feature_column.bucketized_column(number, [1, 2])
    made = _transform_features(FEATURES, [buckets, number])
    assert {column.name: run(tensor).tolist() for column, tensor in made.items()} == {
        "a": [[1], [3]],
        "a_bucketized": [[1], [2]],
    }
    with pytest.raises(ValueError, match="not supported"):
        _transform_features(FEATURES, [Nothing()])


def test_names_that_a_column_has_not():
    with pytest.raises(AttributeError):
        tf.feature_column.numeric_column("a").num_buckets  # noqa: B018
    with pytest.raises(AttributeError):
        Doubled().get_sparse_tensors  # noqa: B018


def test_a_linear_model_shares_its_weights():
    number = tf.feature_column.numeric_column("a")
    model = _LinearModel([number], 1, "sum", ["kept"], True, name="linear_model")
    first, second = (model({"a": tf.constant([[value]])}) for value in (1.0, 2.0))
    weights = model.cols_to_vars()[number][0]
    assert [v.name for v in tf.global_variables()] == ["linear_model/a/weights:0", "linear_model/bias_weights:0"]
    assert len(tf.get_collection("kept")) == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(weights.assign([[5.0]]))
        assert np.ravel(session.run([first, second])).tolist() == [5, 10]


def test_configs_of_columns():
    column = tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity("a", 3))
    assert column._get_config()["categorical_column"]["class_name"] == "IdentityCategoricalColumn"
    assert type(column)._from_config(column._get_config()) == column


def test_what_is_the_same_in_all_steps():
    from everflow.feature_column.sequence import concatenate_context_input

    joined = concatenate_context_input(tf.constant([[7.0]]), tf.constant([[[1.0], [2.0]]]))
    assert run(joined).tolist() == [[[1, 7], [2, 7]]]
    with pytest.raises(ValueError):
        concatenate_context_input(tf.ones((1, 1, 1)), tf.ones((1, 2, 1)))
    with pytest.raises(TypeError):
        concatenate_context_input(tf.ones((1, 1), tf.int32), tf.ones((1, 2, 1)))


def test_a_column_of_the_older_kind_alone_is_none_for_layers():
    class Doubled(inner._DenseColumn):
        name = "doubled"
        _parse_example_spec = property(lambda self: {})
        _variable_shape = property(lambda self: tf.TensorShape([1]))

        def _transform_feature(self, inputs):
            return inputs.get("x") * 2.0

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return inputs.get(self)

    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.feature_column.input_layer({"x": [[1.5]]}, [Doubled()])
        assert session.run(layer).tolist() == [[3.0]]
        for build in (tf.keras.layers.DenseFeatures, LinearModel, inner.make_parse_example_spec_v2):
            with pytest.raises(ValueError, match="must be (a )?FeatureColumn"):
                build([Doubled()])


def test_the_variables_of_a_column_in_a_linear_model():
    column = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("a", 3), 2)
    with tf.Graph().as_default():
        by_column = {}
        tf.feature_column.linear_model({"a": [[1]]}, [column], cols_to_vars=by_column)
        assert [v.op.name.rpartition("/")[2] for v in by_column[column]] == ["weights", "embedding_weights"]


def test_who_keeps_nothing_says_so():
    with pytest.raises(NotImplementedError, match="keeps nothing"):
        inner.StateManager().create_variable(None, "v", [1])
    with tf.Graph().as_default():
        layer = tf.keras.layers.Layer()
        manager = inner._StateManagerImplV2(layer, True)
        column = tf.feature_column.numeric_column("a")
        variable = manager.create_variable(column, "v", [2])
        assert manager.get_variable(column, "v") is variable and layer.weights == [variable]
