"""tensorflow.python.framework.subscribe: side effects that run whenever a tensor is computed for somebody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies, device, name_scope
from everflow.ops.array.basic import identity
from everflow.ops.variables.variable import Variable

_SCOPE = "subscription/"


def subscribe(tensors: Any, side_effects: Callable | Sequence[Callable]) -> Any:
    """Let functions of tensors, which return ops, run before anybody gets those tensors; returns what stands for them.

    Each tensor gets an Identity behind it that waits for the side effects, and whoever used the tensor uses that.
    """
    effects = side_effects if isinstance(side_effects, (list, tuple)) else [side_effects]
    return nest.map_structure(lambda tensor: _subscribed(_as_tensor(tensor), effects), tensors)


def _as_tensor(value: Any) -> Tensor:
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"One can subscribe to tensors, and structures of them; {value!r} is a {type(value).__name__}")
    return convert_to_tensor(value)


def _subscribed(tensor: Tensor, effects: Sequence[Callable]) -> Tensor:
    known = tensor.op if _is_subscription(tensor.op) else next(filter(_is_subscription, tensor.consumers()), None)
    graph, source = tensor.graph, known.inputs[0] if known else tensor
    context = graph._get_control_flow_context()
    graph._set_control_flow_context(source.op._control_flow_context)
    try:
        with device(source.device), name_scope(f"{source.op.name}/{_SCOPE}"):
            ran = nest.flatten([effect(source) for effect in effects])
            if known:
                known._add_control_inputs([getattr(out, "op", out) for out in ran])
                return known.outputs[0]
            users, waiting = source.consumers(), list(source.op._control_outputs)
            with control_dependencies(ran):
                made = identity(source)
    finally:
        graph._set_control_flow_context(context)
    made_for = {getattr(out, "op", out) for out in ran}
    for user in dict.fromkeys(users):
        if user not in made_for:
            user._update_input(list(user.inputs).index(source), made)  # only the first, as TensorFlow has it
    for op in waiting:
        others = [other for other in op.control_inputs if other is not source.op]
        op._remove_all_control_inputs()
        op._add_control_inputs([*others, made.op])
    return made


def _is_subscribed_identity(tensor: Tensor) -> bool:
    """Whether a tensor stands for one that somebody subscribed to."""
    return _is_subscription(tensor.op)


def _is_subscription(op: Operation) -> bool:
    return op.type == "Identity" and op.name.endswith(f"/{_SCOPE}Identity")
