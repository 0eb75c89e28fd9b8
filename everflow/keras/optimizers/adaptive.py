"""Optimizers that adapt the rate of each weight to its gradients so far: Adagrad, Adadelta, RMSprop, Ftrl."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.keras import backend as K
from everflow.keras import initializers
from everflow.keras.optimizers.optimizer import Optimizer, is_used
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.platform.signatures import takes


class _MayLackSteps(Optimizer):
    """What can be set from files of old Keras, which don't hold the count of steps."""

    def set_weights(self, weights):
        params = self.weights
        if len(params) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)


class _ByOneOp(Optimizer):
    """An optimizer with an op for its updates: its name, and what it calls slots and rates."""

    _op: str
    _op_slots: dict
    _op_rates: dict

    def _resource_apply_dense(self, grad, var):
        return self._apply_op("ResourceApply", grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_op("ResourceSparseApply", grad, var, indices=indices)

    def _apply_op(self, form, grad, var, **indices):
        arguments = self._op_arguments(grad, var, self._op_slots, self._op_rates, **indices)
        return getattr(raw, form + self._op)(**arguments)


class Adagrad(_MayLackSteps, _ByOneOp):
    """The rate of a weight falls with the sum of squares of its gradients.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        initial_accumulator_value: What the sums of squared gradients start as.
        epsilon: A small number that keeps a division from being one by zero.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Adagrad(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.901
    """

    _written_hypers = ("learning_rate", "decay")
    _written_attributes = {"initial_accumulator_value": "_initial_accumulator_value", "epsilon": "epsilon"}
    _op, _op_slots, _op_rates = "AdagradV2", {"accum": "accumulator"}, {"epsilon": "epsilon"}

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, name="Adagrad", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs.get("lr", learning_rate))
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = K.epsilon() if epsilon is None else epsilon
        if self.epsilon < 1e-7:
            raise ValueError(f"epsilon must be larger than 1e-7: {epsilon}")

    def _create_slots(self, var_list):
        for var in var_list:
            start = initializers.Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", start)

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        prepared["epsilon"] = convert_to_tensor(self.epsilon, dtype)
        prepared["neg_lr"] = -prepared["lr_t"]
        prepared["zero"] = array.zeros((), dtype=dtypes.int64)

    @classmethod
    def _bring_up_to_date(cls, config):
        super()._bring_up_to_date(config)
        config.setdefault("initial_accumulator_value", 0.0)


class Adadelta(_MayLackSteps, _ByOneOp):
    """As Adagrad, over a window of gradients, and with steps measured by earlier steps.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        rho: How slowly the mean of squared gradients forgets.
        epsilon: A small number that keeps a division from being one by zero.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Adadelta(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        1.000
    """

    _written_hypers = ("learning_rate", "decay", "rho")
    _written_attributes = {"epsilon": "epsilon"}
    _op, _op_slots = "Adadelta", {"accum": "accum_grad", "accum_update": "accum_var"}
    _op_rates = {"rho": "rho", "epsilon": "epsilon"}

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, name="Adadelta", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs.get("lr", learning_rate), rho=rho)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list):
        self._add_slots(var_list, "accum_grad", "accum_var")

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        prepared["epsilon"] = convert_to_tensor(self.epsilon, dtype)
        prepared["rho"] = array.identity(self._get_hyper("rho", dtype))


class RMSprop(_MayLackSteps):
    """The gradient over the root of a moving average of its square; centred, over the deviation.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        rho: How slowly the mean of squared gradients forgets.
        momentum: How much of the last step is gone again.
        epsilon: A small number that keeps a division from being one by zero.
        centered: Whether the mean's own square is subtracted.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.684
    """

    _written_hypers = ("learning_rate", "decay", "rho", "momentum")
    _written_attributes = {"epsilon": "epsilon", "centered": "centered"}

    def __init__(
        self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, name="RMSprop", **kwargs
    ):
        super().__init__(name, **kwargs)
        self._momentum = is_used(momentum)
        self._set_hypers(kwargs.get("lr", learning_rate), rho=rho, momentum=momentum)
        self.epsilon = epsilon or K.epsilon()
        self.centered = centered

    def _create_slots(self, var_list):
        self._add_slots(var_list, "rms", *["momentum"] * self._momentum, *["mg"] * self.centered)

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        rho = array.identity(self._get_hyper("rho", dtype))
        prepared.update(
            neg_lr=-prepared["lr_t"],
            epsilon=convert_to_tensor(self.epsilon, dtype),
            rho=rho,
            momentum=array.identity(self._get_hyper("momentum", dtype)),
            one_minus_rho=1.0 - rho,
        )

    def _fused(self, grad, var, indices=None):
        """The update by one op, which momentum asks for."""
        slots = {"ms": "rms", "mom": "momentum", **({"mg": "mg"} if self.centered else {})}
        rates = {name: name for name in ("rho", "momentum", "epsilon")}
        op = ("ResourceApply" if indices is None else "ResourceSparseApply") + (
            "CenteredRMSProp" if self.centered else "RMSProp"
        )
        return getattr(raw, op)(
            **self._op_arguments(grad, var, slots, rates, **({} if indices is None else {"indices": indices}))
        )

    def _resource_apply_dense(self, grad, var):
        if self._momentum:
            return self._fused(grad, var)
        rates = self._coefficients(var)
        rms = self.get_slot(var, "rms")
        rms_now = rates["rho"] * rms + rates["one_minus_rho"] * math.square(grad)
        rms_now = rms.assign(rms_now, use_locking=self._use_locking)
        variance = rms_now
        if self.centered:
            mean = self.get_slot(var, "mg")
            mean_now = rates["rho"] * mean + rates["one_minus_rho"] * grad
            mean_now = mean.assign(mean_now, use_locking=self._use_locking)
            variance = rms_now - math.square(mean_now)
        var_now = var - rates["lr_t"] * grad / (math.sqrt(variance) + rates["epsilon"])
        return var.assign(var_now, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        if self._momentum:
            return self._fused(grad, var, indices)
        rates = self._coefficients(var)
        rms = self.get_slot(var, "rms")
        rms_part = (grad * grad) * rates["one_minus_rho"]
        rms_now = rms.assign(rms * rates["rho"], use_locking=self._use_locking)
        with control_dependencies([rms_now]):
            rms_now = self._resource_scatter_add(rms, indices, rms_part)
            rms_rows = array.gather(rms_now, indices)
        variance = rms_rows
        if self.centered:
            mean = self.get_slot(var, "mg")
            mean_part = grad * rates["one_minus_rho"]
            mean_now = mean.assign(mean * rates["rho"], use_locking=self._use_locking)
            with control_dependencies([mean_now]):
                mean_now = self._resource_scatter_add(mean, indices, mean_part)
                mean_rows = array.gather(mean_now, indices)
                variance = rms_rows - math.square(mean_rows)
        change = rates["neg_lr"] * grad / (math.sqrt(variance) + rates["epsilon"])
        var_now = self._resource_scatter_add(var, indices, change)
        if self.centered:
            return group(var_now, rms_now, mean_now)
        return group(var_now, rms_now)


_FTRL_RATES = {"l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}


class Ftrl(_ByOneOp):
    """Follow the regularised leader: many weights become exactly zero.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        learning_rate_power: The power of the sum by which the rate falls; not positive.
        initial_accumulator_value: What the sums of squared gradients start as.
        l1_regularization_strength: The cost of the absolute value of a weight.
        l2_regularization_strength: The cost of the square of a weight.
        name: What the operations' names start with.
        l2_shrinkage_regularization_strength: The cost of the square of a weight, added to the gradient only.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Ftrl(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.745
    """

    _written_hypers = ("learning_rate", "decay", "learning_rate_power", *_FTRL_RATES.values())
    _written_attributes = {
        name: f"_{name}" for name in ("initial_accumulator_value", "l2_shrinkage_regularization_strength")
    }
    _op_slots = {"accum": "accumulator", "linear": "linear"}
    _op_rates = {**_FTRL_RATES, "lr_power": "learning_rate_power"}

    @takes(
        """learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1,
        l1_regularization_strength=0.0, l2_regularization_strength=0.0, name="Ftrl",
        l2_shrinkage_regularization_strength=0.0, **kwargs""",
    )
    def __init__(self, learning_rate, learning_rate_power, name, **given):
        kept = ("initial_accumulator_value", *_FTRL_RATES.values(), "l2_shrinkage_regularization_strength")
        kept = {argument: given.pop(argument) for argument in kept}
        super().__init__(name, **given)
        for argument, value in kept.items():
            if value < 0.0:
                raise ValueError(f"{argument} of Ftrl can't be negative: {value}")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power of Ftrl can't be positive: {learning_rate_power}")
        for argument, attribute in self._written_attributes.items():
            setattr(self, attribute, kept.pop(argument))
        self._set_hypers(learning_rate, learning_rate_power=learning_rate_power, **kept)

    def _create_slots(self, var_list):
        for var in var_list:
            start = initializers.Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", start)
            self.add_slot(var, "linear")

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        for name in ("learning_rate_power", *_FTRL_RATES.values()):
            prepared[name] = array.identity(self._get_hyper(name, dtype))
        prepared["l2_shrinkage"] = math.cast(self._l2_shrinkage_regularization_strength, dtype)

    def _apply_op(self, form, grad, var, **indices):
        op, rates = "Ftrl", self._op_rates
        if self._l2_shrinkage_regularization_strength > 0.0:
            op, rates = "FtrlV2", {**rates, "l2_shrinkage": "l2_shrinkage"}
        return getattr(raw, form + op)(**self._op_arguments(grad, var, self._op_slots, rates, **indices))
