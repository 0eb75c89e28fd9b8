"""Adam and its relatives: moving averages of the gradient and of its size."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.keras import backend as K
from everflow.keras.optimizers.optimizer import Optimizer
from everflow.keras.optimizers.schedules import LearningRateSchedule
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group

# What ops call slots and rates, and what they are called here.
_SLOTS = {"m": "m", "v": "v"}
_RATES = {"beta1_power": "beta_1_power", "beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"}


class _Moments(Optimizer):
    """What Adam, Adamax and Nadam share: two decays, and a slot for each."""

    _written_hypers = ("learning_rate", "decay", "beta_1", "beta_2")
    _written_attributes = {"epsilon": "epsilon"}

    def __init__(self, learning_rate, beta_1, beta_2, epsilon, name, **kwargs):
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs.get("lr", learning_rate), beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list):
        self._add_slots(var_list, "m", "v")

    def _decays(self, dtype):
        """(number of the step, both decays, what the first one comes to by then)."""
        step = math.cast(self.iterations + 1, dtype)
        beta_1 = array.identity(self._get_hyper("beta_1", dtype))
        beta_2 = array.identity(self._get_hyper("beta_2", dtype))
        return step, beta_1, beta_2, math.pow(beta_1, step)


class Adam(_Moments):
    """Steps of the size of the learning rate: the mean gradient over the root of the mean square.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        beta_1: How slowly the mean of gradients forgets.
        beta_2: How slowly the mean of squared gradients forgets.
        epsilon: A small number that keeps a division from being one by zero.
        amsgrad: Whether the largest mean of squared gradients so far is divided by.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.900
    """

    _written_attributes = {"epsilon": "epsilon", "amsgrad": "amsgrad"}

    def __init__(
        self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, name="Adam", **kwargs
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        self._add_slots(var_list, "m", "v", *["vhat"] * self.amsgrad)

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        step, beta_1, beta_2, beta_1_power = self._decays(dtype)
        beta_2_power = math.pow(beta_2, step)
        prepared.update(
            lr=prepared["lr_t"] * (math.sqrt(1 - beta_2_power) / (1 - beta_1_power)),
            epsilon=convert_to_tensor(self.epsilon, dtype),
            beta_1=beta_1,
            beta_1_power=beta_1_power,
            one_minus_beta_1=1 - beta_1,
            beta_2=beta_2,
            beta_2_power=beta_2_power,
            one_minus_beta_2=1 - beta_2,
        )

    def set_weights(self, weights):
        params = self.weights
        # Files of old Keras also hold a placeholder for each `vhat`.
        count = (len(params) - 1) // 2
        if len(weights) == 3 * count + 1:
            weights = weights[: len(params)]
        super().set_weights(weights)

    def _resource_apply_dense(self, grad, var):
        arguments = self._op_arguments(grad, var, _SLOTS, {**_RATES, "beta2_power": "beta_2_power"})
        if self.amsgrad:
            return raw.ResourceApplyAdamWithAmsgrad(vhat=self.get_slot(var, "vhat").handle, **arguments)
        return raw.ResourceApplyAdam(**arguments)

    def _resource_apply_sparse(self, grad, var, indices):
        rates = self._coefficients(var)
        m_now = self._decay_and_add(self.get_slot(var, "m"), rates["beta_1"], grad * rates["one_minus_beta_1"], indices)
        v_now = self._decay_and_add(
            self.get_slot(var, "v"), rates["beta_2"], (grad * grad) * rates["one_minus_beta_2"], indices
        )
        updates = [m_now, v_now]
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            largest_now = math.maximum(largest, v_now)
            with control_dependencies([largest_now]):
                largest_now = largest.assign(largest_now, use_locking=self._use_locking)
            updates.append(largest_now)
            root = math.sqrt(largest_now)
        else:
            root = math.sqrt(v_now)
        change = rates["lr"] * m_now / (root + rates["epsilon"])
        return group(var.assign_sub(change, use_locking=self._use_locking), *updates)


class Adamax(_Moments):
    """As Adam, with the largest gradient instead of the mean square.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        beta_1: How slowly the mean of gradients forgets.
        beta_2: How slowly the mean of squared gradients forgets.
        epsilon: A small number that keeps a division from being one by zero.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Adamax(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.900
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Adamax", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        step, beta_1, beta_2, beta_1_power = self._decays(dtype)
        prepared.update(
            neg_scaled_lr=-prepared["lr_t"] / (1 - beta_1_power),
            epsilon=convert_to_tensor(self.epsilon, dtype),
            beta_1=beta_1,
            beta_1_power=beta_1_power,
            one_minus_beta_1=1 - beta_1,
            beta_2=beta_2,
            zero=array.zeros((), dtype=dtypes.int64),
        )

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyAdaMax(**self._op_arguments(grad, var, _SLOTS, _RATES))

    def _resource_apply_sparse(self, grad, var, indices):
        rates = self._coefficients(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = array.gather(m, indices, axis=rates["zero"])
        m_rows = m_rows * rates["beta_1"] + grad * rates["one_minus_beta_1"]
        with control_dependencies([m_rows]):
            m_rows_now = self._resource_scatter_update(m, indices, m_rows)
        v_rows = array.gather(v, indices, axis=rates["zero"])
        v_rows = math.maximum(v_rows * rates["beta_2"], math.abs(grad))
        with control_dependencies([v_rows]):
            v_rows_now = self._resource_scatter_update(v, indices, v_rows)
        change = rates["neg_scaled_lr"] * (m_rows / (v_rows + rates["epsilon"]))
        with control_dependencies([change]):
            change_now = self._resource_scatter_add(var, indices, change)
        return group(change_now, m_rows_now, v_rows_now)


class Nadam(_Moments):
    """As Adam, looking ahead along the momentum.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        beta_1: How slowly the mean of gradients forgets.
        beta_2: How slowly the mean of squared gradients forgets.
        epsilon: A small number that keeps a division from being one by zero.
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.Nadam(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.894
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Nadam", **kwargs):
        # The name of an argument of old Keras; it changes the momentum, not the learning rate.
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        rate = kwargs.get("lr", learning_rate)
        if isinstance(rate, LearningRateSchedule):
            raise ValueError(
                "Nadam schedules its momentum itself: its learning rate is a number, not a LearningRateSchedule."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache = None

    def _decayed_lr(self, dtype):
        return self._get_hyper("learning_rate", dtype)

    def _create_slots(self, var_list):
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache", shape=[], dtype=var_list[0].dtype.base_dtype, initializer="ones", trainable=False
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list):
        # Read before it is updated, whatever comes first.
        self._m_cache_read = array.identity(self._m_cache)
        super()._prepare(var_list)

    def _prepare_local(self, var_device, dtype, apply_state):
        prepared = apply_state[var_device, dtype]
        rate = array.identity(self._get_hyper("learning_rate", dtype))
        beta_1 = array.identity(self._get_hyper("beta_1", dtype))
        beta_2 = array.identity(self._get_hyper("beta_2", dtype))
        step = math.cast(self.iterations + 1, dtype)
        next_step = math.cast(self.iterations + 2, dtype)
        base = math.cast(0.96, dtype)
        momentum = beta_1 * (1.0 - 0.5 * math.pow(base, self._initial_decay * step))
        next_momentum = beta_1 * (1.0 - 0.5 * math.pow(base, self._initial_decay * next_step))
        product = math.cast(self._m_cache_read, dtype) * momentum
        if dtype == self._m_cache.dtype.base_dtype:
            product = array.identity(self._m_cache.assign(product, use_locking=self._use_locking))
        next_product = product * next_momentum
        prepared.update(
            lr_t=rate,
            neg_lr=-rate,
            epsilon=convert_to_tensor(self.epsilon, dtype),
            beta_1=beta_1,
            beta_2=beta_2,
            momentum=momentum,
            next_momentum=next_momentum,
            one_minus_beta_1=1 - beta_1,
            one_minus_beta_2=1 - beta_2,
            one_minus_momentum=1.0 - momentum,
            one_minus_product=1.0 - product,
            one_minus_next_product=1.0 - next_product,
            v_denominator=1.0 - math.pow(beta_2, step),
        )

    def _resource_apply_dense(self, grad, var):
        rates = self._coefficients(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        g_now = grad / rates["one_minus_product"]
        m_now = rates["beta_1"] * m + rates["one_minus_beta_1"] * grad
        m_now = m.assign(m_now, use_locking=self._use_locking)
        m_ahead = m_now / rates["one_minus_next_product"]
        v_now = rates["beta_2"] * v + rates["one_minus_beta_2"] * math.square(grad)
        v_now = v.assign(v_now, use_locking=self._use_locking)
        v_fair = v_now / rates["v_denominator"]
        m_mixed = rates["one_minus_momentum"] * g_now + rates["next_momentum"] * m_ahead
        var_now = var - rates["lr_t"] * m_mixed / (math.sqrt(v_fair) + rates["epsilon"])
        return var.assign(var_now, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        rates = self._coefficients(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        g_now = grad / rates["one_minus_product"]
        m_part = grad * rates["one_minus_beta_1"]
        m_now = m.assign(m * rates["beta_1"], use_locking=self._use_locking)
        with control_dependencies([m_now]):
            m_now = self._resource_scatter_add(m, indices, m_part)
            m_rows = array.gather(m_now, indices)
        m_ahead = m_rows / rates["one_minus_next_product"]
        m_mixed = rates["one_minus_momentum"] * g_now + rates["next_momentum"] * m_ahead
        v_part = (grad * grad) * rates["one_minus_beta_2"]
        v_now = v.assign(v * rates["beta_2"], use_locking=self._use_locking)
        with control_dependencies([v_now]):
            v_now = self._resource_scatter_add(v, indices, v_part)
            v_rows = array.gather(v_now, indices)
        v_root = math.sqrt(v_rows / rates["v_denominator"]) + rates["epsilon"]
        var_now = self._resource_scatter_add(var, indices, rates["neg_lr"] * m_mixed / v_root)
        return group(var_now, m_mixed, v_now)
