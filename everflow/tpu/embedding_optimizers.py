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
from everflow.protos import optimization_parameters_pb2 as messages


class _OptimizationParameters:
    """What all optimizers of tables have."""

    def __init__(self, learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max):
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max

    def fill(self, proto):
        """Write these settings into an OptimizationParameters message."""
        status = messages.GradientAccumulationStatus
        proto.gradient_accumulation_status = status.ENABLED if self.use_gradient_accumulation else status.DISABLED
        if self.clip_weight_min is not None:
            proto.clipping_limits.lower.value = self.clip_weight_min
        if self.clip_weight_max is not None:
            proto.clipping_limits.upper.value = self.clip_weight_max


class AdagradParameters(_OptimizationParameters):
    """Adagrad on tables of embeddings."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator=0.1,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if initial_accumulator <= 0:
            raise ValueError(f"Adagrad's initial_accumulator must be positive, not {initial_accumulator}.")
        self.initial_accumulator = initial_accumulator

    def fill(self, proto):
        proto.adagrad.SetInParent()
        super().fill(proto)


class AdamParameters(_OptimizationParameters):
    """Adam on tables of embeddings; lazily, only rows that were looked up are changed."""

    def __init__(
        self,
        learning_rate,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        lazy_adam=True,
        sum_inside_sqrt=True,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
    ):
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0.0 <= value < 1.0:
                raise ValueError(f"{name} must be at least 0 and below 1, not {value}.")
        if epsilon <= 0.0:
            raise ValueError(f"epsilon must be positive, not {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("Adam that is not lazy needs use_gradient_accumulation.")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt

    def fill(self, proto):
        proto.adam.beta1, proto.adam.beta2, proto.adam.epsilon = self.beta1, self.beta2, self.epsilon
        proto.adam.use_non_lazy_adam = not self.lazy_adam
        proto.adam.use_sum_inside_sqrt = self.sum_inside_sqrt
        super().fill(proto)


class StochasticGradientDescentParameters(_OptimizationParameters):
    """Gradient descent on tables of embeddings."""

    def __init__(self, learning_rate, clip_weight_min=None, clip_weight_max=None):
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)

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
