"""tf.contrib.eager.metrics: objects called with each batch (in graphs that gives the update) for a result."""

from __future__ import annotations

import re

from everflow.contrib import summary
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, executing_eagerly
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group
from everflow.ops.functions.traced import defun
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope


class Metric(AutoTrackable):
    """Base class: subclasses make variables in `build`, update them in `call`, and compute from them in `result`."""

    def __init__(self, name=None, use_global_variables=False):
        self._name = name or type(self).__name__
        self._scope_name = re.sub(r"[^A-Za-z0-9_.]", "_", self._name)
        self._built = False
        self._variables: list = []
        self._use_global_variables = use_global_variables
        self._call = self.call if executing_eagerly() else defun(self.call)

    name = property(lambda self: self._name)
    variables = property(lambda self: list(self._variables), doc="The variables, in the order in which they were made.")

    def _checkpoint_children(self):
        return [(v.name.rpartition("/")[2][:-2], v) for v in self._variables]

    def __call__(self, *args, **kwargs):
        if not self._built:
            with variable_scope(self._scope_name, use_resource=True, reuse=False):
                self.build(*args, **kwargs)
            self._built = True
        return self._call(*args, **kwargs)

    def build(self, *args, **kwargs):
        """Make the variables, with `add_variable`; called before the first `call`, with its arguments."""

    def call(self, *args, **kwargs):
        """Update the variables by a batch."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """What the metric says of all batches so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self):
        """The result, without a summary."""
        return self.result()

    def init_variables(self):
        """Forget all batches; in a graph the op that does so."""
        if not executing_eagerly():
            return group(*[v.initializer for v in self._variables])
        for variable in self._variables:
            variable.assign(array.zeros_like(variable))
        return None

    def aggregate(self, metrics):
        """Add the variables of metrics of the same kind to this one's."""
        for metric in metrics:
            if len(self._variables) != len(metric._variables):
                raise ValueError("Only metrics of the same kind add up: these have other numbers of variables")
            for mine, other in zip(self._variables, metric._variables):
                if mine.name != other.name:
                    raise ValueError(f"Only metrics of the same kind add up: {mine.name} is not {other.name}")
                mine.assign_add(other)

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """A variable of the metric; only inside `build`."""
        if self._built:
            raise RuntimeError(f"add_variable() belongs into build(): the metric {self.name!r} is built already")
        scope = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        collections = [scope, GraphKeys.METRIC_VARIABLES]
        settings = {"trainable": False, "collections": collections, "use_resource": True}
        made = get_variable(name, shape, dtype, initializer, **settings)
        self._variables.append(made)
        return made


class Mean(Metric):
    """The weighted mean of values.

    >>> mean = tfe.metrics.Mean("loss")
    >>> for batch in dataset:
    ...     mean(loss(batch))
    >>> print(mean.result().numpy())
    """

    def __init__(self, name=None, dtype=dtypes.float64, use_global_variables=False):
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args, **kwargs):
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype, initializer=zeros_initializer)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype, initializer=zeros_initializer)

    def call(self, values, weights=None):
        """Count values, each by its weight; returns their sum, or the weighted values and the weights."""
        values = convert_to_tensor(values)
        if weights is None:
            self.denom.assign_add(math.cast(array.size(values), self.dtype))
            values = math.reduce_sum(values)
            self.numer.assign_add(math.cast(values, self.dtype))
            return values
        weights = math.cast(weights, self.dtype)
        self.denom.assign_add(math.reduce_sum(weights))
        values = math.cast(values, self.dtype) * weights
        self.numer.assign_add(math.reduce_sum(values))
        return values, weights

    def result(self, write_summary=True):
        """The mean; also written as a summary of the metric's name where summaries are recorded, unless told not to."""
        mean = self.numer / self.denom
        if isinstance(write_summary, bool):
            if write_summary:
                summary.scalar(self.name, mean)
            return mean

        def written():
            with control_dependencies([summary.scalar(self.name, mean)]):
                return array.identity(mean)

        return cond(write_summary, written, lambda: array.identity(mean))


class _ShareOfEqual(Mean):
    """How often what is made of predictions is equal to what is made of labels."""

    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        """Count a batch; returns its arguments, in the form in which they are compared."""
        self._check(labels, predictions)
        labels, predictions = self._compared(labels, predictions)
        super().call(math.cast(math.equal(labels, predictions), self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def _check(self, labels, predictions):
        message = "Shapes of labels and predictions are unequal"
        check.assert_equal(array.shape(labels), array.shape(predictions), message=message)

    def _compared(self, labels, predictions):
        return labels, predictions


class Accuracy(_ShareOfEqual):
    """How often predictions are equal to labels."""


class CategoricalAccuracy(_ShareOfEqual):
    """How often the largest prediction is where the largest label (of one-hot ones) is."""

    def _compared(self, labels, predictions):
        return math.argmax(labels, axis=-1), math.argmax(predictions, axis=-1)


class BinaryAccuracy(_ShareOfEqual):
    """How often predictions above a threshold are labels other than zero."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def _compared(self, labels, predictions):
        predictions = convert_to_tensor(predictions)
        predictions = math.greater(predictions, math.cast(self.threshold, predictions.dtype))
        return math.cast(labels, dtypes.bool), predictions


class SparseAccuracy(_ShareOfEqual):
    """How often the largest prediction is at the position that the label names."""

    def _check(self, labels, predictions):
        message = "labels has another number of rows than predictions: give one label for each"
        check.assert_equal(array.shape(labels), array.shape(predictions)[0], message=message)

    def _compared(self, labels, predictions):
        predictions = math.argmax(predictions, axis=-1)
        return math.cast(labels, dtypes.int64), predictions
