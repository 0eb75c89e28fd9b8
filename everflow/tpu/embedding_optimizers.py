"""How tables of embeddings are trained on a TPU: settings of optimizers, and nodes that bring what they keep there and
back. An optimizer is a row of a table: its op types, and its slots with what they start from.
"""

from __future__ import annotations

import collections

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables import initializers
from everflow.ops.variables.assign import assign
from everflow.platform.signatures import parameters, takes
from everflow.protos import optimization_parameters_pb2 as messages


def _check(wrong, message):
    if wrong:
        raise ValueError(message)


# What every optimizer of tables is told after its own settings.
_LIMITS = {"clip_weight_min": None, "clip_weight_max": None}


class _OptimizationParameters:
    """What all optimizers of tables have: settings, which are attributes and become fields of a message."""

    use_gradient_accumulation = False

    def __init__(self, **settings):
        vars(self).update(settings)

    def fill(self, proto):
        """Write these settings into an OptimizationParameters message."""
        status = messages.GradientAccumulationStatus
        proto.gradient_accumulation_status = status.ENABLED if self.use_gradient_accumulation else status.DISABLED
        for limit, name in zip((proto.clipping_limits.lower, proto.clipping_limits.upper), _LIMITS, strict=True):
            if getattr(self, name) is not None:
                limit.value = getattr(self, name)


class AdagradParameters(_OptimizationParameters):
    """Adagrad on tables of embeddings."""

    @takes({**parameters("learning_rate, initial_accumulator=0.1, use_gradient_accumulation=True"), **_LIMITS})
    def __init__(self, **settings):
        super().__init__(**settings)
        start = self.initial_accumulator
        _check(start <= 0, f"Adagrad's initial_accumulator must be positive, not {start}.")

    def fill(self, proto):
        proto.adagrad.SetInParent()
        super().fill(proto)


_ADAM = parameters(
    """learning_rate, beta1=0.9, beta2=0.999, epsilon=1e-08, lazy_adam=True, sum_inside_sqrt=True,
    use_gradient_accumulation=True"""
)


class AdamParameters(_OptimizationParameters):
    """Adam on tables of embeddings; lazily, only rows that were looked up are changed."""

    @takes({**_ADAM, **_LIMITS})
    def __init__(self, **settings):
        super().__init__(**settings)
        for name in ("beta1", "beta2"):
            beta = settings[name]
            _check(not 0.0 <= beta < 1.0, f"{name} must be at least 0 and below 1, not {beta}.")
        _check(self.epsilon <= 0.0, f"epsilon must be positive, not {self.epsilon}.")
        accumulates = self.lazy_adam or self.use_gradient_accumulation
        _check(not accumulates, "Adam that is not lazy needs use_gradient_accumulation.")

    def fill(self, proto):
        for name in ("beta1", "beta2", "epsilon"):
            setattr(proto.adam, name, getattr(self, name))
        proto.adam.use_non_lazy_adam = not self.lazy_adam
        proto.adam.use_sum_inside_sqrt = self.sum_inside_sqrt
        super().fill(proto)


class StochasticGradientDescentParameters(_OptimizationParameters):
    """Gradient descent on tables of embeddings."""

    @takes({**parameters("learning_rate"), **_LIMITS})
    def __init__(self, **settings):
        super().__init__(**settings)

    def fill(self, proto):
        proto.stochastic_gradient_descent.SetInParent()
        super().fill(proto)


AdagradSlotVariable = collections.namedtuple("AdagradSlotVariable", ["accumulator"])
AdagradSlotVariableName = collections.namedtuple("AdagradSlotVariableName", ["accumulator"])
AdamSlotVariables = collections.namedtuple("AdamSlotVariables", ["m", "v"])
AdamSlotVariableNames = collections.namedtuple("AdamSlotVariableNames", ["m", "v"])

# settings: the optimizer in op types' names, what holds its slots, their names below the table's, what they start from.
_Optimizer = collections.namedtuple("_Optimizer", ["op_name", "slots", "names", "default_names", "start"])
_OPTIMIZERS = {
    AdagradParameters: _Optimizer(
        "Adagrad", AdagradSlotVariable, AdagradSlotVariableName, ["Adagrad"], lambda p: p.initial_accumulator
    ),
    AdamParameters: _Optimizer("ADAM", AdamSlotVariables, AdamSlotVariableNames, ["Adam/m", "Adam/v"], lambda p: None),
    StochasticGradientDescentParameters: _Optimizer("StochasticGradientDescent", None, None, [], lambda p: None),
}


def optimizer_of(settings):
    """The row of an optimizer's settings."""
    for kind, optimizer in _OPTIMIZERS.items():
        if isinstance(settings, kind):
            return optimizer
    raise NotImplementedError(
        f"Tables on TPUs are trained by {[k.__name__ for k in _OPTIMIZERS]}, not by {settings!r}."
    )


def slot_initializer(settings):
    """What slots start from."""
    start = optimizer_of(settings).start(settings)
    return initializers.zeros_initializer() if start is None else initializers.constant_initializer(start)


def load_op(settings, table, variables, num_hosts, shard):
    """A node that brings a part of a table, and of its slots, to the TPU."""
    build = getattr(raw, f"LoadTPUEmbedding{optimizer_of(settings).op_name}Parameters")
    with colocate_with(variables[0]):
        return build(*variables, table_name=table, num_shards=num_hosts, shard_id=shard)


def retrieve_op(settings, table, variables, num_hosts, shard):
    """A node that brings a part of a table, and of its slots, back into the variables."""
    build = getattr(raw, f"RetrieveTPUEmbedding{optimizer_of(settings).op_name}Parameters")
    with colocate_with(variables[0]):
        values = build(table_name=table, num_shards=num_hosts, shard_id=shard)
        values = [values] if len(variables) == 1 else list(values)
        return group(*[assign(variable, value) for variable, value in zip(variables, values, strict=True)])
