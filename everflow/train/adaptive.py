"""Optimizers that keep sums of squared gradients: Adagrad and its relatives, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from everflow.framework.scopes import colocate_with, device
from everflow.ops import array, initializers
from everflow.ops.constants import constant
from everflow.ops.math import cast
from everflow.train.optimizer import KernelOptimizer


class AdagradOptimizer(KernelOptimizer):
    """Divides by the root of the sum of squared gradients."""

    _rule = "Adagrad"
    _rule_slots = {"accum": "accumulator"}
    _rule_tensors = {"lr": "_learning_rate_tensor"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            if v.get_shape().is_fully_defined():
                initializer = initializers.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            else:
                initializer = _filled_like(v, self._initial_accumulator_value, dtype)
            self._get_or_make_slot_with_initializer(v, initializer, v.get_shape(), dtype, "accumulator", self._name)

    def _prepare(self):
        self._prepare_tensors(learning_rate=("_learning_rate_tensor", self._learning_rate))


def _filled_like(v, value, dtype):
    """An initializer without arguments that fills a variable's shape, found when it runs."""

    def initializer():
        return array.fill(array.shape(v), cast(constant(value), dtype))

    return initializer


class ProximalAdagradOptimizer(KernelOptimizer):
    """Adagrad with L1 and L2 regularization that sets small weights to zero."""

    _rule = "ProximalAdagrad"
    _rule_slots = {"accum": "accumulator"}
    _rule_tensors = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
    }

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v.op):
                value = constant(self._initial_accumulator_value, shape=v.get_shape(), dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, value, "accumulator", self._name)

    def _prepare(self):
        self._prepare_tensors(
            learning_rate=("_learning_rate_tensor", self._learning_rate),
            l1_regularization_strength=("_l1_regularization_strength_tensor", self._l1_regularization_strength),
            l2_regularization_strength=("_l2_regularization_strength_tensor", self._l2_regularization_strength),
        )


class AdagradDAOptimizer(KernelOptimizer):
    """Adagrad with dual averaging: weights come from the sums of gradients, so that L1 keeps many at zero."""

    _rule = "AdagradDA"
    _rule_slots = {"gradient_accumulator": "gradient_accumulator", "gradient_squared_accumulator": "gradient_squared_accumulator"}
    _rule_tensors = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength",
        "l2": "_l2_regularization_strength",
    }

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._learning_rate_tensor = None
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step
        self._global_step_on_worker = None

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            with colocate_with(v.op):
                sums = constant(0.0, shape=v.get_shape(), dtype=dtype)
                squares = constant(self._initial_gradient_squared_accumulator_value, shape=v.get_shape(), dtype=dtype)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self):
        self._prepare_tensors(learning_rate=("_learning_rate_tensor", self._learning_rate))
        # A copy of the step, so that workers don't all ask the parameter server for it.
        with colocate_with(self._learning_rate_tensor.op):
            self._global_step_on_worker = array.identity(self._global_step) + 1

    def _tensors_for(self, var, tensors, dtype):
        with device(var.device):
            global_step = array.identity(self._global_step_on_worker)
        return {**super()._tensors_for(var, tensors, dtype), "global_step": global_step}


class AdadeltaOptimizer(KernelOptimizer):
    """Scales each step by a running mean of earlier steps over one of gradients."""

    _rule = "Adadelta"
    _rule_slots = {"accum": "accum", "accum_update": "accum_update"}
    _rule_tensors = {"lr": "_lr_t", "rho": "_rho_t", "epsilon": "_epsilon_t"}

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t = None
        self._rho_t = None
        self._epsilon_t = None

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self):
        self._prepare_tensors(lr=("_lr_t", self._lr), rho=("_rho_t", self._rho), epsilon=("_epsilon_t", self._epsilon))


class RMSPropOptimizer(KernelOptimizer):
    """Divides by the root of a running mean of squared gradients; `centered` subtracts the mean's own square."""

    _rule_tensors = {"lr": "_learning_rate_tensor", "rho": "_decay_tensor", "momentum": "_momentum_tensor", "epsilon": "_epsilon_tensor"}

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._learning_rate_tensor = None
        self._decay_tensor = None
        self._momentum_tensor = None
        self._epsilon_tensor = None

    def _rule_for(self, var):
        if self._centered:
            return "CenteredRMSProp", {"mg": "mg", "ms": "rms", "mom": "momentum"}, self._rule_tensors
        return "RMSProp", {"ms": "rms", "mom": "momentum"}, self._rule_tensors

    def _create_slots(self, var_list):
        for v in var_list:
            if v.get_shape().is_fully_defined():
                ones = initializers.ones_initializer(dtype=v.dtype.base_dtype)
            else:
                ones = array.ones_like(v)
            self._get_or_make_slot_with_initializer(v, ones, v.get_shape(), v.dtype.base_dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._prepare_tensors(
            learning_rate=("_learning_rate_tensor", self._learning_rate),
            decay=("_decay_tensor", self._decay),
            momentum=("_momentum_tensor", self._momentum),
            epsilon=("_epsilon_tensor", self._epsilon),
        )


class FtrlOptimizer(KernelOptimizer):
    """Follow the regularized leader, with L1, L2 and (online) shrinkage-type L2."""

    _rule_slots = {"accum": "accum", "linear": "linear"}
    _rule_tensors = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
        "l2_shrinkage": "_l2_shrinkage_regularization_strength_tensor",
        "lr_power": "_learning_rate_power_tensor",
    }

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
    ):
        super().__init__(use_locking, name)
        for value, what in (
            (initial_accumulator_value, "initial_accumulator_value"),
            (l1_regularization_strength, "l1_regularization_strength"),
            (l2_regularization_strength, "l2_regularization_strength"),
            (l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength"),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be greater than or equal to zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power must be negative or zero, not {learning_rate_power}")
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _rule_for(self, var):
        if self._l2_shrinkage_regularization_strength <= 0.0:
            without = {k: v for k, v in self._rule_tensors.items() if k != "l2_shrinkage"}
            return "Ftrl", self._rule_slots, without
        return "FtrlV2", self._rule_slots, self._rule_tensors

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v.op):
                value = constant(self._initial_accumulator_value, dtype=v.dtype.base_dtype, shape=v.get_shape())
                self._get_or_make_slot(v, value, "accum", self._accum_name or self._name)
                self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self):
        self._prepare_tensors(
            learning_rate=("_learning_rate_tensor", self._learning_rate),
            l1_regularization_strength=("_l1_regularization_strength_tensor", self._l1_regularization_strength),
            l2_regularization_strength=("_l2_regularization_strength_tensor", self._l2_regularization_strength),
            l2_shrinkage_regularization_strength=(
                "_l2_shrinkage_regularization_strength_tensor",
                self._l2_shrinkage_regularization_strength,
            ),
            learning_rate_power=("_learning_rate_power_tensor", self._learning_rate_power),
        )
