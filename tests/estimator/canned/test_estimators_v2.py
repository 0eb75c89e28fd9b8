"""The ready-made estimators of TensorFlow 2, under `tf.compat.v2.estimator`."""

import numpy as np
import pytest

import everflow as tf

v2 = tf.compat.v2.estimator
X = tf.feature_column.numeric_column("x")
WORDS = tf.feature_column.categorical_column_with_vocabulary_list("c", ["a", "b"])


def _data(classes=False):
    features = {"x": np.float32([[1.0], [2.0], [4.0]]), "c": np.array([["a"], ["b"], ["a"]])}
    labels = np.int64([[1], [0], [1]]) if classes else np.float32([[1.0], [0.0], [1.0]])
    return lambda: tf.data.Dataset.from_tensors((features, labels)).repeat(4)


def _both(kind, **settings):
    return lambda **more: kind(
        linear_feature_columns=[WORDS], dnn_feature_columns=[X], dnn_hidden_units=[2], **settings, **more
    )


@pytest.mark.parametrize(
    "make, classes, variables",
    [
        (lambda **k: v2.DNNClassifier([3], [X], **k), True, ["dnn/hiddenlayer_0/kernel", "training/Adagrad/learning_rate"]),
        (lambda **k: v2.DNNRegressor([3], [X], batch_norm=True, dropout=0.1, **k), False, ["dnn/hiddenlayer_0/batchnorm_0/beta"]),
        (lambda **k: v2.LinearClassifier([X, WORDS], **k), True, ["linear/linear_model/c/weights", "training/Ftrl/decay"]),
        (lambda **k: v2.LinearEstimator(v2.RegressionHead(), [X], **k), False, ["linear/linear_model/bias_weights"]),
        (_both(v2.DNNLinearCombinedClassifier), True, ["dnn/logits/bias", "training/Ftrl/iter", "linear/linear_model/c/weights"]),
        (lambda **k: v2.BaselineClassifier(**k), True, ["baseline/bias"]),
        (lambda **k: v2.BaselineRegressor(**k), False, ["baseline/bias"]),
    ],
)  # fmt: skip
def test_a_model_is_trained_by_a_keras_optimizer_that_counts_the_global_step(make, classes, variables, tmp_path):
    model = make(model_dir=str(tmp_path))
    model.train(_data(classes), steps=3)
    assert set(variables) <= set(model.get_variable_names())
    assert model.get_variable_value("global_step") == 3
    found = model.evaluate(_data(classes))
    # Losses are means, by default, also over a batch.
    assert found["loss"] == pytest.approx(found["average_loss"])
    features = tf.data.Dataset.from_tensors({"x": np.float32([[1.0]]), "c": np.array([["a"]])})
    told = next(model.predict(lambda: tf.data.make_one_shot_iterator(features).get_next()))
    assert ("probabilities" in told) == classes


@pytest.mark.parametrize(
    "make, name, rate",
    [
        (lambda **k: v2.DNNRegressor([2], [X], optimizer="SGD", **k), "SGD", 0.01),
        (lambda **k: v2.LinearRegressor([X], optimizer="Adam", **k), "Adam", 0.2),
        (lambda **k: v2.BaselineRegressor(optimizer="SGD", **k), "SGD", 0.3),
        (_both(v2.DNNLinearCombinedRegressor, dnn_optimizer=lambda: tf.keras.optimizers.Adam(0.5)), "Adam", 0.5),
    ],
)
def test_an_optimizer_can_be_named_or_made_by_a_function(make, name, rate, tmp_path):
    model = make(model_dir=str(tmp_path)).train(_data(), steps=1)
    assert model.get_variable_value(f"training/{name}/learning_rate") == np.float32(rate)


@pytest.mark.parametrize("optimizer", ["Nope", tf.train.AdamOptimizer()])
def test_an_optimizer_that_is_none_of_keras_is_refused(optimizer, tmp_path):
    with pytest.raises(ValueError, match="Nope|Keras|keras"):
        v2.LinearRegressor([X], optimizer=optimizer, model_dir=str(tmp_path)).train(_data(), steps=1)


def test_they_are_estimators_as_others_are():
    assert issubclass(v2.DNNClassifier, v2.Estimator) and issubclass(v2.Estimator, tf.estimator.Estimator)
    assert not issubclass(tf.estimator.DNNClassifier, v2.Estimator)
    with pytest.raises(ValueError, match="loss_reduction"):
        v2.LinearRegressor([X], loss_reduction="weighted_sum")


def test_several_heads_measure_and_export_each_by_itself():
    head = tf.estimator.MultiHead([tf.estimator.RegressionHead(name=n) for n in "ab"])
    tf.train.create_global_step()
    logits, labels = {n: tf.Variable([[1.0]]) * 1.0 for n in "ab"}, {n: tf.constant([[2.0]]) for n in "ab"}
    spec = head.create_estimator_spec({}, "train", logits, labels, train_op_fn=lambda loss: tf.no_op("step"))
    assert spec.train_op.name == "training_2/step"
    assert list(head.metrics()) == ["loss/a", "loss/b"]
    told = head.create_estimator_spec({}, "infer", logits)
    assert {"a", "b/predict", "serving_default"} <= set(told.export_outputs)
