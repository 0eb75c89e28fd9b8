"""An optimizer that scales the loss, and leaves steps out whose gradients are not finite."""

from __future__ import annotations

from typing import Any

from everflow.contrib.mixed_precision.managers import LossScaleManager
from everflow.framework.composites import IndexedSlices
from everflow.framework.operation import Operation
from everflow.framework.scopes import executing_eagerly
from everflow.ops import math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.train.optimizer import Optimizer


class LossScaleOptimizer(Optimizer):
    """Takes gradients of the loss as `loss_scale_manager` scales it, scales them back, and hands on those of a step
    that are all finite to `opt`.

    >>> manager = tf.contrib.mixed_precision.FixedLossScaleManager(128.0)
    >>> train_op = LossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(loss)
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        self._optimizer, self._manager = opt, loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs of the loss itself."""
        scale = self._manager.get_loss_scale()
        if executing_eagerly():

            def scaled() -> Any:
                value = loss()
                return value * math.cast(scale, value.dtype.base_dtype)

        else:
            scaled = loss * math.cast(scale, loss.dtype.base_dtype)
        pairs = self._optimizer.compute_gradients(
            scaled,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return _scaled_back(pairs, scale)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Apply gradients where all are finite; tell the manager in any case."""
        pairs = list(grads_and_vars)
        finite = [math.reduce_all(math.is_finite(gradient)) for gradient, _ in pairs if gradient is not None]
        all_finite = math.reduce_all(finite)

        def applied() -> Any:
            return self._optimizer.apply_gradients(pairs, global_step, name)

        update = cond(all_finite, applied, no_op)
        return group(update, self._manager.update_loss_scale(all_finite))


def _scaled_back(pairs: list[tuple[Any, Any]], scale: Any) -> list[tuple[Any, Any]]:
    back = math.reciprocal(scale)
    made = []
    for gradient, variable in pairs:
        if gradient is not None:
            by = math.cast(back, gradient.dtype.base_dtype)
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(gradient.values * by, gradient.indices, gradient.dense_shape)
            else:
                gradient = gradient * by
        made.append((gradient, variable))
    return made
