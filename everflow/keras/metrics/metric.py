"""The base of metrics: state that batches are added to, and a result computed from it."""

from __future__ import annotations

import abc
import functools
import types

from everflow.framework.scopes import control_dependencies, executing_eagerly
from everflow.keras import backend as K
from everflow.keras.engine.base_layer import Layer
from everflow.ops import array
from everflow.ops.functions.traced import function
from everflow.ops.variables.variable import VariableAggregation, VariableSynchronization


class Metric(Layer, metaclass=abc.ABCMeta):
    """Base of metrics: subclasses make state with `add_weight`, add to it in `update_state`, and compute `result`.

    Args:
        *args: `name` and `dtype`.
        **kwargs: `name` and `dtype`.

    Example:
        >>> class Largest(tf.keras.metrics.Metric):
        ...     def __init__(self, name="largest", **kwargs):
        ...         super().__init__(name=name, **kwargs)
        ...         self.value = self.add_weight("value", initializer="zeros")
        ...     def update_state(self, values):
        ...         return self.value.assign(tf.maximum(self.value, tf.reduce_max(values)))
        ...     def result(self):
        ...         return tf.identity(self.value)
        >>> metric = Largest()
        >>> update = metric.update_state([1.0, 7.0])
        >>> sess.run(metric.value.initializer)
        >>> sess.run(update)
    """

    def __init__(self, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.stateful = True
        self.built = True
        self._dtype = self._dtype or K.floatx()

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        # A program's own `update_state` may return nothing: traced as a function, all of its assignments are one op.
        update = made.update_state
        if not (executing_eagerly() or cls.__module__.startswith("everflow.")):
            update = function(update)
        object.__setattr__(made, "update_state", types.MethodType(_noting_update(update), made))
        object.__setattr__(made, "result", types.MethodType(_keeping_result(made.result), made))
        return made

    def __call__(self, *args, **kwargs):
        """Add a batch, and the result after it."""
        update = self.update_state(*args, **kwargs)
        with control_dependencies(None if executing_eagerly() or update is None else [update]):
            result = self.result()
            if hasattr(result, "dtype"):
                result._metric_obj = self
            return result

    def reset_states(self):
        """Begin anew."""
        K.batch_set_value([(v, 0) for v in self.variables])

    @abc.abstractmethod
    def update_state(self, *args, **kwargs):
        """Add a batch to the state."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @abc.abstractmethod
    def result(self):
        """What the state amounts to."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def add_weight(
        self,
        name,
        shape=(),
        aggregation=VariableAggregation.SUM,
        synchronization=VariableSynchronization.ON_READ,
        initializer=None,
        dtype=None,
    ):
        """A variable of the metric's state."""
        dtype = self._dtype if dtype is None else dtype
        replicated = {"synchronization": synchronization, "aggregation": aggregation}
        return super().add_weight(name, shape, dtype, initializer, trainable=False, collections=[], **replicated)

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


def _noting_update(update_state):
    """`update_state` that also tells the layer of its op, so that a model runs it."""

    @functools.wraps(update_state)
    def wrapped(self, *args, **kwargs):
        update = update_state(*args, **kwargs)
        if executing_eagerly():
            return update
        if update is not None:
            update = getattr(update, "op", update)
            self.add_update(update)
        return update

    return wrapped


def _keeping_result(compute):
    """`result` as a tensor of its own, kept for the model that asks for it later."""

    @functools.wraps(compute)
    def wrapped(self, *args, **kwargs):
        result = array.identity(compute(*args, **kwargs))
        self._call_result = result
        return result

    return wrapped


def clone_metric(metric):
    """Another metric with the same configuration and a state of its own."""
    return metric.__class__.from_config(metric.get_config()) if isinstance(metric, Metric) else metric


def clone_metrics(metrics):
    """Other metrics with the same configuration, given as a list or a dict."""
    if isinstance(metrics, dict):
        return dict(zip(metrics, clone_metrics(metrics.values())))
    return None if metrics is None else list(map(clone_metric, metrics))
