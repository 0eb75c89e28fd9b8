"""Decays of the sign's weight in AddSign and PowerSign: functions from the global step to a factor."""

from __future__ import annotations

import math

from everflow.framework import dtypes
from everflow.ops import array
from everflow.ops import math as math_ops


def get_linear_decay_fn(decay_steps):
    """A function that falls from 1 to 0 in a straight line."""

    def linear_decay_fn(global_step):
        global_step = math_ops.minimum(global_step, decay_steps)
        left = math_ops.cast(decay_steps, dtypes.int32) - math_ops.cast(global_step, dtypes.int32)
        decayed = math_ops.cast(left, dtypes.float32) / math_ops.cast(decay_steps, dtypes.float32)
        return math_ops.maximum(0.0, decayed)

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps, num_periods=0.5, zero_after=None):
    """A function that follows a cosine between 1 and 0, for so many periods, and is 0 after `zero_after` of them."""

    def cosine_decay_fn(global_step):
        global_step = math_ops.minimum(global_step, decay_steps)
        done = math_ops.cast(global_step, dtypes.float32) / math_ops.cast(decay_steps, dtypes.float32)
        fraction = 2.0 * num_periods * done
        decayed = 0.5 * (1.0 + math_ops.cos(array.constant(math.pi) * fraction))
        if zero_after is None:
            return decayed
        return array.where(math_ops.greater_equal(fraction, 2 * zero_after), 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps, num_periods=1, zero_after=None):
    """A function that falls along half a cosine from 1 to 0 in each period, and is 0 after `zero_after` of them."""

    def restart_decay_fn(global_step):
        global_step = math_ops.minimum(global_step, decay_steps)
        place = math_ops.mod(num_periods * math_ops.cast(global_step, dtypes.float32), decay_steps)
        fraction = place / math_ops.cast(decay_steps, dtypes.float32)
        decayed = 0.5 * (1.0 + math_ops.cos(array.constant(math.pi) * fraction))
        if zero_after is None:
            return decayed
        periods = math_ops.cast(num_periods * global_step, dtypes.float32) / math_ops.cast(decay_steps, dtypes.float32)
        return array.where(math_ops.greater_equal(periods, zero_after), 0.0, decayed)

    return restart_decay_fn
