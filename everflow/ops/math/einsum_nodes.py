"""The Einsum op type: how its equation is read, and the shape that it gives.

Labels are single characters; `...` stands for dimensions that broadcast. One or two tensors go in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everflow.framework.operation import Operation
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import Dimension, TensorShape
from everflow.ops.array.basic import broadcast_static_shape

_REST = "..."


class Equation(NamedTuple):
    """The labels of each input and of the output; `...` among them is one label."""

    inputs: list[list[str]]
    output: list[str]


def read(equation: str, count: int) -> Equation:
    """What an equation for so many tensors says; ValueError where it is none."""
    left, arrow, right = equation.partition("->")
    inputs = [_labels(side, equation) for side in left.split(",")]
    if not arrow or "->" in right or "," in right:
        raise ValueError(f"An equation has inputs, one '->' and an output: {equation!r}")
    if len(inputs) != count or count > 2:
        raise ValueError(f"{equation!r} is an equation of {len(inputs)} tensors (1 or 2 can be), and {count} are given")
    output = _labels(right, equation)
    unknown = set(output) - {_REST}.union(*inputs)
    if unknown:
        raise ValueError(f"No input of {equation!r} has the labels {sorted(unknown)} of its output")
    return Equation(inputs, output)


def _labels(side: str, equation: str) -> list[str]:
    before, dots, after = side.partition(_REST)
    if "." in before + after:
        raise ValueError(f"'...' may stand once on each side of {equation!r}, and no other '.'")
    return [*before, *([_REST] if dots else []), *after]


def sizes_of(labels: Sequence[str], shape: TensorShape) -> dict[str, TensorShape]:
    """What each label of one input stands for: a shape of one dimension, or for `...` of any number."""
    plain = len(labels) - (_REST in labels)
    if shape.ndims is None:
        return {label: TensorShape(None if label == _REST else [None]) for label in labels}
    if shape.ndims < plain or (shape.ndims > plain and _REST not in labels):
        raise ValueError(f"The subscript {''.join(labels)!r} doesn't fit a tensor of rank {shape.ndims}")
    found: dict[str, TensorShape] = {}
    position = 0
    for label in labels:
        length = shape.ndims - plain if label == _REST else 1
        part = shape[position : position + length]
        found[label] = found[label].merge_with(part) if label in found else part
        position += length
    return found


@shape_rule("Einsum")
def _einsum_shape(op: Operation) -> TensorShape:
    equation = read(op.get_attr("equation").decode(), len(op.inputs))
    sizes: dict[str, TensorShape] = {}
    for labels, tensor in zip(equation.inputs, op.inputs, strict=True):
        for label, part in sizes_of(labels, tensor.shape).items():
            if label not in sizes:
                sizes[label] = part
            elif label == _REST:
                sizes[label] = broadcast_static_shape(sizes[label], part)
            else:
                sizes[label] = sizes[label].merge_with(part)
    rest = sizes.get(_REST, TensorShape([]))
    if _REST not in equation.output and rest.ndims:
        raise ValueError("'...' of the inputs is missing in the output, and stands for dimensions")
    dims: list[Dimension] = []
    for label in equation.output:
        part = rest if label == _REST else sizes[label]
        if part.dims is None:
            return TensorShape(None)
        dims += part.dims
    return TensorShape(dims)
