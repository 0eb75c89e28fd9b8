"""Results written over operands that nobody needs any more: less memory to fetch, none to find."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.runtime.plan.aliasing import Aliases
from everflow.runtime.plan.program import Edge, Node, is_ref

if TYPE_CHECKING:
    from everflow.runtime.hints import Origin, Value

# Smaller results come out of the processor's cache anyway.
SMALLEST = 1 << 12

# Element-wise functions that can write into memory they read.
WITH_OUT = frozenset(
    [
        torch.add, torch.sub, torch.mul, torch.true_divide, torch.tanh, torch.sigmoid, torch.exp, torch.log, torch.neg, torch.sqrt,
        torch.addcmul, torch.addcdiv, torch.rsqrt, torch.square, torch.abs, torch.reciprocal, torch.erf, torch.sin, torch.cos, torch.log1p, torch.expm1,
    ]
)  # fmt: skip
IN_PLACE = {torch.relu: torch.relu_}


def reusable_operand(node: Node, function: Callable[..., Value], aliases: Aliases, origin: Origin) -> Edge | None:
    """The edge whose memory a node's result may take, or None; `origin`: edge → the edge that holds its value."""
    function = getattr(function, "func", function)  # a partial's own
    if function not in WITH_OUT and function not in IN_PLACE:
        return None
    shape = node.shape()
    if shape is None or math.prod(shape) < SMALLEST:
        return None
    for edge in node.inputs:
        source, output = held = origin(edge)
        if (
            source.output_dtypes[output] is node.output_dtypes[0]
            and source.shape(output) == shape
            and source.device == node.device
            and aliases.is_dead_after(held, node)
            and not _has_other_view(node, held, aliases, origin)
        ):
            return edge
    return None


def _has_other_view(node: Node, held: Edge, aliases: Aliases, origin: Origin) -> bool:
    """Whether another operand may lie in the same memory in another order, as the transpose of a matrix does: it would
    change while it is read.
    """
    found = aliases.class_of(held)
    others = (other for edge in node.inputs if (other := origin(edge)) != held)
    return found.has_views and any(aliases.class_of(other) is found for other in others)


def is_given_away(node: Node, aliases: Aliases, origin: Origin) -> bool:
    """Whether nobody but a node needs its last operand, which may then become what a variable holds."""
    source, output = held = origin(node.inputs[-1])
    return source.device == node.device and not is_ref(source, output) and aliases.is_dead_after(held, node)
