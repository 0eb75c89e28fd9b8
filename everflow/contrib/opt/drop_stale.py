"""A wrapper that leaves out gradients which were computed too many steps ago, for asynchronous training."""

from __future__ import annotations

from everflow import summary
from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies
from everflow.ops import array
from everflow.ops.control_flow import cond
from everflow.ops.math import cast
from everflow.ops.variables import initializers
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.scope import get_variable


class DropStaleGradientOptimizer(WrappingOptimizer):
    """Drops gradients begun more than `staleness` global steps ago, and counts them."""

    def __init__(self, opt, staleness, use_locking=False, name="DropStaleGradient"):
        super().__init__(opt, use_locking, name)
        self._staleness = staleness
        self._local_step = None

    def compute_gradients(self, loss, *args, **kwargs):
        # The step at which the loss is begun.
        with colocate_with(loss.op):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            loss = array.identity(loss)
        return super().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = list(grads_and_vars)
        with colocate_with(global_step.op):
            zeros = initializers.zeros_initializer()
            stale_counter = get_variable("stale_counter", [], initializer=zeros, trainable=False)

        def accept():
            with control_dependencies([self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)]):
                return raw.Identity(0.0)

        def drop():
            return raw.Identity(1.0)

        waited = [g if isinstance(g, Tensor) else g.op for g, _ in grads_and_vars if g is not None]
        with control_dependencies(waited), colocate_with(global_step.op):
            staleness = raw.Reshape(get_global_step() - self._local_step, [])
        dropped = cond(raw.LessEqual(staleness, self._staleness), accept, drop)
        update = stale_counter.assign_add(dropped)
        summary.scalar("Gradient staleness percentage", stale_counter / cast(get_global_step() + 1, dtypes.float32))
        return update
