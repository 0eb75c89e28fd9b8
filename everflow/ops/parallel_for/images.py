"""What decoding and resizing become for many images at once, which have to be of one size.

They take long for each image, so that nothing is gained where one thread does them all: threads that share out elements
have them in this form (`kernels/data/parallel.py`).
"""

from __future__ import annotations

import dataclasses

from everflow.framework import op_defs
from everflow.framework.op_defs import OpDef
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops.parallel_for.array_rules import flattened, unflattened
from everflow.ops.parallel_for.vectorizer import Inputs, Value, stacked

_DECODERS = ("DecodeJpeg", "DecodePng")
_RESIZERS = ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")


def _for_many(op_type: str) -> OpDef:
    """An op like another one, on a vector of files. Graphs of programs never have it."""
    return dataclasses.replace(op_defs.get(op_type), name=f"_{op_type}s", attr_by_name={})


def _decoded(inputs: Inputs) -> Value:
    definition, op = _for_many(inputs.op.type), inputs.op
    made = op.graph.add_op(definition, [inputs.stacked(0)], [op.outputs[0].dtype], dict(op.attrs), definition.name[1:])
    return stacked(made.outputs[0])


@shape_rule(*(f"_{op_type}s" for op_type in _DECODERS))
def _decoded_shape(op) -> TensorShape:
    return TensorShape([op.inputs[0].shape[0], None, None, op.attrs["channels"] or None])


def _resized(inputs: Inputs) -> Value:
    made = inputs.op_like([flattened(inputs.stacked(0)), inputs.same(1)])
    return stacked(unflattened(inputs, made.outputs[0]))


RULES = dict.fromkeys(_DECODERS, _decoded) | dict.fromkeys(_RESIZERS, _resized)
