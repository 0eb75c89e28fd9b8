"""Results written over operands that nobody needs any more: less memory to fetch, none to find."""

from __future__ import annotations

import math

import torch

from everflow.runtime.plan.aliasing import FRESH
from everflow.runtime.plan.program import Node

# Smaller results come out of the processor's cache anyway.
SMALLEST = 1 << 12

# Element-wise functions that can write into memory they read.
WITH_OUT = frozenset(
    [
        torch.add, torch.sub, torch.mul, torch.true_divide, torch.tanh, torch.sigmoid, torch.exp, torch.log, torch.neg, torch.sqrt,
        torch.addcmul, torch.rsqrt, torch.square, torch.abs, torch.reciprocal, torch.erf, torch.sin, torch.cos, torch.log1p, torch.expm1,
    ]
)  # fmt: skip
IN_PLACE = {torch.relu: torch.relu_}


def reusable_operand(node: Node, function, may_overwrite, origin) -> tuple | None:
    """The edge whose memory a node's result may take, or None.

    `may_overwrite(node, value)`: whether nobody else needs the value any more; `origin`: edge → the edge that holds its value.
    """
    if getattr(function, "func", function) not in WITH_OUT and function not in IN_PLACE:  # a partial's own
        return None
    shape = node.output_shapes[0]
    if shape is None or not shape.is_fully_defined() or math.prod(shape.as_list()) < SMALLEST:
        return None
    for edge in node.inputs:
        source, output = held = origin(edge)
        if (
            source.type in FRESH
            and may_overwrite(node, held)
            and source.output_dtypes[output] is node.output_dtypes[0]
            and source.output_shapes[output] is not None
            and source.output_shapes[output].is_fully_defined()
            and source.output_shapes[output].as_list() == shape.as_list()
            and source.frame == node.frame
            and source.guard == node.guard
            and source.device == node.device
        ):
            return edge
    return None
