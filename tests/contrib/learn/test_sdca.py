"""Estimators of tf.contrib.learn that dual coordinate ascent trains. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.linear_optimizer import SDCAOptimizer, sdca_estimator

layers, learn = tf.contrib.layers, tf.contrib.learn


def columns():
    price = layers.real_valued_column("price")
    country = layers.sparse_column_with_hash_bucket("country", 5)
    return [price, country, layers.bucketized_column(price, [0.5, 0.7])]


def examples(numbers=False):
    features = {
        "id": tf.constant(["1", "2", "3"]),
        "price": tf.constant([[0.6], [0.8], [0.3]]),
        "weight": tf.constant([[3.0], [1.0], [1.0]]),
        "country": tf.SparseTensor([[0, 0], [1, 3], [2, 1]], ["GB", "US", "US"], [3, 5]),
    }
    return features, tf.constant([[1.5], [0.5], [2.0]]) if numbers else tf.constant([[1], [0], [1]])


def weights_of(estimator):
    names = ("bias_weight", "country/weights", "price/weight", "price_bucketized/weights")
    return np.concatenate([estimator.get_variable_value(f"linear/{name}").ravel() for name in names])


def test_support_vectors():
    svm = learn.SVM("id", columns(), "weight", l1_regularization=0.05, l2_regularization=2.0)
    svm.fit(input_fn=examples, steps=60)
    expected = [0.3351, 0, 0, 0, 0.3351, 0, -0.0089, 0.475, 0.3351, -0.475]
    np.testing.assert_allclose(weights_of(svm), expected, atol=2e-4)
    results = svm.evaluate(input_fn=examples, steps=1)
    assert results["accuracy"] == 1 and results["loss"] == pytest.approx(0.2091, abs=2e-4)
    assert list(svm.predict_classes(input_fn=lambda: examples()[0])) == [1, 0, 1]
    with pytest.raises(ValueError, match="kernels"):
        learn.SVM("id", columns(), kernels=[object()])


def test_logistic_classifier():
    estimator = sdca_estimator.SDCALogisticClassifier("id", columns(), weight_column_name="weight")
    estimator.fit(input_fn=examples, steps=60)
    expected = [0.4143, -0.1235, 0, 0, 0.5378, 0, 0.0523, 0.3431, 0.5378, -0.4666]
    np.testing.assert_allclose(weights_of(estimator), expected, atol=2e-4)
    (first, *_) = estimator.predict(input_fn=lambda: examples()[0])
    np.testing.assert_allclose(first["probabilities"], [0.1793, 0.8207], atol=2e-4)


def test_linear_regressor():
    estimator = sdca_estimator.SDCALinearRegressor("id", columns(), l1_regularization=0.1)
    estimator.fit(input_fn=lambda: examples(numbers=True), steps=60)
    np.testing.assert_allclose(
        list(estimator.predict_scores(input_fn=lambda: examples()[0])), [1.1506, 0.76, 1.3887], atol=2e-3
    )


def test_the_optimizer_in_other_estimators():
    regressor = learn.LinearRegressor(columns(), optimizer=SDCAOptimizer("id", symmetric_l2_regularization=3.0))
    regressor.fit(input_fn=lambda: examples(numbers=True), steps=60)
    np.testing.assert_allclose(
        list(regressor.predict(input_fn=lambda: examples()[0])), [0.9171, 0.7264, 1.0445], atol=1e-3
    )
    with pytest.raises(ValueError, match="two classes"):
        learn.LinearClassifier(columns(), n_classes=3, optimizer=SDCAOptimizer("id"))


def test_heads_together():
    head = learn.multi_head(
        [learn.multi_class_head(2, "a", head_name="one"), learn.regression_head("b", head_name="two")], [1.0, 2.0]
    )
    assert head.logits_dimension == 2
    with tf.Graph().as_default(), tf.Session() as session:
        labels = {"a": tf.constant([[1], [0]]), "b": tf.constant([[1.0], [2.0]])}
        ops = head.create_model_fn_ops({}, learn.ModeKeys.TRAIN, labels, learn.no_op_train_fn, tf.zeros([2, 2]))
        assert session.run(ops.loss) == pytest.approx(np.log(2) + 2 * 2.5)
        assert ops.predictions is None
        shown = head.create_model_fn_ops({}, learn.ModeKeys.EVAL, labels, None, tf.zeros([2, 2]))
        assert {key[0] for key in shown.predictions} == {"one", "two"}
    with pytest.raises(ValueError, match="head_name"):
        learn.multi_head([learn.regression_head(), learn.regression_head()])
