"""Ready-made models over feature columns: names, what they learn, and their arguments."""

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column
X = np.random.RandomState(0).normal(size=(32, 2)).astype("float32")
KIND = np.where(X[:, 0] > 0.5, "a", "b")
LABEL = (X.sum(1) > 0).astype("int64")
NUMBER = (2 * X[:, :1] - X[:, 1:]).astype("float32")
NUMERIC = fc.numeric_column("x", 2)
CATEGORICAL = fc.categorical_column_with_vocabulary_list("kind", ["a", "b"])


def data(labels, repeat=None):
    return lambda: tf.data.Dataset.from_tensors(({"x": X, "kind": KIND}, labels)).repeat(repeat)


def config(folder):
    return tf.estimator.RunConfig(model_dir=str(folder), tf_random_seed=1)


def learns(estimator, labels, steps=20):
    estimator.train(data(labels), steps=1)
    before = estimator.evaluate(data(labels, 1))
    estimator.train(data(labels), steps=steps)
    after = estimator.evaluate(data(labels, 1))
    assert after["average_loss"] < before["average_loss"]
    return after


def test_networks_classify(tmp_path):
    columns = [NUMERIC, fc.embedding_column(CATEGORICAL, 2)]
    classifier = tf.estimator.DNNClassifier([4, 3], columns, config=config(tmp_path), dropout=0.1, batch_norm=True)
    learns(classifier, LABEL)
    names = [name for name in classifier.get_variable_names() if not name.endswith("Adagrad")]
    assert names == [
        "dnn/hiddenlayer_0/batchnorm_0/beta",
        "dnn/hiddenlayer_0/batchnorm_0/gamma",
        "dnn/hiddenlayer_0/batchnorm_0/moving_mean",
        "dnn/hiddenlayer_0/batchnorm_0/moving_variance",
        "dnn/hiddenlayer_0/bias",
        "dnn/hiddenlayer_0/kernel",
        "dnn/hiddenlayer_1/batchnorm_1/beta",
        "dnn/hiddenlayer_1/batchnorm_1/gamma",
        "dnn/hiddenlayer_1/batchnorm_1/moving_mean",
        "dnn/hiddenlayer_1/batchnorm_1/moving_variance",
        "dnn/hiddenlayer_1/bias",
        "dnn/hiddenlayer_1/kernel",
        "dnn/input_from_feature_columns/input_layer/kind_embedding/embedding_weights",
        "dnn/logits/bias",
        "dnn/logits/kernel",
        "global_step",
    ]
    prediction = next(classifier.predict(data(LABEL, 1)))
    assert prediction["probabilities"].sum() == pytest.approx(1)


def test_networks_predict_numbers(tmp_path):
    regressor = tf.estimator.DNNRegressor(
        [4], [NUMERIC], config=config(tmp_path), optimizer="Adam", activation_fn=tf.nn.tanh
    )
    learns(regressor, NUMBER)
    assert "dnn/hiddenlayer_0/kernel/t_0/Adam" in regressor.get_variable_names()


def test_linear_models(tmp_path):
    classifier = tf.estimator.LinearClassifier([NUMERIC, CATEGORICAL], config=config(tmp_path / "c"), n_classes=3)
    learns(classifier, LABEL + 1)
    assert classifier.get_variable_value("linear/linear_model/kind/weights").shape == (2, 3)
    regressor = tf.estimator.LinearRegressor(
        [NUMERIC], config=config(tmp_path / "r"), optimizer=lambda: tf.train.AdamOptimizer(0.3)
    )
    assert learns(regressor, NUMBER, steps=60)["average_loss"] < 0.1


def test_wide_and_deep(tmp_path):
    classifier = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=[CATEGORICAL],
        dnn_feature_columns=[NUMERIC],
        dnn_hidden_units=[4],
        config=config(tmp_path),
    )
    learns(classifier, LABEL)
    slots = [name for name in classifier.get_variable_names() if "Ftrl" in name or "Adagrad" in name]
    assert all(("Ftrl" in name) == name.startswith("linear/") for name in slots) and len(slots) == 8


def test_columns_of_contrib_layers(tmp_path):
    column = tf.contrib.layers.real_valued_column("x", 2)
    learns(tf.estimator.DNNClassifier([4], [column], config=config(tmp_path / "d")), LABEL)
    learns(tf.estimator.LinearRegressor([column], config=config(tmp_path / "l")), NUMBER)


def test_other_heads(tmp_path):
    head = tf.contrib.estimator.multi_label_head(2)
    both = np.stack([LABEL, 1 - LABEL], 1)
    for estimator in (
        tf.estimator.DNNEstimator(head, [4], [NUMERIC], config=config(tmp_path / "dnn")),
        tf.estimator.LinearEstimator(head, [NUMERIC], config=config(tmp_path / "linear")),
    ):
        assert estimator.train(data(both), steps=1) is estimator
        assert "auc" in estimator.evaluate(data(both, 1))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tf.estimator.DNNLinearCombinedClassifier(), "must be defined"),
        (lambda: tf.estimator.DNNClassifier([2], [NUMERIC], n_classes=1), "n_classes"),
        (lambda: tf.estimator.DNNRegressor([2], [NUMERIC], label_dimension=0), "label_dimension"),
        (
            lambda: tf.estimator.LinearRegressor([NUMERIC], optimizer="Newton").train(data(NUMBER), steps=1),
            "Unsupported optimizer name",
        ),
        (
            lambda: tf.estimator.DNNLinearCombinedRegressor(dnn_feature_columns=[NUMERIC]).train(data(NUMBER), steps=1),
            "dnn_hidden_units must be defined",
        ),
    ],
)
def test_mistakes(make, message, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(ValueError, match=message):
        make()


def test_logit_functions():
    with tf.Graph().as_default():
        features = {"x": tf.constant(X)}
        builder = tf.estimator.experimental.dnn_logit_fn_builder(3, [4], [NUMERIC], tf.nn.relu, None, None, False)
        assert builder(features=features, mode=tf.estimator.ModeKeys.EVAL).shape.as_list() == [32, 3]
        linear = tf.estimator.experimental.linear_logit_fn_builder(2, [NUMERIC])
        assert linear(features=features).shape.as_list() == [32, 2]


def test_a_baseline_does_not_count_examples_by_their_weights(tmp_path):
    seen = []

    class Look(tf.train.SessionRunHook):
        def begin(self):
            seen.append(tf.get_default_graph().get_operation_by_name("Shape").inputs[0].shape.as_list())

    features = {"weight": np.ones([4], np.float32), "x": np.ones([4, 2], np.float32)}
    data = tf.estimator.inputs.numpy_input_fn(features, np.ones([4, 1], np.int64), shuffle=False)
    estimator = tf.estimator.BaselineClassifier(weight_column="weight", model_dir=str(tmp_path))
    estimator.train(data, steps=1, hooks=[Look()])
    assert seen == [[None, 2]]
