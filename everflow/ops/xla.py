"""Shapes of XLA's own operations; most are known only when they run."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.protos.xla_data_pb2 import DotDimensionNumbers


@shape_rule("XlaSort", "XlaDynamicUpdateSlice")
def _same_shape(op):
    return op.inputs[0].shape


@shape_rule("XlaKeyValueSort")
def _same_shapes(op):
    return [tensor.shape for tensor in op.inputs]


@shape_rule("XlaReplicaId")
def _scalar(op):
    return TensorShape([])


@shape_rule("XlaDot")
def _dot_shape(op):
    left, right = (tensor.shape for tensor in op.inputs)
    if left.rank is None or right.rank is None:
        return TensorShape(None)
    try:
        numbers = DotDimensionNumbers.FromString(op.attrs["dimension_numbers"])
    except DecodeError as error:
        raise ValueError(f"dimension_numbers must be a serialized DotDimensionNumbers: {error}") from error
    used = {*numbers.lhs_batch_dimensions, *numbers.lhs_contracting_dimensions}
    used_right = {*numbers.rhs_batch_dimensions, *numbers.rhs_contracting_dimensions}
    sizes = [left.dims[i] for i in numbers.lhs_batch_dimensions]
    sizes += [dim for i, dim in enumerate(left.dims) if i not in used]
    sizes += [dim for i, dim in enumerate(right.dims) if i not in used_right]
    return TensorShape(sizes)


@shape_rule("XlaReduce")
def _reduced_shape(op):
    shape = op.inputs[0].shape
    if shape.rank is None:
        return shape
    return TensorShape([None] * (shape.rank - len(op.attrs["dimensions_to_reduce"])))


@shape_rule("XlaReduceWindow", "XlaSelectAndScatter")
def _same_rank(op):
    rank = op.inputs[0].shape.rank
    return TensorShape(None if rank is None else [None] * rank)


@shape_rule("XlaEinsum")
def _einsum_shape(op):
    left, _, result = op.attrs["equation"].decode().partition("->")
    sizes = {}
    for letters, tensor in zip(left.split(","), op.inputs, strict=True):
        if tensor.shape.rank is not None:
            sizes.update(zip(letters, tensor.shape.dims, strict=True))
    return TensorShape([sizes.get(letter) for letter in result])
