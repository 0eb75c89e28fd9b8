"""Checkpoints as ops write and read them: what is known of shapes."""

from __future__ import annotations

from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_value
from everflow.ops.shape_rules import scalar_output

shape_rule("ShardedFilename", "ShardedFilespec")(scalar_output)


@shape_rule("Save", "SaveSlices", "SaveV2")
def _as_many_names_as_tensors(op):
    first = 2 if op.type == "Save" else 3
    for names in op.inputs[1:first]:
        names.shape.merge_with([len(op.inputs) - first])
    return []


@shape_rule("RestoreV2")
def _restore_shapes(op):
    op.inputs[1].shape.merge_with(op.inputs[2].shape)
    slices = known_value(op.inputs[2])
    if slices is None:
        return [unknown_shape() for _ in op.outputs]
    if slices.size != len(op.outputs):
        raise ValueError(f"{slices.size} names with slices are to be read as {len(op.outputs)} tensors")
    return [_slice_shape(s.decode()) for s in slices.ravel().tolist()]


@shape_rule("RestoreSlice")
def _restore_slice_shape(op):
    wanted = known_value(op.inputs[2])
    return [unknown_shape() if wanted is None else _slice_shape(wanted.item().decode())]


def _slice_shape(text):
    """The static shape of what a slice specification names."""
    if not text:
        return unknown_shape()
    *sizes, part = text.split(" ")
    if not sizes:
        raise ValueError(f"A slice is named by sizes and their parts, as in '4 5 0,2:-'; got {text!r}")
    lengths = [p.split(",")[1] if "," in p else size for p, size in zip(part.split(":"), sizes)]
    return TensorShape([int(n) for n in lengths])
