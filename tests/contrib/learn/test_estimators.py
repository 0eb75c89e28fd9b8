"""The estimators of tf.contrib.learn. Numbers are TensorFlow 1.15.5's, for the same seeds."""

import numpy as np
import pytest

import everflow as tf

layers, learn = tf.contrib.layers, tf.contrib.learn
X = np.random.RandomState(0).normal(size=(20, 4)).astype("float32")
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0).astype(int)
TWO = (X[:, 0] > 0).astype(int)
NUMBER = X[:, 0] - X[:, 1]
COLUMNS = [layers.real_valued_column("", dimension=4)]


@pytest.fixture
def given(tmp_path):
    return {"model_dir": str(tmp_path), "config": learn.RunConfig(tf_random_seed=1)}


def rounded(results):
    return {key: round(float(value), 4) for key, value in results.items()}


def test_a_network_of_three_classes(given):
    classifier = learn.DNNClassifier(feature_columns=COLUMNS, hidden_units=[5, 3], n_classes=3, **given)
    assert classifier.fit(x=X, y=THREE, steps=3, batch_size=20) is classifier
    assert rounded(classifier.evaluate(x=X, y=THREE)) == {"accuracy": 0.6, "global_step": 3, "loss": 0.9931}
    assert [int(c) for c in classifier.predict(X[:3])] == [2, 1, 0]
    np.testing.assert_allclose(next(classifier.predict_proba(X[:1])), [0.3627, 0.2387, 0.3985], atol=1e-4)
    assert classifier.predict(X[:2], as_iterable=False).tolist() == [2, 1]
    names = [name for name in classifier.get_variable_names() if "Adagrad" not in name]
    assert names == [
        "dnn/hiddenlayer_0/biases",
        "dnn/hiddenlayer_0/weights",
        "dnn/hiddenlayer_1/biases",
        "dnn/hiddenlayer_1/weights",
        "dnn/logits/biases",
        "dnn/logits/weights",
        "dnn/multi_class_head/dnn/learning_rate",
        "global_step",
    ]


def test_a_network_that_predicts_numbers(given):
    regressor = learn.DNNRegressor(feature_columns=COLUMNS, hidden_units=[5], **given).fit(X, NUMBER, steps=3)
    np.testing.assert_allclose(list(regressor.predict(X[:3])), [0.25664, -0.26313, -0.45561], atol=1e-4)


def test_a_linear_classifier(given):
    classifier = learn.LinearClassifier(feature_columns=COLUMNS, **given).fit(X, TWO, steps=3)
    assert rounded(classifier.evaluate(X, TWO)) == {
        "accuracy": 0.95,
        "accuracy/baseline_label_mean": 0.5,
        "accuracy/threshold_0.500000_mean": 0.95,
        "auc": 0.98,
        "auc_precision_recall": 0.9826,
        "global_step": 3,
        "labels/actual_label_mean": 0.5,
        "labels/prediction_mean": 0.4938,
        "loss": 0.4863,
        "precision/positive_threshold_0.500000_mean": 1,
        "recall/positive_threshold_0.500000_mean": 0.9,
    }


def test_small_batches_are_shuffled_as_ever(given):
    regressor = learn.LinearRegressor(feature_columns=COLUMNS, **given).fit(X, NUMBER, steps=8, batch_size=7)
    expected = learn.LinearRegressor(feature_columns=COLUMNS, model_dir=given["model_dir"])
    assert rounded(regressor.evaluate(X, NUMBER, batch_size=6))["global_step"] == 8
    assert len(list(expected.predict(X[:9], batch_size=4))) == 9


def test_wide_and_deep_counts_two_steps(given):
    classifier = learn.DNNLinearCombinedClassifier(
        linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[3], **given
    )
    results = rounded(classifier.fit(X, TWO, steps=3).evaluate(X, TWO))
    assert results["global_step"] == 4 and results["loss"] == 0.6697


def test_a_model_function_of_ones_own(given):
    def model_fn(features, labels, mode, params):
        logits = tf.matmul(features, tf.get_variable("w", [4, 3]))
        predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == learn.ModeKeys.INFER:
            return learn.ModelFnOps(mode, predictions)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train = layers.optimize_loss(loss, tf.train.get_global_step(), learning_rate=params["rate"], optimizer="SGD")
        return learn.ModelFnOps(mode, predictions, loss, train)

    estimator = learn.Estimator(model_fn, params={"rate": 0.5}, **given).fit(X, THREE, steps=5, batch_size=20)
    metrics = {
        "new": learn.MetricSpec(tf.metrics.accuracy, prediction_key="classes"),
        "old": learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, "classes"),
    }
    assert rounded(estimator.evaluate(X, THREE, metrics=metrics)) == {
        "new": 0.7,
        "old": 0.7,
        "global_step": 5,
        "loss": 0.7569,
    }
    assert sorted(next(estimator.predict(X[:1]))) == ["classes", "probabilities"]


def test_predictions_loss_and_train_op_as_a_tuple(given):
    def model_fn(features, targets):
        y = tf.squeeze(tf.matmul(features, tf.get_variable("w", [4, 1])), 1)
        # Targets are there even for predictions, as placeholders.
        loss = tf.reduce_mean(tf.square(y - targets))
        return y, loss, layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")

    estimator = learn.Estimator(model_fn, **given).fit(X, NUMBER, max_steps=4).fit(X, NUMBER, max_steps=4)
    assert estimator.get_variable_value("global_step") == 4
    assert next(estimator.predict(X[:1])).shape == ()


def test_input_functions_and_sparse_columns(given):
    def input_fn():
        return {"a": tf.constant(X[:, :2]), "b": tf.constant([["x"], ["y"]] * 10)}, tf.constant(TWO)

    columns = [layers.real_valued_column("a", dimension=2), layers.sparse_column_with_keys("b", ["x", "y"])]
    classifier = learn.LinearClassifier(feature_columns=columns, **given).fit(input_fn=input_fn, steps=4)
    assert "linear/b/weights" in classifier.get_variable_names()
    assert classifier.evaluate(input_fn=input_fn, steps=1)["loss"] < 0.69


def test_the_interface_of_scikit_learn(given):
    classifier = learn.SKCompat(learn.DNNClassifier(feature_columns=COLUMNS, hidden_units=[4], **given))
    classifier.fit(X, TWO, steps=3, batch_size=20)
    assert 0 <= classifier.score(X, TWO)["accuracy"] <= 1
    assert sorted(classifier.predict(X[:2])) == ["classes", "logistic", "logits", "probabilities"]


def test_columns_for_data_as_it_is():
    (column,) = learn.infer_real_valued_columns_from_input(X)
    assert column == layers.real_valued_column("", dimension=4)


def test_mistakes(given):
    regressor = learn.LinearRegressor(feature_columns=COLUMNS, **given)
    with pytest.raises(learn.NotFittedError):
        regressor.predict(X)
    for arguments in (
        {"steps": 1},
        {"x": X, "input_fn": lambda: None},
        {"x": X, "y": NUMBER, "steps": 1, "max_steps": 1},
    ):
        with pytest.raises(ValueError):
            regressor.fit(**arguments)


def test_saved_models(given, tmp_path):
    column = layers.real_valued_column("a", dimension=4)
    classifier = learn.LinearClassifier(feature_columns=[column], **given)
    classifier.fit(input_fn=lambda: ({"a": tf.constant(X)}, tf.constant(TWO)), steps=2)
    serving = learn.build_parsing_serving_input_fn(layers.create_feature_spec_for_parsing([column]))
    path = classifier.export_savedmodel(str(tmp_path / "export"), serving)
    feature = {"a": tf.train.Feature(float_list=tf.train.FloatList(value=X[0]))}
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path.decode()).signature_def["serving_default"]
        assert signature.method_name == "tensorflow/serving/classify"
        fetched = {key: info.name for key, info in signature.outputs.items()}
        served = session.run(fetched, {signature.inputs["inputs"].name: [example]})
    assert served["classes"].tolist() == [[b"0", b"1"]]
    np.testing.assert_allclose(
        served["scores"][0], next(classifier.predict_proba(input_fn=lambda: {"a": tf.constant(X[:1])})), rtol=1e-5
    )
