"""How much a loss is scaled: always the same, or more while gradients stay finite and less when they don't."""

from __future__ import annotations

import abc
from typing import Any

from everflow.framework import dtypes
from everflow.framework.operation import Operation
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.variables.assign import assign, assign_add
from everflow.ops.variables.variable import Variable


class LossScaleManager(abc.ABC):
    """Says by what a loss is multiplied, and learns whether gradients were finite."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """By what the loss is multiplied, a scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Operation:
        """An op that takes into account whether all gradients of a step were finite."""


class FixedLossScaleManager(LossScaleManager):
    """Always the same scale, of at least 1."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError(f"A loss is scaled by 1 or more, not by {loss_scale}")
        self._loss_scale = constant(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Operation:
        """Nothing."""
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Multiplies the scale by `incr_ratio` after `incr_every_n_steps` finite steps in a row, and by `decr_ratio`, down
    to 1, after `decr_every_n_nan_or_inf` others.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every, self._decr_every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        start = constant(init_loss_scale, dtype=dtypes.float32)
        self._scale = _counting("loss_scale", start, dtypes.float32)
        self._good = _counting("good_steps", 0, dtypes.int32)
        self._bad = _counting("bad_steps", 0, dtypes.int32)

    def get_loss_scale(self) -> Any:
        """The scale, a variable."""
        return self._scale

    def update_loss_scale(self, finite_grads: Any) -> Operation:
        """Count the step, and change the scale when it is time."""
        return cond(finite_grads, self._after_finite, self._after_other)

    def _after_finite(self) -> Any:
        def grow() -> Operation:
            # A scale that is itself no longer finite would not come back.
            can_grow = math.is_finite(self._scale * self._incr_ratio)
            return self._set(cond(can_grow, lambda: self._scale * self._incr_ratio, lambda: self._scale))

        return cond(self._good + 1 >= self._incr_every, grow, lambda: assign_add(self._good, 1).op)

    def _after_other(self) -> Any:
        def shrink() -> Operation:
            return self._set(math.maximum(1.0, self._scale * self._decr_ratio))

        def count() -> Operation:
            return group(assign_add(self._bad, 1), assign(self._good, 0))

        return cond(self._bad + 1 >= self._decr_every, shrink, count)

    def _set(self, scale: Any) -> Operation:
        changed = assign(self._scale, scale)
        return group(changed, group(assign(self._good, 0), assign(self._bad, 0)))


def _counting(name: str, start: Any, dtype: dtypes.DType) -> Variable:
    return Variable(start, trainable=False, name=name, dtype=dtype)
