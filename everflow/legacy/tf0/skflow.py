"""The estimators that `tf.contrib.learn` had when it was still skflow: they learn what their columns are from the data, and
predict arrays.
"""

from __future__ import annotations

import numpy as np

import everflow as tf


class _Estimator:
    """An estimator of today, made when the data is there."""

    _kind = ""

    def __init__(
        self,
        n_classes=0,
        batch_size=32,
        steps=200,
        optimizer="Adagrad",
        learning_rate=0.1,
        config=None,
        verbose=1,
        **more,
    ):
        self._classes, self._batch_size, self._steps, self._config = n_classes, batch_size, steps, config
        self._optimizer, self._learning_rate, self._more = optimizer, learning_rate, more
        self._made = None

    def _made_for(self, x):
        if self._made is None:
            known = {
                "SGD": tf.train.GradientDescentOptimizer,
                "Adagrad": tf.train.AdagradOptimizer,
                "Adam": tf.train.AdamOptimizer,
            }
            made = known[self._optimizer](self._learning_rate) if self._optimizer in known else self._optimizer
            columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
            options = {"feature_columns": columns, "optimizer": made, "config": self._config, **self._more}
            if self._kind.endswith("Classifier"):
                options["n_classes"] = self._classes
            self._made = getattr(tf.contrib.learn, self._kind)(**options)
        return self._made

    def fit(self, X, y, steps=None, monitors=None, logdir=None):
        """Train on arrays."""
        x = np.asarray(X, np.float32)
        labels = np.asarray(y, np.int64 if self._kind.endswith("Classifier") else np.float32)
        self._made_for(x).fit(x, labels, steps=steps or self._steps, batch_size=self._batch_size, monitors=monitors)
        return self

    def predict(self, X, axis=1, batch_size=None):
        """The class or the value of each row."""
        found = self._made_for(X).predict(np.asarray(X, np.float32), as_iterable=True)
        return np.asarray([np.squeeze(value) for value in found])

    def predict_proba(self, X, batch_size=None):
        """The probabilities of the classes of each row."""
        return np.asarray(list(self._made_for(X).predict_proba(np.asarray(X, np.float32), as_iterable=True)))


class TensorFlowLinearClassifier(_Estimator):
    """A linear classifier."""

    _kind = "LinearClassifier"


class TensorFlowLinearRegressor(_Estimator):
    """A linear regression."""

    _kind = "LinearRegressor"


class TensorFlowDNNClassifier(_Estimator):
    """A classifier of several layers."""

    _kind = "DNNClassifier"

    def __init__(self, hidden_units, n_classes, **options):
        super().__init__(n_classes, hidden_units=hidden_units, **options)


class TensorFlowDNNRegressor(_Estimator):
    """A regression of several layers."""

    _kind = "DNNRegressor"

    def __init__(self, hidden_units, **options):
        super().__init__(hidden_units=hidden_units, **options)
