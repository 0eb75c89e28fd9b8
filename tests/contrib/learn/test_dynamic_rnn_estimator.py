"""`DynamicRnnEstimator`, with numbers of TensorFlow 1.15.5 after three steps."""

import itertools

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.learn.dynamic_rnn_estimator import PredictionType

learn, layers = tf.contrib.learn, tf.contrib.layers
DATA = np.random.RandomState(0)
SEQUENCES = DATA.rand(4, 5, 2).astype(np.float32)
CONTEXT = DATA.rand(4, 1).astype(np.float32)


def estimator(problem, prediction, **settings):
    columns = {
        "sequence_feature_columns": [layers.real_valued_column("s", dimension=2)],
        "context_feature_columns": [layers.real_valued_column("c")],
    }
    config = learn.RunConfig(tf_random_seed=3)
    return learn.DynamicRnnEstimator(problem, prediction, **columns, config=config, **settings)


def input_fn(labels):
    def draw():
        features = {"s": tf.constant(SEQUENCES), "c": tf.constant(CONTEXT)}
        features["sequence_length"] = tf.constant([5, 3, 2, 4], tf.int32)
        return features, None if labels is None else tf.constant(labels)

    return draw


def test_one_class_for_each_sequence():
    labels = np.array([0, 1, 2, 1])
    made = estimator(learn.ProblemType.CLASSIFICATION, PredictionType.SINGLE_VALUE, num_classes=3, num_units=4)
    made.fit(input_fn=input_fn(labels), steps=3)
    found = made.evaluate(input_fn=input_fn(labels), steps=1)
    assert found["accuracy"] == 0.25 and found["loss"] == pytest.approx(1.1629, abs=1e-4)
    first = next(iter(made.predict(input_fn=input_fn(None))))
    assert first["classes"] == 1
    np.testing.assert_allclose(first["rnn_cell_state_0"], [-0.41358995, 0.66432333, 0.9406097, 0.4154436], rtol=1e-4)


def test_a_number_at_each_step():
    settings = {"num_units": 4, "cell_type": "gru", "optimizer": "Adam", "gradient_clipping_norm": None}
    made = estimator(learn.ProblemType.LINEAR_REGRESSION, PredictionType.MULTIPLE_VALUE, **settings)
    made.fit(input_fn=input_fn(np.zeros([4, 5], np.float32)), steps=1)
    rows = list(itertools.islice(made.predict(input_fn=input_fn(None)), 4))
    assert rows[0]["scores"].shape == (5,)


def test_refusals():
    classes, numbers = learn.ProblemType.CLASSIFICATION, learn.ProblemType.LINEAR_REGRESSION
    for problem, prediction, settings in (
        (classes, 1, {}),
        (numbers, 1, {"predict_probabilities": True}),
        (classes, 7, {"num_classes": 2}),
        (learn.ProblemType.LOGISTIC_REGRESSION, 1, {"num_classes": 2}),
    ):
        with pytest.raises(ValueError):
            estimator(problem, prediction, num_units=3, **settings)
    with pytest.raises(TypeError, match="cell_type"):
        estimator(numbers, 1, num_units=3, cell_type="foo").fit(input_fn=input_fn(np.zeros([4, 1])), steps=1)
