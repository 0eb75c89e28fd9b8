"""What decoding, cropping and resizing become for many images at once, each of its own size.

Images are held together by one variant until all are of one size: cropped, resized, or stacked as they are. They take
long for each, so that nothing is gained where one thread does them all: threads that share out elements have them in
this form (`kernels/data/shares.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from everflow.framework import dtypes, op_defs
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, known_value
from everflow.ops import array, math
from everflow.ops.parallel_for import branches
from everflow.ops.parallel_for.array_rules import behind_first, flattened, unflattened
from everflow.ops.parallel_for.math_rules import _reduction
from everflow.ops.parallel_for.vectorizer import Inputs, Value, stacked

_DECODERS = ("DecodeJpeg", "DecodePng")
_RESIZERS = ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")
_GIVEN = ArgDef("images", dtypes.variant)


class Images:
    """What stands for an image in each element: one tensor that holds all of them. `rank` 4: each is the only one of a
    batch.
    """

    stacked = True

    def __init__(self, tensor, dtype, channels: int | None, rank: int = 3) -> None:
        self.tensor, self.dtype, self.channels, self.rank = tensor, dtype, channels, rank


# --- ops on many images; graphs of programs never have them -------------------------------------

_SHAPES = OpDef("_ImageShapes", (_GIVEN,), (ArgDef("shapes", type_attr="out_type"),), (AttrDef("out_type", "type"),))
_CROPS = OpDef(
    "_CropImages",
    (_GIVEN, ArgDef("begin", type_attr="Index"), ArgDef("size", type_attr="Index")),
    (ArgDef("output", type_attr="T"),),
    (AttrDef("T", "type"), AttrDef("Index", "type")),
)
_STACK = OpDef(
    "_StackImages", (_GIVEN,), (ArgDef("output", type_attr="T"),), (AttrDef("T", "type"), AttrDef("channels", "int"))
)


def _decoder(op_type: str) -> OpDef:
    return dataclasses.replace(op_defs.get(op_type), name=f"_{op_type}s", outputs=(_GIVEN,), attr_by_name={})


def _resizer(op_type: str) -> OpDef:
    whole = op_defs.get(op_type)
    more = (*whole.attrs, AttrDef("channels", "int"))
    return dataclasses.replace(
        whole, name=f"_{op_type}s", inputs=(_GIVEN, *whole.inputs[1:]), attrs=more, attr_by_name={}
    )


def _made(graph, definition: OpDef, given: list, dtype, **attrs):
    return graph.add_op(definition, given, [dtypes.as_dtype(dtype)], attrs, definition.name[1:]).outputs[0]


@shape_rule(*(f"_{op_type}s" for op_type in _DECODERS))
def _decoded_shape(op) -> TensorShape:
    return op.inputs[0].shape


@shape_rule("_ImageShapes")
def _shapes_shape(op) -> TensorShape:
    return TensorShape([op.inputs[0].shape[0], 3])


@shape_rule("_CropImages")
def _crops_shape(op) -> TensorShape:
    size = known_value(op.inputs[2])
    rest = [None] * 3 if size is None else [n if n >= 0 else None for n in size.tolist()]
    return TensorShape([op.inputs[0].shape[0], *rest])


@shape_rule("_StackImages")
def _stack_shape(op) -> TensorShape:
    return TensorShape([op.inputs[0].shape[0], None, None, op.attrs["channels"] or None])


@shape_rule(*(f"_{op_type}s" for op_type in _RESIZERS))
def _resized_shape(op) -> TensorShape:
    size = known_value(op.inputs[1])
    rows, columns = (None, None) if size is None else size.tolist()
    return TensorShape([op.inputs[0].shape[0], rows, columns, op.attrs["channels"] or None])


# --- rules -----------------------------------------------------------------------------------


def _decoded(inputs: Inputs) -> Images:
    definition, attrs = _decoder(inputs.op.type), dict(inputs.op.attrs)
    made = _made(inputs.op.graph, definition, [inputs.stacked(0)], dtypes.variant, **attrs)
    return Images(made, inputs.op.outputs[0].dtype, attrs["channels"] or None)


def whole(images: Images) -> Value:
    """Images that have to be of one size, as one tensor."""
    attrs = {"T": images.dtype, "channels": images.channels or 0}
    made = _made(images.tensor.graph, _STACK, [images.tensor], images.dtype, **attrs)
    return stacked(made if images.rank == 3 else array.expand_dims(made, 1))


def _shape(inputs: Inputs, images: Images) -> Value | None:
    if images.rank != 3:
        return None
    kind = inputs.attrs["out_type"]
    return stacked(_made(inputs.op.graph, _SHAPES, [images.tensor], kind, out_type=kind))


def _crop(inputs: Inputs, images: Images) -> Value | None:
    if images.rank != 3:
        return None
    [begin], size = inputs.all_stacked([1]), inputs.same(2)
    attrs = {"T": images.dtype, "Index": begin.dtype}
    return stacked(_made(inputs.op.graph, _CROPS, [images.tensor, begin, size], images.dtype, **attrs))


def _expand(inputs: Inputs, images: Images) -> Images | None:
    is_batch = images.rank == 3 and constant_value(inputs.same(1)) == 0
    return Images(images.tensor, images.dtype, images.channels, 4) if is_batch else None


def _resize(inputs: Inputs, images: Images) -> Value | None:
    if images.rank != 4:
        return None
    attrs = dict(inputs.op.attrs) | {"channels": images.channels or 0}
    kind = inputs.op.outputs[0].dtype
    made = _made(inputs.op.graph, _resizer(inputs.op.type), [images.tensor, inputs.same(1)], kind, **attrs)
    return stacked(array.expand_dims(made, 1))


_OF_IMAGES = {"Shape": _shape, "Slice": _crop, "ExpandDims": _expand, "Identity": lambda inputs, images: images}
_OF_IMAGES |= dict.fromkeys(_RESIZERS, _resize)


def with_images(op_type, rule):
    """A rule that goes by images of any size, where its first input is one; others see images of one size."""

    def by_kind(inputs: Inputs):
        first = inputs.values[0]
        if isinstance(first, Images) and op_type in _OF_IMAGES:
            made = _OF_IMAGES[op_type](inputs, first)
            if made is not None:
                return [made]
        inputs.values = [whole(v) if isinstance(v, Images) else v for v in inputs.values]
        made = rule(inputs)
        return [made] if isinstance(made, Images) else made

    return by_kind


def _resized(inputs: Inputs) -> Value:
    made = inputs.op_like([flattened(inputs.stacked(0)), inputs.same(1)])
    return stacked(unflattened(inputs, made.outputs[0]))


def _reversed(inputs: Inputs) -> Value:
    return stacked(inputs.op_like([inputs.stacked(0), behind_first(inputs.same(1))]).outputs[0])


def _assert(inputs: Inputs):
    """That something holds for all elements; for which it does not is found out where each is asked alone."""
    condition = math.reduce_all(inputs.tensor(0)) if inputs.is_stacked(0) else inputs.tensor(0)
    return inputs.op_like([condition, *(inputs.tensor(i) for i in range(1, len(inputs)))])


RULES: dict[str, Callable[[Inputs], Any]] = dict.fromkeys(_DECODERS, _decoded) | dict.fromkeys(_RESIZERS, _resized)
RULES |= {"Assert": _assert, "ReverseV2": _reversed, "StatelessIf": branches.branch}
# The order in which compiled code adds up is its own in any case.
RULES |= dict.fromkeys(("Mean", "Sum"), _reduction)
