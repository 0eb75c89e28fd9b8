"""Metrics that are sums and means over everything they have seen."""

from __future__ import annotations

import enum

import numpy as np

from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly, init_scope
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.loss_reduction import squeeze_or_expand_dimensions
from everflow.keras.metrics.metric import Metric
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import constructor


class Reduction(enum.Enum):
    """How a metric makes one number of many."""

    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    WEIGHTED_MEAN = "weighted_mean"


_SUM, _SUM_OVER_BATCH_SIZE, _WEIGHTED_MEAN = Reduction


def _fit_weights(values, sample_weight, reduce):
    """Values times weights, and weights in their shape; values are reduced where weights have fewer axes."""
    values, _, sample_weight = squeeze_or_expand_dimensions(values, None, sample_weight)
    try:
        sample_weight = broadcast_weights(sample_weight, values)
    except ValueError:
        values = reduce(values, axis=list(range(K.ndim(sample_weight), K.ndim(values))))
    return values, sample_weight


def _fitting(y_true, y_pred, dtype):
    """(predictions, labels) of a dtype and of shapes that go together."""
    y_true = math.cast(y_true, dtype)
    return squeeze_or_expand_dimensions(math.cast(y_pred, dtype), y_true)


class Reduce(Metric):
    """Base of sums and means."""

    def __init__(self, reduction, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction in (_SUM_OVER_BATCH_SIZE, _WEIGHTED_MEAN):
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values, sample_weight=None):
        """Add values, each counted by its weight."""
        values = math.cast(values, self._dtype)
        if sample_weight is not None:
            sample_weight = math.cast(sample_weight, self._dtype)
            reduce = math.reduce_sum if self.reduction == _SUM else math.reduce_mean
            values, sample_weight = _fit_weights(values, sample_weight, reduce)
            values = math.multiply(values, sample_weight)
        total = math.reduce_sum(values)
        with control_dependencies(None if executing_eagerly() else [total]):
            update_total = self.total.assign_add(total)
        if self.reduction == _SUM:
            return update_total
        if self.reduction == _WEIGHTED_MEAN and sample_weight is not None:
            count = math.reduce_sum(sample_weight)
        else:
            count = math.cast(array.size(values), self._dtype)
        with control_dependencies(None if executing_eagerly() else [update_total]):
            return self.count.assign_add(count)

    def result(self):
        if self.reduction == _SUM:
            return array.identity(self.total)
        return math.div_no_nan(self.total, self.count)


class Sum(Reduce):
    """The sum of all values.

    Args:
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.Sum()
        >>> update = metric.update_state([1.0, 3.0, 8.0])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(12.0)
    """

    def __init__(self, name="sum", dtype=None):
        super().__init__(_SUM, name, dtype=dtype)


class Mean(Reduce):
    """The mean of all values.

    Args:
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.Mean()
        >>> update = metric.update_state([1.0, 3.0, 8.0])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(4.0)
    """

    def __init__(self, name="mean", dtype=None):
        super().__init__(_WEIGHTED_MEAN, name, dtype=dtype)


class MeanRelativeError(Mean):
    """The mean of |y_true - y_pred| / normalizer.

    Args:
        normalizer: What errors are divided by.
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.MeanRelativeError(normalizer=[1.0, 2.0])
        >>> update = metric.update_state([1.0, 2.0], [1.0, 4.0])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.5)
    """

    def __init__(self, normalizer, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.normalizer = math.cast(normalizer, self._dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred, y_true = _fitting(y_true, y_pred, self._dtype)
        y_pred, self.normalizer = remove_squeezable_dimensions(y_pred, self.normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        errors = math.div_no_nan(math.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight=sample_weight)

    def get_config(self):
        normalizer = self.normalizer
        if isinstance(normalizer, (Tensor, Variable)):
            normalizer = K.eval(normalizer)
        return {**super().get_config(), "normalizer": normalizer}


class RootMeanSquaredError(Mean):
    """The root of the mean of (y_true - y_pred)².

    Args:
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.RootMeanSquaredError()
        >>> update = metric.update_state([1.0, 2.0], [1.0, 4.0])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(1.4142135)
    """

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred, y_true = _fitting(y_true, y_pred, self._dtype)
        return super().update_state(math.squared_difference(y_pred, y_true), sample_weight=sample_weight)

    def result(self):
        return math.sqrt(math.div_no_nan(self.total, self.count))


def _flat_values(y_true, y_pred, sample_weight):
    """What is in ragged labels, predictions and weights, whose rows are of the same lengths; others as they are."""
    ragged = [isinstance(value, RaggedTensor) for value in (y_true, y_pred)]
    if not any(ragged):
        return y_true, y_pred, sample_weight
    if not all(ragged):
        raise ValueError(f"Labels and predictions must both be ragged, or neither: {y_true}, {y_pred}.")
    same = [
        assert_equal(one, other, message="The rows of labels and predictions are not of the same lengths")
        for one, other in zip(y_true.nested_row_splits, y_pred.nested_row_splits)
    ]
    with control_dependencies([] if executing_eagerly() else same):
        flat_true, flat_pred = (array.expand_dims(y.flat_values, -1) for y in (y_true, y_pred))
    if sample_weight is None:
        return flat_true, flat_pred, None
    if not isinstance(sample_weight, RaggedTensor):
        raise TypeError(f"Weights of ragged labels and predictions must be ragged as well, not {sample_weight!r}.")
    return flat_true, flat_pred, array.expand_dims(sample_weight.flat_values, -1)


class _OfFunction:
    """A reduction of what a function gives for labels and predictions, instead of values."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred, sample_weight = _flat_values(y_true, y_pred, sample_weight)
        y_pred, y_true = _fitting(y_true, y_pred, self._dtype)
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight=sample_weight)

    def get_config(self):
        config = {
            key: K.eval(value) if isinstance(value, (Tensor, Variable)) else value
            for key, value in self._fn_kwargs.items()
        }
        return {**super().get_config(), **config}


class MeanMetricWrapper(_OfFunction, Mean):
    """The mean of a function of labels and predictions."""

    @classmethod
    def from_config(cls, config):
        # Plain wrappers are of a function that the config doesn't hold; their subclasses know theirs.
        if cls is MeanMetricWrapper and "fn" not in config:
            raise ValueError("A MeanMetricWrapper can't be made from its config: the function isn't in it")
        return cls(**config)


class SumOverBatchSize(Reduce):
    """The sum of values times weights over their number."""

    def __init__(self, name="sum_over_batch_size", dtype=None):
        super().__init__(_SUM_OVER_BATCH_SIZE, name, dtype=dtype)


class SumOverBatchSizeMetricWrapper(_OfFunction, SumOverBatchSize):
    """The sum of a function of labels and predictions, times weights, over their number."""


class MeanTensor(Metric):
    """The mean of tensors of one shape, element by element.

    Args:
        name: The name it has in logs.
        dtype: The type in which it is counted.

    Example:
        >>> metric = tf.keras.metrics.MeanTensor()
        >>> update = metric.update_state([1.0, 3.0])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        array([1., 3.], dtype=float32)
    """

    # Until values come.
    _shape = _total = _count = None
    _built = False

    def __init__(self, name="mean_tensor", dtype=None):
        super().__init__(name=name, dtype=dtype)

    total = property(lambda self: self._total if self._built else None)
    count = property(lambda self: self._count if self._built else None)

    def _build(self, shape):
        self._shape = TensorShape(shape)
        self._total = self.add_weight("total", shape=shape, initializer="zeros")
        self._count = self.add_weight("count", shape=shape, initializer="zeros")
        with init_scope():
            if not executing_eagerly():
                K.get_session()
        self._built = True

    def update_state(self, values, sample_weight=None):
        values = math.cast(values, self._dtype)
        if not self._built:
            self._build(values.shape)
        elif values.shape != self._shape:
            raise ValueError(
                f"{self.name} is a mean of tensors of one shape, {self._shape} since its first call; these values have {values.shape}."
            )
        count = array.ones_like(values)
        if sample_weight is not None:
            sample_weight = math.cast(sample_weight, self._dtype)
            values, sample_weight = _fit_weights(values, sample_weight, math.reduce_mean)
            count = math.multiply(count, sample_weight)
            values = math.multiply(values, sample_weight)
        update_total = self._total.assign_add(values)
        with control_dependencies(None if executing_eagerly() else [update_total]):
            return self._count.assign_add(count)

    def result(self):
        if not self._built:
            raise ValueError(f"{self.name} does not have any result yet: it has seen no values.")
        return math.div_no_nan(self.total, self.count)

    def reset_states(self):
        if self._built:
            K.batch_set_value([(v, np.zeros(self._shape.as_list())) for v in self.variables])


_DOCUMENT = """The mean of `{function}` over all samples.

Args:
    {arguments}

Example:
    >>> metric = tf.keras.metrics.{name}()
    >>> update = metric.update_state({at})
    >>> sess.run([v.initializer for v in metric.variables])
    [None, None]
    >>> _ = sess.run(update)
    >>> sess.run(metric.result())
    {gives}
"""
_ARGUMENTS = {
    "name": "The name it has in logs.",
    "dtype": "The type in which it is counted.",
    "k": "How many of the highest predictions may hold the label.",
    "threshold": "Above which a prediction counts as 1.",
    "from_logits": "Whether predictions are scores that have not been through a sigmoid or softmax.",
    "label_smoothing": "How far labels are moved towards all classes being equal, between 0 and 1.",
    "axis": "The axis along which vectors lie, or of classes.",
}
_AT = "[[0.0, 1.0]], [[0.5, 0.5]]"


def mean_of_function(class_name, fn, name=None, arguments=(), *, gives, at=_AT):
    """The class of the mean of a function; `arguments` are those that its constructor takes, with their defaults. `at`
    labels and predictions it `gives` a number: its example.
    """
    front = {argument: default for argument, default in arguments if argument == "k"}
    behind = {argument: default for argument, default in arguments if argument not in front}
    parameters = {**front, "name": name or fn.__name__, "dtype": None, **behind}
    start = constructor(parameters, lambda self, **given: MeanMetricWrapper.__init__(self, fn, **given))
    own = {argument: _ARGUMENTS[argument] for argument in parameters}
    document = _DOCUMENT.format(
        function=fn.__name__,
        arguments="\n    ".join(f"{argument}: {what}" for argument, what in own.items()),
        name=class_name,
        at=at,
        gives=gives,
    )
    members = {"__init__": start, "__doc__": document, "__module__": __name__}
    return type(class_name, (MeanMetricWrapper,), members)
