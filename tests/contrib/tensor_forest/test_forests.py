"""Random forests, as books use them. Accuracies are about those of TensorFlow 1.15.5, whose splits no seed fixes."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.tensor_forest import data_ops, random_forest, tensor_forest
from everflow.ops.variables import resources

X = np.random.RandomState(0).rand(600, 4).astype(np.float32)
CLASSES = (X[:, 0] > 0.5).astype(np.int32) + (X[:, 1] > 0.3)
SETTINGS = {"num_features": 4, "num_trees": 5, "max_nodes": 200, "split_after_samples": 50, "base_random_seed": 3}


def test_settings_and_what_follows_from_them():
    params = tensor_forest.ForestHParams(num_classes=3, num_features=200, num_trees=5).fill()
    assert (params.num_splits_to_consider, params.num_output_columns, params.bagged_num_features) == (14, 4, 200)
    proto = tensor_forest.build_params_proto(params)
    assert (proto.num_outputs, proto.split_after_samples.constant_value) == (3, 250)
    bagged = tensor_forest.ForestHParams(num_classes=1, num_features=4, regression=True, feature_bagging_fraction=0.5)
    assert [len(some) for some in bagged.fill().bagged_features] == [2] * 100
    assert bagged.leaf_model_type == 2
    with pytest.raises(ValueError, match="num_classes"):
        tensor_forest.ForestHParams(num_features=4).fill()


def test_a_graph_that_learns_classes():
    params = tensor_forest.ForestHParams(num_classes=3, bagging_fraction=0.9, **SETTINGS).fill()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
        graphs = tensor_forest.RandomForestGraphs(params)
        train_op, loss = graphs.training_graph(x, y), graphs.training_loss(x, y)
        probabilities, _, variance = graphs.inference_graph(x)
        hits = tf.equal(tf.argmax(probabilities, 1), tf.cast(y, tf.int64))
        accuracy, importances = tf.reduce_mean(tf.cast(hits, tf.float32)), graphs.feature_importances()
        session.run([tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources())])
        for i in range(60):
            rows = slice(i % 6 * 100, i % 6 * 100 + 100)
            session.run(train_op, {x: X[rows], y: CLASSES[rows]})
        found, size, shares = session.run([accuracy, loss, importances], {x: X, y: CLASSES})
        assert found > 0.9 and size < -20
        assert shares.sum() == pytest.approx(1) and shares[:2].sum() > 0.5
        assert session.run(variance, {x: X[:3]}).shape == (3, 3)


def test_a_graph_that_learns_numbers():
    params = tensor_forest.ForestHParams(num_classes=1, regression=True, **SETTINGS).fill()
    numbers = X[:, 0] * 3 + (X[:, 1] > 0.3)
    with tf.Graph().as_default(), tf.Session() as session:
        graphs = tensor_forest.RandomForestGraphs(params)
        train_op, (found, _, _) = graphs.training_graph(tf.constant(X), tf.constant(numbers)), graphs.inference_graph(X)
        session.run([tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources())])
        for _ in range(12):
            session.run(train_op)
        assert np.abs(session.run(found)[:, 0] - numbers).mean() < 0.3


def test_an_estimator(tmp_path):
    params = tensor_forest.ForestHParams(num_classes=3, **SETTINGS)
    estimator = random_forest.TensorForestEstimator(params, model_dir=str(tmp_path), early_stopping_rounds=20)
    estimator.fit(x=X, y=CLASSES, batch_size=100, steps=40)
    assert estimator.evaluate(x=X, y=CLASSES, batch_size=600, steps=1)["accuracy"] > 0.85
    predictions = list(estimator.predict(x=X[:2]))
    assert predictions[0]["classes"] == CLASSES[0] and predictions[0]["prediction_variance"].shape == (3,)


def test_an_estimator_of_two_classes_for_input_functions(tmp_path):
    params = tensor_forest.ForestHParams(num_classes=2, **SETTINGS)
    estimator = random_forest.CoreTensorForestEstimator(params, model_dir=str(tmp_path))

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({"x": X}, np.minimum(CLASSES, 1))).batch(100).repeat(5)

    estimator.train(input_fn)
    assert estimator.evaluate(input_fn, steps=6)["accuracy"] > 0.85


def test_training_ends_when_trees_grow_no_more(tmp_path):
    params = tensor_forest.ForestHParams(num_classes=3, **{**SETTINGS, "max_nodes": 3})
    estimator = random_forest.TensorForestEstimator(params, model_dir=str(tmp_path), early_stopping_rounds=3)
    estimator.fit(x=X, y=CLASSES, batch_size=100, steps=200)
    assert estimator.get_variable_value("global_step") < 20


def test_features_as_one_matrix():
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 0]], [2], [2, 3])
        dense, found, spec = data_ops.ParseDataTensorOrDict(
            {"b": tf.constant([1, 2]), "a": tf.constant([[0.5], [0.6]]), "c": sparse}
        )
        assert session.run(dense).tolist() == [[0.5, 1.0], [np.float32(0.6), 2.0]]
        assert session.run(found).values.tolist() == [2.0]
        assert spec.SerializeToString().startswith("dense_features_size: 2 dense: [{name: a original_type: 0 size: 1}")
        assert session.run(data_ops.ParseLabelTensorOrDict(tf.constant([1, 0]))).tolist() == [1.0, 0.0]
