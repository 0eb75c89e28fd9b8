"""What the tests of tf.contrib.learn's estimators share: irises for two classes, and what an estimator has to have."""

from __future__ import annotations

import inspect

import numpy as np

from everflow.contrib.learn.datasets import base
from everflow.datasets.iris import load_iris
from everflow.framework import dtypes
from everflow.ops.array.constants import constant

__all__ = [
    "assert_estimator_contract",
    "assert_in_range",
    "get_quantile_based_buckets",
    "iris_input_logistic_fn",
    "iris_input_multiclass_fn",
    "prepare_iris_data_for_logistic_regression",
]


def assert_estimator_contract(tester, estimator_class):
    """Fail unless a class takes configuration and has what estimators have."""
    tester.assertIn("config", inspect.getfullargspec(estimator_class.__init__).args)
    for name in ("fit", "partial_fit", "evaluate", "predict", "export", "get_variable_names", "get_variable_value"):
        tester.assertTrue(callable(getattr(estimator_class, name, None)), f"{estimator_class} has no {name}")


def assert_in_range(min_value, max_value, key, metrics):
    """Fail unless a metric is between two numbers."""
    value = metrics[key]
    if not min_value <= value <= max_value:
        raise ValueError(f"Metric {key} is {value}, not between {min_value} and {max_value}")


def get_quantile_based_buckets(feature_values, num_buckets):
    """The numbers between which equally many values are."""
    quantiles = np.percentile(feature_values, [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)])
    return list(quantiles)


def prepare_iris_data_for_logistic_regression():
    """The irises of the first two kinds."""
    iris = load_iris()
    of_two = np.where((iris.target == 0) | (iris.target == 1))
    return base.Dataset(data=iris.data[of_two], target=iris.target[of_two])


def iris_input_multiclass_fn():
    """All irises, as an input function gives them."""
    return _tensors(load_iris())


def iris_input_logistic_fn():
    """The irises of the first two kinds, as an input function gives them."""
    return _tensors(prepare_iris_data_for_logistic_regression())


def _tensors(iris):
    features = constant(iris.data, dtype=dtypes.float32)
    return {"feature": features}, constant(np.reshape(iris.target, [-1, 1]), dtype=dtypes.int32)
