"""A function's random numbers drawn apart from the rest of it: so that calls may go on at the same time, and numbers
still come in the order of the calls.
"""

from __future__ import annotations

from everflow.framework.functions import Body, body_of
from everflow.framework.scopes import name_scope
from everflow.ops import array


def apart(function) -> tuple[Body, Body] | None:
    """A graph function as two: one without inputs that draws its random numbers, and one that takes these after its own
    inputs. None where what is drawn depends on the inputs.
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
    return Body(draws.graph, [], numbers, []), Body(rest.graph, [*rest.inputs, *drawn], rest.outputs, controls)


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
    for consumer in list(tensor.consumers()):
        for index, taken in enumerate(consumer.inputs):
            if taken is tensor:
                consumer._update_input(index, value)
    return value
