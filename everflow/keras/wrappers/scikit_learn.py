"""tf.keras.wrappers.scikit_learn: Keras models as estimators of scikit-learn, which isn't needed for it."""

from __future__ import annotations

import copy
import inspect
import types

import numpy as np

from everflow.keras import losses
from everflow.keras.models import Sequential
from everflow.keras.utils.arrays import to_categorical


class BaseWrapper:
    """Base of wrappers. `build_fn` makes a compiled model; a subclass may define `__call__` instead.

    Further arguments go where they are known: to `build_fn`, `fit`, `predict`, `predict_classes` or `evaluate`.
    """

    def __init__(self, build_fn=None, **sk_params):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self):
        """The function that makes the model."""
        if self.build_fn is None:
            return self.__call__
        is_plain = isinstance(self.build_fn, (types.FunctionType, types.MethodType))
        return self.build_fn if is_plain else self.build_fn.__call__

    def check_params(self, params):
        """ValueError for arguments that none of the functions takes."""
        methods = "fit", "predict", "predict_classes", "evaluate"
        functions = [*(getattr(Sequential, name) for name in methods), self._builder()]
        for name in params:
            if name != "nb_epoch" and not any(_takes(function, name) for function in functions):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params):
        """A copy of the arguments."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params):
        """Change arguments."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x, y, **kwargs):
        """Make a new model and train it; gives its History."""
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        if losses.is_categorical_crossentropy(self.model.loss) and len(y.shape) != 2:
            y = to_categorical(y)
        arguments = copy.deepcopy(self.filter_sk_params(Sequential.fit))
        arguments.update(kwargs)
        return self.model.fit(x, y, **arguments)

    def filter_sk_params(self, fn, override=None):
        """The arguments that a function takes."""
        return {**{name: value for name, value in self.sk_params.items() if _takes(fn, name)}, **(override or {})}


def _takes(function, name):
    return name in inspect.signature(function).parameters


class KerasClassifier(BaseWrapper):
    """A model that tells classes.

    Args:
        build_fn: A function that returns a compiled model.
        **sk_params: Arguments of the function, and of `fit` and `predict`.

    Example:
        >>> def build():
        ...     model = tf.keras.Sequential([tf.keras.layers.Dense(2, "softmax", input_shape=[3])])
        ...     model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
        ...     return model
        >>> classifier = tf.keras.wrappers.scikit_learn.KerasClassifier(build, epochs=1, verbose=0)
        >>> _ = classifier.fit(np.ones([4, 3]), np.array([0, 1, 0, 1]))
        >>> classifier.predict(np.ones([2, 3])).shape
        (2,)
    """

    def fit(self, x, y, **kwargs):
        """Make a new model and train it on labels, or on rows of ones and zeros."""
        y = np.array(y)
        if len(y.shape) == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif len(y.shape) == 1 or (len(y.shape) == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError("Invalid shape for y: " + str(y.shape))
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x, **kwargs):
        """The most likely class of each sample."""
        kwargs = self.filter_sk_params(Sequential.predict_classes, kwargs)
        return self.classes_[self.model.predict_classes(x, **kwargs)]

    def predict_proba(self, x, **kwargs):
        """The probabilities of classes; for a single output, of both classes."""
        kwargs = self.filter_sk_params(Sequential.predict_proba, kwargs)
        probabilities = self.model.predict(x, **kwargs)
        return np.hstack([1 - probabilities, probabilities]) if probabilities.shape[1] == 1 else probabilities

    def score(self, x, y, **kwargs):
        """The accuracy on samples; the model must have been compiled with that metric."""
        y = np.searchsorted(self.classes_, y)
        kwargs = self.filter_sk_params(Sequential.evaluate, kwargs)
        if losses.is_categorical_crossentropy(self.model.loss) and len(y.shape) != 2:
            y = to_categorical(y)
        outputs = self.model.evaluate(x, y, **kwargs)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        for name, output in zip(self.model.metrics_names, outputs):
            if name in ["accuracy", "acc"]:
                return output
        raise ValueError(
            f'The score of a classifier is its accuracy, which isn\'t among {self.model.metrics_names}: compile with metrics=["accuracy"].'
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers.

    Args:
        build_fn: A function that returns a compiled model.
        **sk_params: Arguments of the function, and of `fit` and `predict`.

    Example:
        >>> def build():
        ...     model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[3])])
        ...     model.compile("sgd", "mse")
        ...     return model
        >>> regressor = tf.keras.wrappers.scikit_learn.KerasRegressor(build, epochs=1, verbose=0)
        >>> _ = regressor.fit(np.ones([4, 3]), np.ones([4]))
        >>> regressor.predict(np.ones([2, 3])).shape
        (2,)
    """

    def predict(self, x, **kwargs):
        """The number of each sample."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x, y, **kwargs):
        """Minus the loss on samples."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -loss[0] if isinstance(loss, list) else -loss
