"""Linear estimators with `LinearSDCA`, with the weights that TensorFlow 1.15.5 ends at."""

import numpy as np
import pytest

import everflow as tf

LABELS = {"classes": [[1], [0], [1]], "numbers": [[1.5], [0.5], [2.0]]}


def examples(labels):
    features = {
        "id": tf.constant(["1", "2", "3"]),
        "price": tf.constant([[0.6], [0.8], [0.3]]),
        "weight": tf.constant([[3.0], [1.0], [1.0]]),
        "country": tf.SparseTensor([[0, 0], [1, 1], [2, 1]], ["GB", "US", "US"], [3, 5]),
    }
    return features, tf.constant(LABELS[labels])


def columns():
    price = tf.feature_column.numeric_column("price")
    return [price, tf.feature_column.categorical_column_with_hash_bucket("country", 5)]


def values(estimator, *names):
    return [estimator.get_variable_value(f"linear/linear_model/{name}").ravel() for name in names]


def test_classifier(tmp_path):
    optimizer = tf.estimator.experimental.LinearSDCA(example_id_column="id")
    estimator = tf.estimator.LinearClassifier(columns(), str(tmp_path), weight_column="weight", optimizer=optimizer)
    estimator.train(lambda: examples("classes"), steps=40)
    bias, country, price = values(estimator, "bias_weights", "country/weights", "price/weights")
    np.testing.assert_allclose([*bias, *price], [0.50451, 0.05979], atol=1e-4)
    np.testing.assert_allclose(country, [-0.17785, 0, 0, 0.68236, 0], atol=1e-4)
    assert estimator.evaluate(lambda: examples("classes"), steps=1)["loss"] == pytest.approx(2.2076, abs=1e-3)


def test_regressor_with_small_weights_taken_away(tmp_path):
    bucketized = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("price"), [0.5, 0.7])
    optimizer = tf.estimator.experimental.LinearSDCA(
        "id", symmetric_l1_regularization=0.1, symmetric_l2_regularization=0.5
    )
    estimator = tf.estimator.LinearRegressor([*columns(), bucketized], str(tmp_path), optimizer=optimizer)
    estimator.train(lambda: examples("numbers"), steps=60)
    bias, buckets = values(estimator, "bias_weights", "price_bucketized/weights")
    np.testing.assert_allclose([*bias, *buckets], [0.7033, 0.6467, 0.2778, -0.2212], atol=1e-3)
    unshrunk = estimator.get_variable_value("linear/linear/linear_model/bias_weights/part_0_unshrunk")
    np.testing.assert_allclose(unshrunk - bias, [0.2], atol=1e-6)
    assert next(estimator.predict(lambda: examples("numbers")[0]))["predictions"].shape == (1,)


def test_what_it_can_not_train():
    optimizer = tf.estimator.experimental.LinearSDCA("id")
    with pytest.raises(ValueError, match="two classes"):
        tf.estimator.LinearClassifier(columns(), n_classes=3, optimizer=optimizer)
    with pytest.raises(ValueError, match="one label"):
        tf.estimator.LinearRegressor(columns(), label_dimension=2, optimizer=optimizer)
    with pytest.raises(ValueError, match="rank 2"):
        indicator = tf.feature_column.indicator_column(columns()[1])
        estimator = tf.estimator.LinearClassifier([indicator], optimizer=optimizer)
        estimator.train(lambda: examples("classes"), steps=1)
