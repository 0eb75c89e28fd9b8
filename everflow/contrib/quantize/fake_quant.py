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
        low, high = ranges(
            inputs, initial_range, is_training, symmetric, narrow_range, num_bits, decay=_DECAY if averaged else None
        )
        rounded = _rounded(inputs, low, high, num_bits, narrow_range)
        if not is_training or not delay:
            return rounded
        active = math.greater_equal(step(), delay, name="activate_quant")
        return cond(active, lambda: rounded, lambda: inputs, name="delayed_quant")


def ranges(
    inputs,
    initial_range,
    is_training,
    symmetric,
    narrow_range,
    num_bits,
    decay=None,
    per_channel=False,
    collections=(),
):
    """The smallest and largest value to be told apart, after a step has moved them: to its own, or with `decay` by a
    moving average; of each channel, or of all.
    """
    shape = [inputs.shape.as_list()[-1]] if per_channel else []
    low, high = (_range_variable(which, v, shape, collections) for which, v in zip(("min", "max"), initial_range))
    if not is_training:
        return low, high
    others = list(range(inputs.shape.rank - 1)) if per_channel and inputs.shape.rank > 1 else None
    if per_channel and others is None:
        batch_min = batch_max = inputs
    else:
        batch_min = math.reduce_min(inputs, axis=others, name="BatchMin")
        batch_max = math.reduce_max(inputs, axis=others, name="BatchMax")
    if symmetric:
        # One step further on the negative side, as integers have it.
        ratio = -((2**num_bits) / 2 - 1) / ((2**num_bits) / 2) if not narrow_range else -1.0
        range_min = math.minimum(batch_min, batch_max / ratio)
        range_max = math.maximum(batch_max, batch_min * ratio)
    else:
        # Zero has to be among the values that can be told exactly.
        range_min, range_max = math.minimum(batch_min, 0.0), math.maximum(batch_max, 0.0)
    if decay is not None:
        low = assign_moving_average(low, range_min, decay, name="AssignMinEma")
        return low, assign_moving_average(high, range_max, decay, name="AssignMaxEma")
    low = state.assign(low, range_min, name="AssignMinLast")
    return low, state.assign(high, range_max, name="AssignMaxLast")


def _range_variable(name, value, shape, collections):
    settings = {"collections": [GraphKeys.GLOBAL_VARIABLES, *collections], "trainable": False}
    start = initializers.constant_initializer(value)
    return scopes.get_variable(name, shape=shape, dtype=dtypes.float32, initializer=start, **settings)


def _rounded(inputs, low, high, num_bits, narrow_range, per_channel=False):
    build = raw.FakeQuantWithMinMaxVarsPerChannel if per_channel else raw.FakeQuantWithMinMaxVars
    return build(inputs=inputs, min=low, max=high, num_bits=num_bits, narrow_range=narrow_range)


# --- by hand --------------------------------------------------------------------------------------


def FixedQuantize(inputs, init_min=-6.0, init_max=6.0, scope=None):
    """`inputs` rounded to eight bits in a range that stays."""
    with name_scope(scope, "FixedQuantize", [inputs]):
        return raw.FakeQuantWithMinMaxArgs(inputs=inputs, min=init_min, max=init_max)


def _in_a_range(inputs, initial, named, rules, decay, per_channel, collection):
    """`inputs` rounded in a range that is kept in variables: the last one, or a moving average where there is a decay."""
    _, _, narrow_range, num_bits = rules
    with scopes.variable_scope(None, **named):
        collections = [collection] if collection else []
        low, high = ranges(inputs, initial, *rules, decay, per_channel, collections)
        return _rounded(inputs, low, high, num_bits, narrow_range, per_channel)


def LastValueQuantize(
    inputs,
    per_channel=False,
    init_min=-6.0,
    init_max=6.0,
    vars_collection=None,
    name_prefix="LastValueQuant",
    reuse=None,
    is_training=True,
    num_bits=8,
    narrow_range=False,
    symmetric=False,
):
    """`inputs` rounded in the range that they have; in evaluation, in that of the last step."""
    named = {"default_name": name_prefix, "values": [inputs], "reuse": reuse}
    rules = (is_training, symmetric, narrow_range, num_bits)
    return _in_a_range(inputs, (init_min, init_max), named, rules, None, per_channel, vars_collection)


def MovingAvgQuantize(
    inputs,
    per_channel=False,
    init_min=-6.0,
    init_max=6.0,
    ema_decay=0.999,
    vars_collection=GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix="MovingAvgQuantize",
    reuse=None,
    is_training=True,
    num_bits=8,
    narrow_range=False,
    symmetric=False,
):
    """`inputs` rounded in a moving average of the ranges that they have."""
    named = {"default_name": name_prefix, "values": [inputs], "reuse": reuse}
    rules = (is_training, symmetric, narrow_range, num_bits)
    return _in_a_range(inputs, (init_min, init_max), named, rules, ema_decay, per_channel, vars_collection)


def quantization_step():
    """A count of runs, for delays: it goes up each time it is used."""
    with name_scope(None), scopes.variable_scope(scopes.VariableScope(None, name=""), auxiliary_name_scope=False):
        settings = {"collections": [GraphKeys.GLOBAL_VARIABLES], "trainable": False}
        start = initializers.zeros_initializer()
        step = scopes.get_variable("fake_quantization_step", [], dtypes.int64, initializer=start, **settings)
    with name_scope(f"{step.op.name}/"):
        return array.identity(state.assign_add(step, 1))
