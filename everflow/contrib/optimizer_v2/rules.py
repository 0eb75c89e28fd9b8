"""The optimizers of tf.contrib.optimizer_v2: most are one op a variable, told by a table of its inputs."""

from __future__ import annotations

from everflow.contrib.optimizer_v2.optimizer_v2 import OptimizerV2
from everflow.framework import op_defs
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables import assign as state_ops
from everflow.ops.variables.initializers import constant_initializer
from everflow.ops.variables.resource import is_resource_variable


class _KernelRule(OptimizerV2):
    """An optimizer whose update is one op: `ApplyX`, or its resource and sparse forms.

    `_rule` is the X, `_slot_inputs` maps the op's slot inputs to names of slots, which start at zero, `_scalars` its scalar inputs
    to hyperparameters.
    """

    _rule: str
    _slot_inputs: dict[str, str] = {}
    _scalars: dict[str, str] = {"lr": "learning_rate"}

    def __init__(self, use_locking, name, **hyper):
        super().__init__(use_locking, name)
        for key, value in hyper.items():
            self._set_hyper(key, value)

    def _create_vars(self, var_list, state):
        for var in var_list:
            for slot in self._slot_inputs.values():
                state.zeros_slot(var, slot)

    def _rule_of(self, state):
        """(X, slot inputs)."""
        return self._rule, self._slot_inputs

    def _attributes(self):
        return {}

    def _scalar(self, name, dtype, state):
        return state.get_hyper(name, dtype)

    def _update(self, var, grad, state, indices=None):
        resource = is_resource_variable(var)
        rule, slots = self._rule_of(state)
        op_type = f"{'Resource' if resource else ''}{'' if indices is None else 'Sparse'}Apply{rule}"
        held = {"var": var, **{name: state.get_slot(var, slot) for name, slot in slots.items()}}
        inputs = {name: v.handle if resource else v for name, v in held.items()}
        inputs |= {"grad": grad, "delta": grad, "indices": indices}
        inputs |= {name: self._scalar(hyper, grad.dtype.base_dtype, state) for name, hyper in self._scalars.items()}
        wanted = [inputs[arg.name] for arg in op_defs.get(op_type).inputs]
        made = getattr(raw, op_type)(*wanted, use_locking=self._use_locking, **self._attributes())
        return made if resource else made.op

    def _apply_dense(self, grad, var, state):
        return self._update(var, grad, state)

    def _resource_apply_dense(self, grad, handle, state):
        return self._update(handle, grad, state)

    def _apply_sparse(self, grad, var, state):
        return self._update(var, grad.values, state, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices, state):
        return self._update(handle, grad, state, indices)


class GradientDescentOptimizer(_KernelRule):
    """Steps against the gradient.

    Args:
        learning_rate: How far a step goes.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
    """

    _rule = "GradientDescent"
    _scalars = {"alpha": "learning_rate"}

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name, learning_rate=learning_rate)

    # An index that comes twice is subtracted twice: nothing has to be added up.
    def _apply_sparse_duplicate_indices(self, grad, var, state):
        delta = grad.values * state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return state_ops.scatter_sub(var, grad.indices, delta, use_locking=self._use_locking).op

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, state):
        delta = -grad * state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return raw.ResourceScatterAdd(handle.handle, indices, delta)


class MomentumOptimizer(_KernelRule):
    """Steps along a sum of gradients that forgets.

    Args:
        learning_rate: How far a step goes.
        momentum: How much of the sum stays at each step.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
        use_nesterov: Whether the gradient counts once more, as Nesterov has it.
    """

    _rule = "Momentum"
    _slot_inputs = {"accum": "momentum"}
    _scalars = {"lr": "learning_rate", "momentum": "momentum"}

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name, learning_rate=learning_rate, momentum=momentum)
        self._use_nesterov = use_nesterov

    def _attributes(self):
        return {"use_nesterov": self._use_nesterov}


class AdagradOptimizer(_KernelRule):
    """Divides by the root of the sum of squared gradients.

    Args:
        learning_rate: How far a step goes.
        initial_accumulator_value: What the sums start as.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
    """

    _rule = "Adagrad"
    _slot_inputs = {"accum": "accumulator"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive, not {initial_accumulator_value}")
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_vars(self, var_list, state):
        for var in var_list:
            dtype = var.dtype.base_dtype
            start = constant_initializer(self._initial_accumulator_value, dtype=dtype)
            state.create_slot_with_initializer(var, start, var.get_shape(), dtype, "accumulator")


class AdadeltaOptimizer(_KernelRule):
    """Divides by the root of a mean of squared gradients, and multiplies by that of squared steps.

    Args:
        learning_rate: How far a step goes.
        rho: How much of the means stays at each step.
        epsilon: What is added under the roots.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
    """

    _rule = "Adadelta"
    _slot_inputs = {"accum": "accum", "accum_update": "accum_update"}
    _scalars = {"lr": "learning_rate", "rho": "rho", "epsilon": "epsilon"}

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name, learning_rate=learning_rate, rho=rho, epsilon=epsilon)


class RMSPropOptimizer(_KernelRule):
    """Divides by the root of a mean of squared gradients.

    Args:
        learning_rate: How far a step goes.
        decay: How much of the mean stays at each step.
        momentum: How much of the last step is made again.
        epsilon: What the mean of squares starts as.
        use_locking: Whether others wait until an update of a variable is done.
        centered: Whether the mean gradient is subtracted, so that it divides by a variance.
        name: What the operations' names start with.
    """

    _rule = "RMSProp"
    _slot_inputs = {"ms": "rms", "mom": "momentum"}
    _scalars = {"lr": "learning_rate", "rho": "decay", "momentum": "momentum", "epsilon": "epsilon"}

    def __init__(
        self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name="RMSProp"
    ):
        super().__init__(
            use_locking, name, learning_rate=learning_rate, decay=decay, momentum=momentum, epsilon=epsilon
        )
        self._centered = centered

    def _create_vars(self, var_list, state):
        of_zeros = ["mg", "momentum"] if self._centered else ["momentum"]
        for var in var_list:
            state.create_slot(var, state.get_hyper("epsilon", var.dtype.base_dtype) * array.ones_like(var), "rms")
            for slot in of_zeros:
                state.zeros_slot(var, slot)

    def _rule_of(self, state):
        return (
            ("CenteredRMSProp", {"mg": "mg", **self._slot_inputs})
            if self._centered
            else (self._rule, self._slot_inputs)
        )

    def _scalar(self, name, dtype, state):
        # It is in the mean of squares from the beginning, and not added again.
        return 0.0 if name == "epsilon" else super()._scalar(name, dtype, state)


class AdamOptimizer(_KernelRule):
    """Steps along the mean gradient, divided by the root of the mean of its squares.

    Args:
        learning_rate: How far a step goes.
        beta1: How much of the mean gradient stays at each step.
        beta2: How much of the mean of squares stays at each step.
        epsilon: What is added to the root.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
    """

    _rule = "Adam"
    _slot_inputs = {"m": "m", "v": "v"}
    _scalars = {"lr": "learning_rate", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
    _powers = ("beta1_power", "beta2_power")

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)

    def _get_beta_accumulators(self, state):
        return tuple(state.get_non_slot(name) for name in self._powers)

    def _create_vars(self, var_list, state):
        # Beside the variable whose name comes first, so that it is the same one each time.
        first = min(var_list, key=lambda var: var.name)
        for name in self._powers:
            state.create_non_slot(state.get_hyper(name.removesuffix("_power")), name, colocate_with=first)
        super()._create_vars(var_list, state)

    def _update(self, var, grad, state, indices=None):
        if indices is not None:
            return self._update_rows(var, grad, indices, state)
        resource, dtype = is_resource_variable(var), grad.dtype.base_dtype
        slots = [state.get_slot(var, name) for name in self._slot_inputs.values()]
        held = [v.handle if resource else v for v in (var, *slots)]
        powers = [math.cast(power, dtype) for power in self._get_beta_accumulators(state)]
        scalars = [state.get_hyper(name, dtype) for name in self._scalars.values()]
        apply = raw.ResourceApplyAdam if resource else raw.ApplyAdam
        made = apply(*held, *powers, *scalars, grad, use_locking=self._use_locking)
        return made if resource else made.op

    def _update_rows(self, var, grad, indices, state):
        """Means of all rows shrink, those of the rows with gradients get their part: no op does that."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (math.cast(power, dtype) for power in self._get_beta_accumulators(state))
        rate = state.get_hyper("learning_rate", dtype)
        beta1, beta2 = state.get_hyper("beta1", dtype), state.get_hyper("beta2", dtype)
        rate = rate * math.sqrt(1 - beta2_power) / (1 - beta1_power)
        mean = self._shrunk(state.get_slot(var, "m"), beta1, indices, grad * (1 - beta1))
        squares = self._shrunk(state.get_slot(var, "v"), beta2, indices, (grad * grad) * (1 - beta2))
        root = math.sqrt(squares)
        step = rate * mean / (root + state.get_hyper("epsilon", dtype))
        return group(state_ops.assign_sub(var, step, use_locking=self._use_locking), mean, squares)

    def _shrunk(self, slot, factor, indices, added):
        shrunk = state_ops.assign(slot, slot * factor, use_locking=self._use_locking)
        with control_dependencies([shrunk]):
            if is_resource_variable(slot):
                with control_dependencies([raw.ResourceScatterAdd(slot.handle, indices, added)]):
                    return slot.value()
            return state_ops.scatter_add(slot, indices, added, use_locking=self._use_locking)

    def _finish(self, state):
        """The powers of both betas go on."""
        return [
            state_ops.assign(power, power * state.get_hyper(name.removesuffix("_power")), use_locking=self._use_locking)
            for name, power in zip(self._powers, self._get_beta_accumulators(state), strict=True)
        ]
