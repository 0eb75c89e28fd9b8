"""The shape that an Einsum node gives."""

from __future__ import annotations

from everflow.framework.operation import Operation
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import Dimension, TensorShape
from everflow.framework.slicing import REST, read_equation, sizes_of_labels
from everflow.ops.array.basic import broadcast_static_shape


@shape_rule("Einsum")
def _einsum_shape(op: Operation) -> TensorShape:
    equation = read_equation(op.get_attr("equation").decode(), len(op.inputs))
    sizes: dict[str, TensorShape] = {}
    for labels, tensor in zip(equation.inputs, op.inputs, strict=True):
        for label, part in sizes_of_labels(labels, tensor.shape).items():
            if label not in sizes:
                sizes[label] = part
            elif label == REST:
                sizes[label] = broadcast_static_shape(sizes[label], part)
            else:
                sizes[label] = sizes[label].merge_with(part)
    rest = sizes.get(REST, TensorShape([]))
    if REST not in equation.output and rest.ndims:
        raise ValueError("'...' of the inputs is missing in the output, and stands for dimensions")
    dims: list[Dimension] = []
    for label in equation.output:
        part = rest if label == REST else sizes[label]
        if part.dims is None:
            return TensorShape(None)
        dims += part.dims
    return TensorShape(dims)
