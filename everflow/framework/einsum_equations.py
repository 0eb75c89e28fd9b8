"""The equations of Einsum nodes: how they are read, and what their labels stand for in a shape.

Labels are single characters; `...` stands for dimensions that broadcast. One or two tensors go in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everflow.framework.shapes import TensorShape

REST = "..."  # the label of the dimensions that broadcast


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
    unknown = set(output) - {REST}.union(*inputs)
    if unknown:
        raise ValueError(f"No input of {equation!r} has the labels {sorted(unknown)} of its output")
    return Equation(inputs, output)


def _labels(side: str, equation: str) -> list[str]:
    before, dots, after = side.partition(REST)
    if "." in before + after:
        raise ValueError(f"'...' may stand once on each side of {equation!r}, and no other '.'")
    return [*before, *([REST] if dots else []), *after]


def sizes_of(labels: Sequence[str], shape: TensorShape) -> dict[str, TensorShape]:
    """What each label of one input stands for: a shape of one dimension, or for `...` of any number."""
    plain = len(labels) - (REST in labels)
    if shape.ndims is None:
        return {label: TensorShape(None if label == REST else [None]) for label in labels}
    if shape.ndims < plain or (shape.ndims > plain and REST not in labels):
        raise ValueError(f"The subscript {''.join(labels)!r} doesn't fit a tensor of rank {shape.ndims}")
    found: dict[str, TensorShape] = {}
    position = 0
    for label in labels:
        length = shape.ndims - plain if label == REST else 1
        part = shape[position : position + length]
        found[label] = found[label].merge_with(part) if label in found else part
        position += length
    return found
