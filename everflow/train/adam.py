"""Adam: moving averages of the gradient and of its square, with their start corrected."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with, control_dependencies, outside_functions
from everflow.ops.control_flow import grouping
from everflow.ops.math import cast, sqrt
from everflow.ops.variables import assign as state
from everflow.train.optimizer import KernelUpdate, Optimizer


class AdamOptimizer(KernelUpdate, Optimizer):
    """Adam, in the form in which epsilon stands beside the uncorrected square root.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        beta1: How slowly the mean of gradients forgets.
        beta2: How slowly the mean of squared gradients forgets.
        epsilon: A small number that keeps a division from being one by zero.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.AdamOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.90000004)
    """

    _rule = "Adam"
    _rule_slots = {"m": "m", "v": "v"}
    _scalars = {"lr": "learning_rate", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
    _attributes = {"learning_rate": "_lr"}
    _tensor_suffix = "_t"
    _zero_slots = ("m", "v")

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)

    def _get_beta_accumulators(self):
        graph = outside_functions()  # the variables of a traced function are outside of its graph
        return [self._get_non_slot_variable(name, graph=graph) for name in ("beta1_power", "beta2_power")]

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        self._create_non_slot_variable(initial_value=self._beta2, name="beta2_power", colocate_with=first)
        super()._create_slots(var_list)

    def _tensors_for(self, var, tensors, dtype):
        beta1_power, beta2_power = self._get_beta_accumulators()
        powers = {"beta1_power": cast(beta1_power, dtype), "beta2_power": cast(beta2_power, dtype)}
        return {**powers, **super()._tensors_for(var, tensors, dtype)}

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        """Decay all of m and v, add at the rows that have a gradient, then move every row."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._get_beta_accumulators()
        beta1_power = cast(beta1_power, dtype)
        beta2_power = cast(beta2_power, dtype)
        lr_t = cast(self._lr_t, dtype)
        beta1_t = cast(self._beta1_t, dtype)
        beta2_t = cast(self._beta2_t, dtype)
        epsilon_t = cast(self._epsilon_t, dtype)
        lr = lr_t * sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        m_scaled = grad * (1 - beta1_t)
        m_t = state.assign(m, m * beta1_t, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_scaled)
        v = self.get_slot(var, "v")
        v_scaled = (grad * grad) * (1 - beta2_t)
        v_t = state.assign(v, v * beta2_t, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_scaled)
        v_sqrt = sqrt(v_t)
        var_update = state.assign_sub(var, lr * m_t / (v_sqrt + epsilon_t), use_locking=self._use_locking)
        return grouping.group(var_update, m_t, v_t)

    def _apply_sparse(self, grad, var):
        return self._apply_sparse_shared(
            grad.values, var, grad.indices, lambda x, i, v: state.scatter_add(x, i, v, use_locking=self._use_locking)
        )

    def _resource_scatter_add(self, x, i, v):
        with control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_sparse_shared(grad, var, indices, self._resource_scatter_add)

    def _finish(self, update_ops, name_scope):
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power.op):
                update_beta1 = beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking)
                update_beta2 = beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking)
        return grouping.group(*update_ops, update_beta1, update_beta2, name=name_scope)
