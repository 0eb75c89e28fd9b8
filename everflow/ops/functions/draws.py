"""A function's random numbers drawn apart from the rest of it: so that calls may go on at the same time, and numbers
still come in the order of the calls.
"""

from __future__ import annotations

import dataclasses

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.functions import Body, body_of
from everflow.framework.op_defs import ArgDef
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape
from everflow.ops import array


def apart(function, captured: int = 0) -> tuple[Body, Body] | None:
    """A graph function as two: one without inputs that draws its random numbers, and one that takes these after its own
    inputs but the last `captured`. None where what is drawn depends on the inputs.
    """
    draws = _whole(function)
    drawing = _drawing(draws)
    if not all(_is_known(op) for op in drawing):
        return None
    rest = _whole(function)
    with rest.graph.as_default(), name_scope("drawn"):
        drawn = [_replaced(tensor) for op in _drawing(rest) for tensor in op.outputs]
    numbers = [tensor for op in drawing for tensor in op.outputs]
    controls = [op for op in rest.controls if "seed" not in op.attrs]
    at = len(rest.inputs) - captured
    inputs = [*rest.inputs[:at], *drawn, *rest.inputs[at:]]
    return Body(draws.graph, [], numbers, []), Body(rest.graph, inputs, rest.outputs, controls)


def seeded(function, captured: int = 0) -> Body:
    """A graph function whose only random op, a uniform one, keeps no stream: it takes two numbers to draw from, as a
    further input before the last `captured`.
    """
    body = _whole(function)
    (op,) = _drawing(body)
    with body.graph.as_default(), name_scope("seeded"):
        seed = array.placeholder(dtypes.int64, [2])
        drawn = raw.StatelessRandomUniform(shape=op.inputs[0], seed=seed, dtype=op.outputs[0].dtype)
    _use_instead(op.outputs[0], drawn)
    outputs = [drawn if tensor is op.outputs[0] else tensor for tensor in body.outputs]
    controls = [control for control in body.controls if control is not op]
    at = len(body.inputs) - captured
    return Body(body.graph, [*body.inputs[:at], seed, *body.inputs[at:]], outputs, controls)


# The ops that can draw for several calls at once, each what it would draw next: how often is a further first input.
_REPEATED = frozenset(["RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal"])


def repeated(draws: Body) -> Body | None:
    """What draws random numbers, for as many calls at once as its only input says; None where an op can't do so."""
    ops = [tensor.op for tensor in draws.outputs]
    if not all(op.type in _REPEATED for op in ops):
        return None
    with draws.graph.as_default():
        times = array.placeholder(dtypes.int32, [])
        return Body(draws.graph, [times], [_many_times(op, times) for op in ops], [])


def _many_times(op, times):
    once = op.definition
    inputs = (ArgDef("times", dtypes.int32), *once.inputs)
    definition = dataclasses.replace(once, name=f"_{op.type}s", inputs=inputs, attr_by_name={})
    attrs = dict(op.attrs)
    return op.graph.add_op(definition, [times, *op.inputs], [op.outputs[0].dtype], attrs, definition.name[1:]).outputs[
        0
    ]


@shape_rule(*(f"_{op_type}s" for op_type in _REPEATED))
def _repeated_shape(op) -> TensorShape:
    return TensorShape([None]).concatenate(known_shape(op.inputs[1]))


def _whole(function) -> Body:
    inputs, _ = function.body_tensors()
    handles = [t._handle_data for t in inputs]
    return body_of(function.definition, function._library, handle_data=handles, shapes=[t.shape for t in inputs])


def _drawing(body: Body) -> list:
    return [op for op in body.graph.get_operations() if "seed" in op.attrs]


def _is_known(op) -> bool:
    """Whether an op draws in every call, and the same kind of numbers."""
    return all(t.op.type == "Const" and not t.op.control_inputs for t in op.inputs) and not op.control_inputs


def _replaced(tensor):
    """A placeholder that stands for a tensor wherever it is used."""
    value = array.placeholder(tensor.dtype, tensor.shape)
    _use_instead(tensor, value)
    return value


def _use_instead(tensor, value) -> None:
    for consumer in list(tensor.consumers()):
        for index, taken in enumerate(consumer.inputs):
            if taken is tensor:
                consumer._update_input(index, value)
