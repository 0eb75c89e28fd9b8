"""Constant factors: a chain of multiplications by constants and negations is one multiplication.

Gradients of squares and means are full of them: 2 * x, then 1 / n of that, then its negative.
"""

from __future__ import annotations

import torch

from everflow.runtime.plan.binding import constant_value
from everflow.runtime.plan.fusion import put, uses_of
from everflow.runtime.plan.program import VALUE, Node, Program, is_ref, value_node

_CONSTANT = (VALUE, "Const")
_LARGEST = 1 << 12


def _factor(node: Node, session):
    """(what is multiplied, the constant factor) of a product by a constant or a negation; None for another node."""
    if node.type not in ("Mul", "Neg") or not node.output_dtypes[0].is_floating or any(is_ref(*e) for e in node.inputs):
        return None
    if node.type == "Neg":
        return node.inputs[0], None
    for position in (0, 1):
        source, _ = node.inputs[position]
        if source.type in _CONSTANT:
            value = constant_value(source, session)
            if isinstance(value, torch.Tensor) and value.numel() <= _LARGEST:
                return node.inputs[1 - position], value
    return None


def constant_factors(program: Program, session) -> int:
    """-(c * (d * x)) is x times one constant, where nobody else looks at what is in between."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    swallowed: set[Node] = set()
    for node in reversed(program.nodes):
        outer = None if node in swallowed else _factor(node, session)
        if outer is None:
            continue
        edge, factor = outer
        chain, negative = [], node.type == "Neg"
        while uses[edge] == 1:
            inner = _factor(edge[0], session)
            if inner is None:
                break
            chain.append(edge[0])
            negative ^= edge[0].type == "Neg"
            if inner[1] is not None:
                factor = inner[1] if factor is None else factor * inner[1]
            edge = inner[0]
        if not chain or factor is None or factor.numel() > _LARGEST:
            continue
        swallowed.update(chain)
        held = value_node(program.new_index(), -factor if negative else factor, node.output_dtypes[0], node, 0)
        product = Node(program.new_index(), node.op, node.name, "Mul")
        product.definition = next(n.definition for n in [node, *chain] if n.type == "Mul")
        product.inputs = [edge, (held, 0)]
        # Whatever a part or its constant waited for, the product waits for.
        parts = [node, *chain]
        parts += [source for part in parts for source, _ in part.inputs if source.type in _CONSTANT]
        product.controls = list(dict.fromkeys(control for part in parts for control in part.controls))
        product.output_dtypes, product.output_shapes, product.device = node.output_dtypes, node.output_shapes, node.device
        product.set_attributes({"T": node.output_dtypes[0]})
        made[node] = [held, product]
    return put(program, made)
