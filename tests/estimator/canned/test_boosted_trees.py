"""Boosted trees over feature columns; the numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import everflow as tf

FC = tf.feature_column


@pytest.fixture(autouse=True)
def ref_variables_after():
    yield
    tf.disable_resource_variables()


def data():
    np.random.seed(0)
    x, y = (np.random.randn(40).astype("f") for _ in range(2))
    return {"x": x, "y": y, "c": np.random.choice(["a", "b", "c"], 40), "w": np.random.rand(40).astype("f")}


def columns(*names):
    known = {
        "x": FC.bucketized_column(FC.numeric_column("x"), [-1.0, 0.0, 1.0]),
        "by": FC.bucketized_column(FC.numeric_column("y"), [-1.0, 0.0, 0.5, 1.0]),
        "y": FC.numeric_column("y"),
        "c": FC.indicator_column(FC.categorical_column_with_vocabulary_list("c", ["a", "b", "c"])),
    }
    return [known[name] for name in names]


def regression(batch=40, repeat=None):
    features = data()
    labels = features["x"] * features["y"] + features["x"]
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(repeat).batch(batch)


def test_regressor_over_bucketized_columns(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(
        columns("x", "by"), 1, n_trees=2, max_depth=2, model_dir=str(tmp_path)
    )
    estimator.train(regression())
    assert estimator.get_variable_value("global_step") == 4
    assert estimator.evaluate(regression(20, 1))["average_loss"] == pytest.approx(1.0959445, rel=1e-6)
    predictions = [p["predictions"][0] for p in estimator.predict(regression(40, 1))]
    assert predictions[:2] == pytest.approx([0.44728702, -0.02970816], rel=1e-6)
    importances = estimator.experimental_feature_importances()
    assert list(importances) == ["y_bucketized", "x_bucketized"]
    assert importances["y_bucketized"] == pytest.approx(2.81475317, rel=1e-6)
    assert sum(estimator.experimental_feature_importances(normalize=True).values()) == pytest.approx(1.0)


def test_numbers_get_their_buckets_from_the_data(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(
        columns("x", "y", "c"),
        n_batches_per_layer=2,
        n_trees=2,
        max_depth=2,
        weight_column="w",
        learning_rate=0.3,
        l1_regularization=0.01,
        model_dir=str(tmp_path),
    )
    estimator.train(regression(20))
    boundaries = estimator.get_variable_value("boosted_trees/QuantileAccumulator:0_bucket_boundaries_0")
    np.testing.assert_array_equal(boundaries, np.unique(data()["y"]))
    assert estimator.get_variable_value("global_step") == 8
    assert estimator.evaluate(regression(20, 1))["average_loss"] == pytest.approx(0.41098547, rel=1e-5)


def test_explanations_add_up_to_the_prediction(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(
        columns("x", "by"),
        2,
        n_trees=2,
        max_depth=2,
        center_bias=True,
        pruning_mode="pre",
        tree_complexity=0.01,
        model_dir=str(tmp_path),
    )
    estimator.train(regression(20))
    explained = next(estimator.experimental_predict_with_explanations(regression(40, 1)))
    assert explained["bias"] == pytest.approx(0.31175205, rel=1e-6)
    assert list(explained["dfc"]) == ["x_bucketized", "y_bucketized"]
    assert explained["bias"] + sum(explained["dfc"].values()) == pytest.approx(explained["predictions"][0], rel=1e-6)


def test_explanations_need_a_bias(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(columns("x"), 1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="center_bias"):
        next(estimator.experimental_predict_with_explanations(regression()))


def test_training_in_memory_gives_the_same_trees(tmp_path):
    features = data()

    def all_at_once():
        tensors = {key: tf.constant(features[key]) for key in ("x", "y")}
        return tensors, tf.constant(features["x"] * features["y"] + features["x"])

    trees = []
    for i, in_memory in enumerate((True, False)):
        estimator = tf.estimator.BoostedTreesRegressor(
            columns("x", "by"), 1, n_trees=2, max_depth=2, train_in_memory=in_memory, model_dir=str(tmp_path / str(i))
        )
        estimator.train(all_at_once)
        trees.append(estimator.get_variable_value("boosted_trees:0_serialized"))
    assert trees[0] == trees[1]


def test_classifier_trains_on_from_its_checkpoint_and_is_exported(tmp_path):
    features = data()
    labels = (features["x"] > 0).astype(int)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(40)

    def make():
        return tf.estimator.BoostedTreesClassifier(
            columns("x", "y", "c"), 1, n_trees=2, max_depth=2, center_bias=True, model_dir=str(tmp_path / "model")
        )

    make().train(input_fn, steps=3)
    estimator = make().train(input_fn)
    assert estimator.evaluate(input_fn, steps=1)["accuracy"] == 1.0
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        {
            "x": tf.FixedLenFeature([], tf.float32),
            "y": tf.FixedLenFeature([], tf.float32),
            "c": tf.FixedLenFeature([], tf.string),
        }
    )
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(features["x"][0])
    example.features.feature["y"].float_list.value.append(features["y"][0])
    example.features.feature["c"].bytes_list.value.append(features["c"][0].encode())
    served = tf.contrib.predictor.from_saved_model(path, signature_def_key="predict")(
        {"examples": [example.SerializeToString()]}
    )
    expected = next(estimator.predict(input_fn))
    np.testing.assert_allclose(served["probabilities"][0], expected["probabilities"])


def test_training_ends_when_no_split_helps(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(
        columns("x"), 1, n_trees=2, max_depth=3, min_node_weight=1000.0, model_dir=str(tmp_path)
    )
    estimator.train(regression(), steps=200)
    assert estimator.get_variable_value("global_step") == 13
    with pytest.raises(AssertionError, match="only a root node"):
        estimator.experimental_feature_importances(normalize=True)


def test_what_trees_can_not_take():
    with pytest.raises(ValueError, match="no effect unless pruning"):
        tf.estimator.BoostedTreesRegressor(columns("x"), 1, tree_complexity=1.0)
    with pytest.raises(ValueError, match="wrapped by IndicatorColumn"):
        tf.estimator.BoostedTreesRegressor([FC.categorical_column_with_hash_bucket("c", 5)], 1)
    with pytest.raises(ValueError, match="multi class"):
        tf.estimator.BoostedTreesClassifier(columns("x"), 1, n_classes=3)


def test_trained_in_one_call(tmp_path):
    features = data()

    def all_at_once():
        return {"x": tf.constant(features["x"]), "y": tf.constant(features["y"])}, tf.constant(
            features["x"] * features["y"] + features["x"]
        )

    estimator = tf.contrib.estimator.boosted_trees_regressor_train_in_memory(
        all_at_once, columns("x", "by"), str(tmp_path), n_trees=2, max_depth=2
    )
    assert estimator.evaluate(regression(20, 1))["average_loss"] == pytest.approx(1.0959445, rel=1e-6)
