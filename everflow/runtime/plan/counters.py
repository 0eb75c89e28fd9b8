"""Whole numbers and truth values that go round in loops as Python's own: to count, compare and decide then takes no
kernel.

A loop variable is such a counter if it is a whole number or a truth value and the loop makes its next value from
counters alone, by the ops of the table below. Whoever else reads a counter gets it as a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework import dtypes
from everflow.runtime.plan.aliasing import loops_around
from everflow.runtime.plan.program import LOOP, VALUE, VARIABLE, Edge, Node, Program, is_ref, loop_variables

if TYPE_CHECKING:
    from everflow.runtime.hints import Origin

_BITS = {dtypes.int32: 32, dtypes.int64: 64}
_DTYPES = frozenset([*_BITS, dtypes.bool])
# Op type → the expression of its operands. Results that may be too large for their type are wrapped round as the
# machine does.
_WRAPPED = {"Add": "{} + {}", "AddV2": "{} + {}", "Sub": "{} - {}", "Mul": "{} * {}"}
_EXPRESSIONS = {
    "Less": "{} < {}",
    "LessEqual": "{} <= {}",
    "Greater": "{} > {}",
    "GreaterEqual": "{} >= {}",
    "Equal": "{} == {}",
    "NotEqual": "{} != {}",
    "Maximum": "max({}, {})",
    "Minimum": "min({}, {})",
    "LogicalAnd": "{} and {}",
    "LogicalOr": "{} or {}",
    "LogicalNot": "not {}",
    **_WRAPPED,
}


def counters(program: Program, origin: Origin) -> frozenset[Edge]:
    """The edges of a program that are held as numbers of Python; `origin(edge)` is the edge that holds an edge's value."""
    following = {
        variable: loop.blocks[1].end.inputs[i]
        for loop in program.nodes()
        if loop.type == LOOP
        for i, variable in enumerate(loop_variables(loop))
    }
    if not following:
        return frozenset()
    found = {(n, 0) for n in program.nodes() if _may_count(n) and (n.type == VARIABLE or loops_around(n))}
    # Who takes whom: what stops to be a counter may stop those that were made of it.
    taken_by: dict[Edge, list[Node]] = {}
    for node, _ in found:
        for edge in [following[node]] if node.type == VARIABLE else node.inputs:
            taken_by.setdefault(origin(edge), []).append(node)
    left = [node for node, _ in found]
    while left:
        node = left.pop()
        if (node, 0) in found and not _counts(node, found, following, origin):
            found.discard((node, 0))
            left += taken_by.get((node, 0), ())
    return frozenset(found)


def _may_count(node: Node) -> bool:
    if node.type == VARIABLE:
        return is_count((node, 0))
    return node.type in _EXPRESSIONS and is_count((node, 0)) and all(is_count(e) for e in node.inputs)


def is_count(edge: Edge) -> bool:
    """Whether a value is a whole number or a truth value that Python can hold."""
    node, output = edge
    shape = node.output_shapes[output]
    return node.output_dtypes[output] in _DTYPES and shape is not None and shape.ndims == 0 and not is_ref(node, output)


def _counts(node: Node, found: set[Edge], following: dict[Node, Edge], origin: Origin) -> bool:
    """Whether a loop variable's next value is a counter, or something computed takes one."""
    if node.type == VARIABLE:
        edge = origin(following[node])
        return edge in found or edge[0].type in (VALUE, "Const")
    return any(origin(e) in found for e in node.inputs)


def arithmetic(node: Node, operands: list[str]) -> str:
    """What computes a counter from numbers."""
    text = _EXPRESSIONS[node.type].format(*operands)
    bits = _BITS.get(node.output_dtypes[0])
    if node.type in _WRAPPED and bits:
        half = 1 << bits - 1
        text = f"({text} + {half:#x} & {2 * half - 1:#x}) - {half:#x}"
    return text
