"""Rules for things that are made piece by piece and are better made at once: gradients of all slices of a tensor,
products of one matrix with several, as layers have that hold the weights of their gates side by side, and text that is
taken apart into code points and put together again one by one, as `tf.strings.unicode_split` draws it.
"""

from __future__ import annotations

import torch

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.kernels.constant_arguments import slice_key
from everflow.runtime.plan.patterns import Bits, Match, Rule, const, is_alone, op, value
from everflow.runtime.plan.products import is_float_matmul, transposes
from everflow.runtime.plan.program import Edge, Node, internal, is_ref
from everflow.runtime.plan.sums import sole_parts

# How many times as large as their products matrices may be that are put side by side for one: that is a copy of them.
_MOST = 4
_ENCODING = "errors output_encoding replacement_char"
_DECODING = "input_encoding replace_control_characters"
CHARACTERS = internal("_UnicodeCharacters", "input", attributes=f"{_DECODING} {_ENCODING}")


def _concat(m: Match, parts: list[Edge], axis: int, shape: list[int] | None = None) -> Node:
    """A node that puts values side by side: as large as the root, or of a shape."""
    at = m.program.constant(torch.tensor(axis, dtype=torch.int32), dtypes.int32, m.root)
    made = m.node("ConcatV2", [*parts, (at, 0)], N=len(parts), T=m.root.output_dtypes[0], Tidx=dtypes.int32)
    if shape is not None:
        made.output_shapes = [TensorShape(shape)]
    return made


def _of_whole_slices(m: Match) -> Node | None:
    """AddN of what came back from slices that together are a whole tensor: these, side by side."""
    parts = sole_parts(m, "StridedSliceGrad")
    shape = m.root.shape()
    if parts is None or shape is None or any(n.inputs[0] != parts[0].inputs[0] for n in parts):
        return None
    keys = [slice_key(n, (1, 2, 3)) for n in parts]
    if not all(k is not None and len(k) <= len(shape) and all(isinstance(s, slice) for s in k) for k in keys):
        return None
    # For each slice, which entries it has of each axis.
    ranges = [[range(n)[s] for n, s in zip(shape, (*k, *[slice(None)] * len(shape)), strict=False)] for k in keys if k]
    axes = [axis for axis, n in enumerate(shape) if any(len(r[axis]) != n for r in ranges)]
    if len(axes) != 1 or len(ranges) != len(parts):
        return None
    [axis] = axes
    order = sorted(range(len(parts)), key=lambda i: ranges[i][axis].start)
    if [place for i in order for place in ranges[i][axis]] != list(range(shape[axis])):
        return None
    return _concat(m, [parts[i].inputs[4] for i in order], axis)


def _of_one_matrix(m: Match) -> Node | None:
    """Products of one matrix with several, side by side: its product with these, side by side, if they are not far larger."""
    *parts, _ = m.root.inputs
    axis, shape = m.root.constant_input(len(parts)), m.root.shape()
    products = [node for node, _ in parts]
    if axis is None or shape is None or len(shape) != 2 or int(axis) not in (1, -1) or len(set(products)) < 2:
        return None
    first = products[0]
    if not all(is_float_matmul(e) and is_alone(e, m.root) and not any(map(_is_ref, e[0].inputs)) for e in parts):
        return None
    if any(n.inputs[0] != first.inputs[0] or transposes(n) != transposes(first) for n in products):
        return None
    left, turned = first.inputs[0][0].shape(first.inputs[0][1]), transposes(first)
    if left is None or any(m.context.aliases.changes_between(n.inputs, n, m.root) for n in products):
        return None
    inner = left[0 if turned["transpose_a"] else 1]
    if inner > _MOST * shape[0]:
        return None
    is_turned = turned["transpose_b"]
    others = [n.inputs[1] for n in products]
    joined = _concat(m, others, 0 if is_turned else 1, [shape[1], inner] if is_turned else [inner, shape[1]])
    return m.node("MatMul", [first.inputs[0], m.before(joined)], **turned, T=m.root.output_dtypes[0])


def _of_sums(m: Match) -> Node | None:
    """Sums over rows, end to end: the sum over the rows of the matrices, side by side."""
    *parts, _ = m.root.inputs
    shapes = [e[0].inputs[0][0].shape(e[0].inputs[0][1]) for e in parts if e[0].type == "BiasAddGrad"]
    sources = [e[0].inputs[0] for e in parts if e[0].type == "BiasAddGrad"]
    if len(shapes) != len(parts) or len(parts) < 2 or any(s is None or len(s) != 2 for s in shapes):
        return None
    if not all(is_alone(e, m.root) for e in parts) or any(map(_is_ref, sources)):
        return None
    if any(m.context.aliases.changes_between(n.inputs, n, m.root) for n, _ in parts):
        return None
    sizes = [s for s in shapes if s is not None]
    if len({rows for rows, _ in sizes}) > 1:
        return None
    joined = _concat(m, sources, 1, [sizes[0][0], sum(columns for _, columns in sizes)])
    return m.node("BiasAddGrad", [m.before(joined)], T=m.root.output_dtypes[0], data_format="NHWC")


def _is_ref(edge: Edge) -> bool:
    return is_ref(*edge)


def _characters(m: Match) -> Node | None:
    """Bounds 0, 1, 2, ... up to the number of code points: each row is one of them."""
    decoded, output = m.points
    if decoded.type not in ("UnicodeDecode", "UnicodeDecodeWithOffsets") or output != 1:
        return None
    is_same_rule = all(decoded.attribute(name) == m.root.attribute(name) for name in ("errors", "replacement_char"))
    if not is_same_rule or not _counts_points(m) or decoded.block is not m.root.block:
        return None
    if m.context.aliases.changes_between(decoded.inputs, decoded, m.root):
        return None
    attributes = {name: decoded.attribute(name) for name in _DECODING.split()}
    attributes |= {name: m.root.attribute(name) for name in _ENCODING.split()}
    return m.node(CHARACTERS, [decoded.inputs[0]], **attributes)


def _counts_points(m: Match) -> bool:
    """Whether bounds are the whole numbers up to the first size of the column of code points."""
    wanted = {"axis": (-1, 1), "start": (0,), "one": (1,), "step": (1,), "first": (0,), "behind": (1,), "stride": (1,)}
    is_counting = all(m.value(name).reshape(-1).tolist() in [[v] for v in values] for name, values in wanted.items())
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
    return is_counting and all(m.size[0].attribute(name) == mask for name, mask in masks.items())


_column = op("ExpandDims", value("points"), const("axis"))
_size = op("StridedSlice", op("Shape", _column), const("first"), const("behind"), const("stride"), name="size")
_bounds = op("Range", const("start"), op("AddV2", _size, const("one"), commutes=True), const("step"))

JOINTS = [
    Rule("slices that are a whole", "arithmetic_optimization", op("AddN"), _of_whole_slices),
    Rule("products of one matrix", "arithmetic_optimization", op("ConcatV2"), _of_one_matrix, bits=Bits.REORDERED),
    Rule("sums of rows side by side", "arithmetic_optimization", op("ConcatV2"), _of_sums, bits=Bits.REORDERED),
    Rule("characters", "remapping", op("UnicodeEncode", op("Reshape", _column, value("shape")), _bounds), _characters),
]
