"""Whole numbers and truth values that go round in loops as Python's own: to count, compare and decide then takes no kernel.

A loop variable is such a counter if it is a whole number or a truth value and the loop makes its next value from counters alone, by
the ops of the table below. Whoever else reads a counter gets it as a tensor.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.runtime.plan.program import VALUE, Node, Program, is_ref
from everflow.runtime.plan.structure import MERGE, NEXT

_BITS = {dtypes.int32: 32, dtypes.int64: 64}
_DTYPES = frozenset([*_BITS, dtypes.bool])
# Op type → the expression of its operands. Results that may be too large for their type are wrapped round as the machine does.
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
# Inputs of kernels that take a number as it is: op type → position.
TAKEN_AS_NUMBERS = {"TensorArrayReadV3": 1, "TensorArrayWriteV3": 1}


def counters(program: Program, origin) -> frozenset:
    """The edges of a program that are held as numbers of Python; `origin(edge)` is the edge that holds an edge's value."""
    found = {(n, 0) for n in program.nodes if n.frame and _may_count(n)}
    while True:
        wrong = {edge for edge in found if not _counts(edge[0], found, origin)}
        if not wrong:
            return frozenset(found)
        found -= wrong


def _may_count(node: Node) -> bool:
    if node.type in MERGE:
        return any(n.type in NEXT for n, _ in node.inputs) and _is_number((node, 0))
    return node.type in _EXPRESSIONS and _is_number((node, 0)) and all(_is_number(e) for e in node.inputs)


def _is_number(edge) -> bool:
    node, output = edge
    shape = node.output_shapes[output]
    return node.output_dtypes[output] in _DTYPES and shape is not None and shape.ndims == 0 and not is_ref(node, output)


def _counts(node: Node, found: set, origin) -> bool:
    """Whether a loop variable's next value is a counter, or something computed takes one."""
    if node.type in MERGE:
        return all(origin(e) in found or _is_constant(origin(e)) for e in node.inputs if e[0].type in NEXT)
    return any(origin(e) in found for e in node.inputs)


def _is_constant(edge) -> bool:
    return edge[0].type in (VALUE, "Const")


def arithmetic(node: Node, operands: list[str]) -> str:
    """What computes a counter from numbers."""
    text = _EXPRESSIONS[node.type].format(*operands)
    bits = _BITS.get(node.output_dtypes[0])
    if node.type in _WRAPPED and bits:
        half = 1 << bits - 1
        text = f"({text} + {half:#x} & {2 * half - 1:#x}) - {half:#x}"
    return text
