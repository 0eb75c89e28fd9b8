"""Adam that takes the powers of its betas from the global step instead of variables of its own."""

from __future__ import annotations

from everflow.contrib.opt.adam_variants import LazyAdamOptimizer
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.control_flow import grouping
from everflow.ops.math import cast
from everflow.ops.math import pow as power
from everflow.train.adam import AdamOptimizer


class _PowersFromStep:
    """The part in which the two differ from Adam: no beta power variables, nothing to finish."""

    def __init__(
        self, global_step=0, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self.global_step = global_step
        self._global_step_on_worker = None

    def _get_beta_accumulators(self):
        step = cast(self._global_step_on_worker + 1, dtypes.float32)
        return power(self._beta1_t, step), power(self._beta2_t, step)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        super()._prepare()
        # Read before anything counts the step up.
        self._global_step_on_worker = array.identity(convert_to_tensor(self.global_step))

    def _finish(self, update_ops, name_scope):
        with control_dependencies([self._global_step_on_worker.op]):
            return grouping.group(*update_ops, name=name_scope)


class AdamGSOptimizer(_PowersFromStep, AdamOptimizer):
    """Adam whose bias correction follows the global step."""


class LazyAdamGSOptimizer(_PowersFromStep, LazyAdamOptimizer):
    """Lazy Adam whose bias correction follows the global step."""
