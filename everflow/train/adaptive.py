"""Optimizers that keep sums of squared gradients: Adagrad and its relatives, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from everflow.framework.scopes import colocate_with, device
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.math import cast
from everflow.ops.variables import initializers
from everflow.platform.signatures import takes
from everflow.train.optimizer import KernelUpdate, Optimizer


def _check_positive(**values):
    for name, value in values.items():
        if value <= 0.0:
            raise ValueError(f"{name} must be positive: {value}")


class _FilledSlots(KernelUpdate):
    """An optimizer whose slots start with one value each."""

    def _fill_slots(self, v, **values):
        """Slots of a variable, each filled with its value, once all these constants are made."""
        with colocate_with(v.op):
            filled = {
                slot: constant(value, shape=v.get_shape(), dtype=v.dtype.base_dtype) for slot, value in values.items()
            }
        for slot, value in filled.items():
            self._get_or_make_slot(v, value, slot, self._name)


class AdagradOptimizer(KernelUpdate, Optimizer):
    """Divides by the root of the sum of squared gradients.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        initial_accumulator_value: What the sums of squared gradients start as.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.AdagradOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.90122706)
    """

    _rule = "Adagrad"
    _rule_slots = {"accum": "accumulator"}
    _scalars = {"lr": "learning_rate"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        _check_positive(initial_accumulator_value=initial_accumulator_value)
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            shape, dtype = v.get_shape(), v.dtype.base_dtype
            start = self._filled if shape.is_fully_defined() else self._filled_when_run
            self._get_or_make_slot_with_initializer(v, start(v, dtype), shape, dtype, "accumulator", self._name)

    def _filled(self, v, dtype):
        return initializers.constant_initializer(self._initial_accumulator_value, dtype=dtype)

    def _filled_when_run(self, v, dtype):
        """An initializer without arguments that fills a variable's shape, found when it runs."""
        return lambda: array.fill(array.shape(v), cast(constant(self._initial_accumulator_value), dtype))


class ProximalAdagradOptimizer(_FilledSlots, Optimizer):
    """Adagrad with L1 and L2 regularization that sets small weights to zero.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        initial_accumulator_value: What the sums of squared gradients start as.
        l1_regularization_strength: The cost of the absolute value of a weight.
        l2_regularization_strength: The cost of the square of a weight.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.ProximalAdagradOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.90122706)
    """

    _rule = "ProximalAdagrad"
    _rule_slots = {"accum": "accumulator"}
    _scalars = {"lr": "learning_rate", "l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}

    @takes(
        """learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
        l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad" """,
    )
    def __init__(self, initial_accumulator_value, use_locking, name, **hyperparameters):
        _check_positive(initial_accumulator_value=initial_accumulator_value)
        super().__init__(use_locking, name)
        self._set(**hyperparameters)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._fill_slots(v, accumulator=self._initial_accumulator_value)


class AdagradDAOptimizer(_FilledSlots, Optimizer):
    """Adagrad with dual averaging: weights come from the sums of gradients, so that L1 keeps many at zero.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        global_step: The variable that counts steps.
        initial_gradient_squared_accumulator_value: What the sums of squared gradients start as.
        l1_regularization_strength: The cost of the absolute value of a weight.
        l2_regularization_strength: The cost of the square of a weight.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w, count = tf.Variable(1.0), tf.train.get_or_create_global_step()
        >>> step = tf.train.AdagradDAOptimizer(0.1, count).minimize(tf.square(w), global_step=count)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(-0.098772965)
    """

    _rule = "AdagradDA"
    _rule_slots = {
        "gradient_accumulator": "gradient_accumulator",
        "gradient_squared_accumulator": "gradient_squared_accumulator",
    }
    _rule_tensors = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength",
        "l2": "_l2_regularization_strength",
    }
    _hyperparameters = ("learning_rate",)

    @takes(
        """learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1, l1_regularization_strength=0.0,
        l2_regularization_strength=0.0, use_locking=False, name="AdagradDA" """,
    )
    def __init__(self, learning_rate, initial_gradient_squared_accumulator_value, use_locking, name, **given):
        _check_positive(initial_gradient_squared_accumulator_value=initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate)
        # The step, and two strengths that the op takes as they are, not as tensors of the graph.
        self.__dict__.update({f"_{attribute}": value for attribute, value in given.items()})
        self._first_squares = initial_gradient_squared_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._fill_slots(v, gradient_accumulator=0.0, gradient_squared_accumulator=self._first_squares)

    def _prepare(self):
        super()._prepare()
        # A copy of the step, so that workers don't all ask the parameter server for it.
        with colocate_with(self._learning_rate_tensor.op):
            self._global_step_on_worker = array.identity(self._global_step) + 1

    def _tensors_for(self, var, tensors, dtype):
        with device(var.device):
            global_step = array.identity(self._global_step_on_worker)
        return {**super()._tensors_for(var, tensors, dtype), "global_step": global_step}


class AdadeltaOptimizer(KernelUpdate, Optimizer):
    """Scales each step by a running mean of earlier steps over one of gradients.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        rho: How slowly the running means forget.
        epsilon: A small number that keeps a division from being one by zero.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.AdadeltaOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.9999553)
    """

    _rule = "Adadelta"
    _rule_slots = {"accum": "accum", "accum_update": "accum_update"}
    _scalars = {"lr": "lr", "rho": "rho", "epsilon": "epsilon"}
    _tensor_suffix = "_t"
    _zero_slots = ("accum", "accum_update")

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._set(lr=learning_rate, rho=rho, epsilon=epsilon)


class RMSPropOptimizer(KernelUpdate, Optimizer):
    """Divides by the root of a running mean of squared gradients; `centered` subtracts the mean's own square.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        decay: How slowly the mean of squared gradients forgets.
        momentum: How much of the last step is gone again.
        epsilon: A small number that keeps a division from being one by zero.
        use_locking: Whether others wait until an update of a variable is done.
        centered: Whether the mean's own square is subtracted.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.RMSPropOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.8245884)
    """

    _scalars = {"lr": "learning_rate", "rho": "decay", "momentum": "momentum", "epsilon": "epsilon"}

    def __init__(
        self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name="RMSProp"
    ):
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate, decay=decay, momentum=momentum, epsilon=epsilon)
        self._centered = centered
        self._zero_slots = ("mg", "momentum") if centered else ("momentum",)

    def _rule_for(self, var):
        if self._centered:
            return "CenteredRMSProp", {"mg": "mg", "ms": "rms", "mom": "momentum"}, self._rule_tensors
        return "RMSProp", {"ms": "rms", "mom": "momentum"}, self._rule_tensors

    def _create_slots(self, var_list):
        for v in var_list:
            shape, dtype = v.get_shape(), v.dtype.base_dtype
            ones = initializers.ones_initializer(dtype=dtype) if shape.is_fully_defined() else array.ones_like(v)
            self._get_or_make_slot_with_initializer(v, ones, shape, dtype, "rms", self._name)
            super()._create_slots([v])


class FtrlOptimizer(KernelUpdate, Optimizer):
    """Follow the regularized leader, with L1, L2 and (online) shrinkage-type L2.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        learning_rate_power: The power of the sum by which the rate falls; not positive.
        initial_accumulator_value: What the sums of squared gradients start as.
        l1_regularization_strength: The cost of the absolute value of a weight.
        l2_regularization_strength: The cost of the square of a weight.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
        accum_name: The name of the slots of squared gradients.
        linear_name: The name of the slots of the linear terms.
        l2_shrinkage_regularization_strength: The cost of the square of a weight, added to the gradient only.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.FtrlOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.7450533)
    """

    _rule_slots = {"accum": "accum", "linear": "linear"}
    _scalars = {
        "lr": "learning_rate",
        "l1": "l1_regularization_strength",
        "l2": "l2_regularization_strength",
        "l2_shrinkage": "l2_shrinkage_regularization_strength",
        "lr_power": "learning_rate_power",
    }

    @takes(
        """learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
        l2_regularization_strength=0.0, use_locking=False, name="Ftrl", accum_name=None, linear_name=None,
        l2_shrinkage_regularization_strength=0.0""",
    )
    def __init__(self, initial_accumulator_value, use_locking, name, accum_name, linear_name, **given):
        super().__init__(use_locking, name)
        strengths = {what: value for what, value in given.items() if what.endswith("_strength")}
        for what, value in {"initial_accumulator_value": initial_accumulator_value, **strengths}.items():
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        if given["learning_rate_power"] > 0.0:
            raise ValueError(
                f"The power of the learning rate needs to be negative or zero, not {given['learning_rate_power']:f}"
            )
        self._set(**given)
        self._initial_accumulator_value = initial_accumulator_value
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
