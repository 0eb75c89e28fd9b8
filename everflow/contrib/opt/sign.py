"""Optimizers that look at whether a gradient and its moving average agree in sign."""

from __future__ import annotations

import math

from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.ops.array.indexing import gather
from everflow.ops.control_flow.grouping import group
from everflow.ops.math import cast, sign
from everflow.ops.math import pow as power
from everflow.ops.variables import assign as state
from everflow.ops.variables.handles import variable_shape
from everflow.train.optimizer import KernelUpdate, Optimizer


class _SignOptimizer(KernelUpdate, Optimizer):
    """What the two share: the moving average `m`, and the decay of the sign's weight."""

    _rule_slots = {"m": "m"}

    def __init__(self, learning_rate, beta, sign_decay_fn, use_locking, name):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._lr_t = None
        self._beta_t = None
        self._sign_decay_t = None

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare_with(self, name, attribute, value):
        numbers = {"learning_rate": ("_lr_t", self._lr), "beta": ("_beta_t", self._beta), name: (attribute, value)}
        self._prepare_tensors(**numbers)
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    # Rows without a gradient don't move, but their averages decay.

    def _apply_sparse(self, grad, var):
        rule = self._rule_of_rows(var.dtype.base_dtype)
        lr, beta, sign_decay = (cast(t, var.dtype.base_dtype) for t in (self._lr_t, self._beta_t, self._sign_decay_t))
        m = self.get_slot(var, "m")
        m_t = state.assign(m, m * beta + grad * (1 - beta), use_locking=self._use_locking)
        sign_g = sign(grad.values)
        agreement = gather(sign(m_t), grad.indices) * sign_g
        var_update = state.scatter_sub(
            var, grad.indices, lr * rule(sign_decay, agreement) * grad.values, use_locking=self._use_locking
        )
        return group(var_update, m_t)

    def _resource_apply_sparse(self, grad, var, indices):
        sparse = IndexedSlices(grad, indices, variable_shape(var.handle))
        return self._resource_apply_dense(convert_to_tensor(sparse), var)


class AddSignOptimizer(_SignOptimizer):
    """Moves by `(alpha + sign_decay * sign(g) * sign(m)) * g`."""

    _rule = "AddSign"
    _rule_tensors = {"lr": "_lr_t", "alpha": "_alpha_t", "sign_decay": "_sign_decay_t", "beta": "_beta_t"}

    def __init__(
        self, learning_rate=0.1, alpha=1.0, beta=0.9, sign_decay_fn=None, use_locking=False, name="AddSignOptimizer"
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha
        self._alpha_t = None

    def _prepare(self):
        self._prepare_with("alpha", "_alpha_t", self._alpha)

    def _rule_of_rows(self, dtype):
        alpha = cast(self._alpha_t, dtype)
        return lambda sign_decay, agreement: alpha + sign_decay * agreement


class PowerSignOptimizer(_SignOptimizer):
    """Moves by `base ** (sign_decay * sign(g) * sign(m)) * g`."""

    _rule = "PowerSign"
    _rule_tensors = {"lr": "_lr_t", "logbase": "_logbase_t", "sign_decay": "_sign_decay_t", "beta": "_beta_t"}

    def __init__(
        self, learning_rate=0.1, base=math.e, beta=0.9, sign_decay_fn=None, use_locking=False, name="PowerSignOptimizer"
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)
        self._logbase_t = None

    def _prepare(self):
        self._prepare_with("logbase", "_logbase_t", self._logbase)

    def _rule_of_rows(self, dtype):
        logbase, e = cast(self._logbase_t, dtype), cast(math.e, dtype)
        return lambda sign_decay, agreement: power(e, logbase * sign_decay * agreement)
