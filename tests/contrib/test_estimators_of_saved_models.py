"""tf.contrib.estimator: estimators made from SavedModels, and networks that note their inputs."""

import pytest

import everflow as tf


def model_fn(features, labels, mode):
    prediction = tf.matmul(features["x"], tf.get_variable("w", [2, 1], initializer=tf.ones_initializer()))
    if mode == "infer":
        served = {"serving_default": tf.estimator.export.PredictOutput({"p": prediction})}
        return tf.estimator.EstimatorSpec(mode, predictions={"p": prediction}, export_outputs=served)
    loss = tf.losses.mean_squared_error(labels, prediction)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, prediction)}
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"p": prediction}, loss, step, metrics)


def data():
    batch = {"x": tf.constant([[1.0, 2.0], [3.0, 4.0]])}, tf.constant([[1.0], [2.0]])
    return tf.data.Dataset.from_tensors(batch).repeat(5)


def features():
    return data().map(lambda x, y: x).take(1)


def receivers(*modes):
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 2], name="x"), tf.placeholder(tf.float32, [None, 1], name="y")
        supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"x": x}, y)
        serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    return {mode: serving if mode == "infer" else supervised for mode in modes}


@pytest.fixture
def trained(tmp_path):
    return tf.estimator.Estimator(model_fn, str(tmp_path / "model")).train(data, steps=2)


def test_a_saved_model_trains_on(trained, tmp_path):
    path = trained.experimental_export_all_saved_models(str(tmp_path / "all"), receivers("train", "eval", "infer"))
    estimator = tf.contrib.estimator.SavedModelEstimator(path)
    before, reference = estimator.evaluate(data), trained.evaluate(data)
    assert before["global_step"] == 2 and before["loss"] == pytest.approx(reference["loss"])
    assert before["metrics/mae"] == pytest.approx(reference["mae"])
    rows = [row["p"].tolist() for row in estimator.predict(features)]
    assert rows == [row["p"].tolist() for row in trained.predict(features)]
    estimator.train(data, steps=3)
    trained.train(data, steps=3)
    assert estimator.get_variable_value("global_step") == 5
    assert estimator.get_variable_value("w").tolist() == trained.get_variable_value("w").tolist()
    again = estimator.experimental_export_all_saved_models(str(tmp_path / "again"), receivers("eval"))
    assert tf.contrib.estimator.SavedModelEstimator(again).evaluate(data)["global_step"] == 5


def test_what_is_not_in_the_folder_or_does_not_fit_is_refused(trained, tmp_path):
    path = trained.experimental_export_all_saved_models(str(tmp_path / "all"), receivers("eval"))
    estimator = tf.contrib.estimator.SavedModelEstimator(path)
    with pytest.raises(RuntimeError, match="no graph for the mode train"):
        estimator.train(data, steps=1)
    with pytest.raises(ValueError, match="'x' is neither among features nor labels"):
        estimator.evaluate(lambda: data().map(lambda x, y: ({"q": x["x"]}, y)))
    with pytest.raises(ValueError, match="takes float32 of shape"):
        estimator.evaluate(lambda: data().map(lambda x, y: ({"x": tf.cast(x["x"], tf.float64)}, y)))
    with pytest.raises(ValueError, match="no SavedModel"):
        tf.contrib.estimator.SavedModelEstimator(str(tmp_path / "none"))


def test_networks_note_what_their_columns_take_and_give():
    # Columns that share an embedding go through `input_layer`, which others did at that time.
    ids = tf.feature_column.categorical_column_with_identity("x", 3)
    columns = tf.feature_column.shared_embedding_columns([ids], 2)
    estimator = tf.contrib.estimator.DNNClassifierWithLayerAnnotations([3], columns)
    with tf.Graph().as_default() as graph:
        estimator.model_fn({"x": tf.ones([5, 1], tf.int64)}, None, "infer", estimator.config)
        notes = {key: graph.get_collection(key) for key in graph.get_all_collection_keys() if "annot" in key}
    assert notes["layer_annotations/unprocessed_features/keys"] == ["x"]
    assert notes["layer_annotatons/processed_features/keys"] == ["x_shared_embedding"]
    (where,) = notes["layer_annotatons/processed_features/values"]
    assert where.type_url == "type.googleapis.com/tensorflow.TensorInfo"
    assert b"dnn/input_from_feature_columns/input_layer/x_shared_embedding" in where.value
    assert len(notes["layer_annotations/feature_columns"]) == 1
