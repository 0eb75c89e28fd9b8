"""Fake quantization of one tensor: its range is in two variables, which training moves."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.variables import assign as state
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.train.moving_averages import assign_moving_average

_DECAY = 0.999


def quantized(inputs, name, is_training, num_bits, narrow_range, symmetric, averaged, initial_range, step, delay):
    """`inputs` rounded to `num_bits`, in a scope of this name.

    `averaged`: the range is a moving average, else the last step's. Rounding begins when `step()` is `delay`.
    """
    with scopes.variable_scope(None, default_name=name, values=[inputs]):
        low, high = (_range_variable(which, value) for which, value in zip(("min", "max"), initial_range))
        if not is_training:
            return _rounded(inputs, low, high, num_bits, narrow_range)
        batch_min = math.reduce_min(inputs, name="BatchMin")
        batch_max = math.reduce_max(inputs, name="BatchMax")
        if symmetric:
            # One step further on the negative side, as integers have it.
            ratio = -((2**num_bits) / 2 - 1) / ((2**num_bits) / 2) if not narrow_range else -1.0
            range_min = math.minimum(batch_min, batch_max / ratio)
            range_max = math.maximum(batch_max, batch_min * ratio)
        else:
            # Zero has to be among the values that can be told exactly.
            range_min, range_max = math.minimum(batch_min, 0.0), math.maximum(batch_max, 0.0)
        if averaged:
            low = assign_moving_average(low, range_min, _DECAY, name="AssignMinEma")
            high = assign_moving_average(high, range_max, _DECAY, name="AssignMaxEma")
        else:
            low = state.assign(low, range_min, name="AssignMinLast")
            high = state.assign(high, range_max, name="AssignMaxLast")
        rounded = _rounded(inputs, low, high, num_bits, narrow_range)
        if not delay:
            return rounded
        active = math.greater_equal(step(), delay, name="activate_quant")
        return cond(active, lambda: rounded, lambda: inputs, name="delayed_quant")


def _range_variable(name, value):
    settings = {"collections": [GraphKeys.GLOBAL_VARIABLES], "trainable": False}
    start = initializers.constant_initializer(value)
    return scopes.get_variable(name, shape=[], dtype=dtypes.float32, initializer=start, **settings)


def _rounded(inputs, low, high, num_bits, narrow_range):
    return raw.FakeQuantWithMinMaxVars(inputs=inputs, min=low, max=high, num_bits=num_bits, narrow_range=narrow_range)


def quantization_step():
    """A count of runs, for delays: it goes up each time it is used."""
    with name_scope(None), scopes.variable_scope(scopes.VariableScope(None, name=""), auxiliary_name_scope=False):
        settings = {"collections": [GraphKeys.GLOBAL_VARIABLES], "trainable": False}
        start = initializers.zeros_initializer()
        step = scopes.get_variable("fake_quantization_step", [], dtypes.int64, initializer=start, **settings)
    with name_scope(f"{step.op.name}/"):
        return array.identity(state.assign_add(step, 1))
