"""What a StridedSlice means: its masks and indices spelled out, one entry for each axis that is read or added; and what
an Einsum's equation does: the labels of its axes, single characters, and `...` for dimensions that broadcast.

Both the shape rules and the kernels ask here, so that a static shape and the value at run time can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everflow.framework.shapes import TensorShape

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


class Axis(NamedTuple):
    """One step of a slice. `kind`: "range" keeps an input axis, "shrink" picks one index of it, "new" adds an axis.

    `begin` and `size` are None where they can't be known yet.
    """

    kind: str
    begin: int | None = 0
    stride: int = 1
    size: int | None = 1


def resolve(
    dims: Sequence[int | None],
    begin: Sequence[int | None] | None,
    end: Sequence[int | None] | None,
    strides: Sequence[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> list[Axis]:
    """The axes of a slice of a tensor with these dimensions.

    `dims` may hold None; `begin` and `end` may be None or hold None (not known while the graph is built). Raises
    ValueError for a slice that the tensor can't have.
    """
    count = len(strides)
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    entries = _expand_ellipsis(len(dims), count, ellipsis_mask, new_axis_mask)
    axes, position = [], 0
    for entry in entries:
        if entry is None:  # an axis that the ellipsis covers
            axes.append(Axis("range", 0, 1, dims[position]))
            position += 1
            continue
        bit = 1 << entry
        if new_axis_mask & bit:
            axes.append(Axis("new"))
            continue
        if position >= len(dims):
            raise ValueError(f"Index out of range using input dim {position}; input has only {len(dims)} dims")
        dim, stride = dims[position], strides[entry]
        first = None if begin is None else begin[entry]
        last = None if end is None else end[entry]
        if stride == 0:
            raise ValueError(f"strides[{entry}] must be non-zero")
        if shrink_axis_mask & bit:
            axes.append(_shrink(dim, first, stride, position))
        else:
            axes.append(_range(dim, first, last, stride, begin_mask & bit, end_mask & bit))
        position += 1
    return axes


def _expand_ellipsis(rank: int, count: int, ellipsis_mask: int, new_axis_mask: int) -> list[int | None]:
    """The slice's entries in order, with None for each axis that the (maybe implied) ellipsis stands for."""
    at = ellipsis_mask.bit_length() - 1 if ellipsis_mask and ellipsis_mask.bit_length() <= count else count
    after = range(at + 1, count)
    used = sum(not new_axis_mask & (1 << i) for i in (*range(at), *after))
    return [*range(at), *[None] * max(rank - used, 0), *after]


def _shrink(dim: int | None, first: int | None, stride: int, position: int) -> Axis:
    if stride <= 0:
        raise ValueError("only stride 1 allowed on non-range indexing.")
    if first is None or dim is None:
        return Axis("shrink", first if first is None or first >= 0 else None)
    index = first + dim if first < 0 else first
    if not 0 <= index < dim:
        raise ValueError(f"slice index {first} of dimension {position} out of bounds.")
    return Axis("shrink", index)


def _range(dim: int | None, first: int | None, last: int | None, stride: int, from_start: int, to_end: int) -> Axis:
    if dim is None:
        return Axis("range", None, stride, None)
    low, high = (0, dim) if stride > 0 else (-1, dim - 1)

    def place(index: int | None) -> int | None:
        return None if index is None else min(max(index + dim if index < 0 else index, low), high)

    start = (0 if stride > 0 else dim - 1) if from_start else place(first)
    stop = (dim if stride > 0 else -1) if to_end else place(last)
    if start is None or stop is None:
        return Axis("range", start, stride, None)
    return Axis(
        "range",
        start,
        stride,
        max(-(-(stop - start) // stride), 0) if stride > 0 else max(-((stop - start) // -stride), 0),
    )


def output_dims(axes: Iterable[Axis]) -> list[int | None]:
    """The dimensions of the slice's result."""
    return [axis.size for axis in axes if axis.kind != "shrink"]


# --- equations ------------------------------------------------------------------------------

REST = "..."  # the label of the dimensions that broadcast


class Equation(NamedTuple):
    """The labels of each input and of the output; `...` among them is one label."""

    inputs: list[list[str]]
    output: list[str]


def read_equation(equation: str, count: int) -> Equation:
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


def sizes_of_labels(labels: Sequence[str], shape: TensorShape) -> dict[str, TensorShape]:
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
