"""LARS: each layer's step is scaled by the ratio of its weights' norm to its gradient's, for large batches."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array
from everflow.ops.linalg.norms import norm
from everflow.ops.math import cast, greater
from everflow.train.optimizer import Optimizer


class LARSOptimizer(Optimizer):
    """Layer-wise adaptive rate scaling with momentum; variables whose name holds a word of `skip_list` are not scaled."""

    def __init__(self, learning_rate, momentum=0.9, weight_decay=0.0001, eeta=0.001, epsilon=0.0, name="LARSOptimizer",
                 skip_list=None, use_nesterov=False):  # fmt: skip
        for argument, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{argument} should be positive: {value}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov
        self._weight_decay, self._eeta, self._epsilon, self._skip_list = weight_decay, eeta, epsilon, skip_list

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        self._momentum_tensor = convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")

    def compute_lr(self, grad, var):
        """(learning rate of this variable, gradient with weight decay)."""
        scaled = self._learning_rate
        if self._skip_list is None or not any(word in var.name for word in self._skip_list):
            w_norm = norm(var, ord=2)
            g_norm = norm(grad, ord=2)
            moves, has_gradient = greater(w_norm, 0), greater(g_norm, 0)
            ratio = self._eeta * w_norm / (g_norm + self._weight_decay * w_norm + self._epsilon)
            trust_ratio = array.where(moves, array.where(has_gradient, ratio, 1.0), 1.0)
            scaled = self._learning_rate * trust_ratio
            grad = grad + self._weight_decay * var
        return scaled, grad

    def _apply(self, op, buffers, var, grad):
        scaled, grad = self.compute_lr(grad, var)
        one = cast(1.0, var.dtype.base_dtype)
        return op(*buffers, one, grad * scaled, self._momentum, use_locking=False, use_nesterov=self._use_nesterov)

    def _apply_dense(self, grad, var):
        return self._apply(raw.ApplyMomentum, (var, self.get_slot(var, "momentum")), var, grad)

    def _resource_apply_dense(self, grad, var):
        return self._apply(raw.ResourceApplyMomentum, (var.handle, self.get_slot(var, "momentum").handle), var, grad)

    def _apply_sparse(self, grad, var):
        slots = var, self.get_slot(var, "momentum")
        return self._sparse(raw.SparseApplyMomentum, slots, grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad, var, indices):
        buffers = (var.handle, self.get_slot(var, "momentum").handle)
        return self._sparse(raw.ResourceSparseApplyMomentum, buffers, grad, indices, var)

    def _sparse(self, op, buffers, values, indices, var):
        dtype = var.dtype.base_dtype
        rate, momentum = cast(self._learning_rate_tensor, dtype), cast(self._momentum_tensor, dtype)
        settings = {"use_locking": self._use_locking, "use_nesterov": self._use_nesterov}
        return op(*buffers, rate, values, indices, momentum, **settings)
