"""Relatives of Adam: lazy (rows without a gradient stay as they are), with Nesterov momentum, with the infinity norm."""

from __future__ import annotations

import functools

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with, control_dependencies, get_default_graph, init_scope
from everflow.ops import array
from everflow.ops.control_flow import grouping
from everflow.ops.math import abs as magnitude
from everflow.ops.math import cast, maximum, sqrt, square
from everflow.ops.variables import assign as state
from everflow.train.adam import AdamOptimizer


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that updates the averages of a sparse gradient's rows only: quicker for large embeddings."""

    def _step_size(self, dtype):
        beta1_power, beta2_power = self._get_beta_accumulators()
        beta1_power, beta2_power = cast(beta1_power, dtype), cast(beta2_power, dtype)
        return cast(self._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)

    def _apply_sparse(self, grad, var):
        dtype, indices = var.dtype.base_dtype, grad.indices
        lr = self._step_size(dtype)
        beta1_t, beta2_t, epsilon_t = (cast(t, dtype) for t in (self._beta1_t, self._beta2_t, self._epsilon_t))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        moved = beta1_t * array.gather(m, indices) + (1 - beta1_t) * grad.values
        m_t = state.scatter_update(m, indices, moved, use_locking=self._use_locking)
        moved = beta2_t * array.gather(v, indices) + (1 - beta2_t) * square(grad.values)
        v_t = state.scatter_update(v, indices, moved, use_locking=self._use_locking)
        m_rows = array.gather(m_t, indices)
        v_rows = array.gather(v_t, indices)
        denominator = sqrt(v_rows) + epsilon_t
        var_update = state.scatter_sub(var, indices, lr * m_rows / denominator, use_locking=self._use_locking)
        return grouping.group(var_update, m_t, v_t)

    def _resource_apply_sparse(self, grad, var, indices):
        dtype = var.dtype.base_dtype
        lr = self._step_size(dtype)
        beta1_t, beta2_t, epsilon_t = (cast(t, dtype) for t in (self._beta1_t, self._beta2_t, self._epsilon_t))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1_t * array.gather(m, indices) + (1 - beta1_t) * grad
        m_update = raw.ResourceScatterUpdate(m.handle, indices, m_rows)
        v_rows = beta2_t * array.gather(v, indices) + (1 - beta2_t) * square(grad)
        v_update = raw.ResourceScatterUpdate(v.handle, indices, v_rows)
        var_update = raw.ResourceScatterSub(var.handle, indices, lr * m_rows / (sqrt(v_rows) + epsilon_t))
        return grouping.group(var_update, m_update, v_update)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov momentum."""

    def _rule_attributes(self):
        return {"use_nesterov": True}

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._get_beta_accumulators()
        beta1_power, beta2_power = cast(beta1_power, dtype), cast(beta2_power, dtype)
        numbers = (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        lr_t, beta1_t, beta2_t, epsilon_t = (cast(t, dtype) for t in numbers)
        lr = lr_t * sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        m_scaled = grad * (1 - beta1_t)
        m_t = state.assign(m, m * beta1_t, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_scaled)
            m_bar = m_scaled + beta1_t * array.gather(m_t, indices)
        v = self.get_slot(var, "v")
        v_scaled = (grad * grad) * (1 - beta2_t)
        v_t = state.assign(v, v * beta2_t, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_scaled)
        v_sqrt = sqrt(array.gather(v_t, indices))
        var_update = scatter_add(var, indices, -lr * m_bar / (v_sqrt + epsilon_t))
        return grouping.group(var_update, m_bar, v_t)


class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the largest gradient seen (decayed) in place of the root of the mean square."""

    _rule = "AdaMax"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self):
        with init_scope():  # the variables of a traced function are outside of its graph
            graph = get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _rule_attributes(self):
        return {}

    def _tensors_for(self, var, tensors, dtype):
        powers = {"beta1_power": cast(self._get_beta_accumulators(), dtype)}
        return {**powers, **{name: self._scalar(name, attribute, dtype) for name, attribute in tensors.items()}}

    def _apply_sparse_shared(self, grad, var, indices, scatter_add, scatter_update):
        dtype = var.dtype.base_dtype
        beta1_power = cast(self._get_beta_accumulators(), dtype)
        numbers = (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        lr_t, beta1_t, beta2_t, epsilon_t = (cast(t, dtype) for t in numbers)
        m = self.get_slot(var, "m")
        m_rows = array.gather(m, indices) * beta1_t + grad * (1 - beta1_t)
        with control_dependencies([m_rows]):
            m_t = scatter_update(m, indices, m_rows)
        v = self.get_slot(var, "v")
        v_rows = maximum(array.gather(v, indices) * beta2_t, magnitude(grad))
        with control_dependencies([v_rows]):
            v_t = scatter_update(v, indices, v_rows)
        var_rows = -lr_t / (1 - beta1_power) * (m_rows / (v_rows + epsilon_t))
        with control_dependencies([var_rows]):
            var_update = scatter_add(var, indices, var_rows)
        return grouping.group(var_update, m_t, v_t)

    def _apply_sparse(self, grad, var):
        scatters = (state.scatter_add, state.scatter_update)
        locked = (functools.partial(scatter, use_locking=self._use_locking) for scatter in scatters)
        return self._apply_sparse_shared(grad.values, var, grad.indices, *locked)

    def _resource_scatter_update(self, x, i, v):
        with control_dependencies([raw.ResourceScatterUpdate(x.handle, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_sparse_shared(grad, var, indices, self._resource_scatter_add, self._resource_scatter_update)

    def _finish(self, update_ops, name_scope):
        with control_dependencies(update_ops):
            beta1_power = self._get_beta_accumulators()
            with colocate_with(beta1_power.op):
                update_beta1 = beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking)
        return grouping.group(*update_ops, update_beta1, name=name_scope)
