"""Operators on ragged tensors: element by element over values whose rows agree, or with what broadcasts along them."""

from __future__ import annotations

import inspect

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array, math
from everflow.ops.ragged.dynamic_shape import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to
from everflow.ops.ragged.functions import map_flat_values
from everflow.ops.ragged.indexing import getitem
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue


def _beside(rt, other, name):
    """What stands beside each flat value of `rt`; `name` is the argument's."""
    if isinstance(other, RaggedTensor):
        return other
    if isinstance(other, RaggedTensorValue):
        return as_ragged_or_tensor(other, dtype=rt.dtype)
    other = convert_to_tensor(other, dtype=None if isinstance(other, Tensor) else rt.dtype, name=name)
    inner = rt.flat_values.shape.rank
    if other.shape.rank is None or other.shape.rank == 0 or inner is not None and other.shape.rank < inner:
        return other
    # One outer dimension of `other` for each ragged one: a size of 1 repeats, others must be the rows themselves.
    if other.shape[1:2].num_elements() == 1 and other.shape.rank == rt.shape.rank and rt.ragged_rank == 1:
        rows = array.squeeze(other, axis=[1])
        return array.gather(rows, rt.value_rowids()) if other.shape.size(0) != 1 else rows
    if other.shape.rank == rt.shape.rank and all(size not in (1, None) for size in other.shape.sizes):
        return RaggedTensor.from_tensor(other, ragged_rank=rt.ragged_rank, row_splits_dtype=rt.row_splits.dtype)
    shapes = [RaggedTensorDynamicShape.from_tensor(x, dim_size_dtype=rt.row_splits.dtype) for x in (rt, other)]
    return broadcast_to(other, broadcast_dynamic_shape(*shapes), broadcast_inner_dimensions=False)


def elementwise(function, operands, options, keywords):
    """A function of tensors, element by element, on operands of which at least one is ragged; the rest of its arguments
    stay as they are.
    """
    if not any(isinstance(x, RaggedTensor) for x in operands):
        operands = [as_ragged_or_tensor(x) if isinstance(x, RaggedTensorValue) else x for x in operands]
    ragged = next((x for x in operands if isinstance(x, RaggedTensor)), None)
    if ragged is not None:
        names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
        names += [None] * len(operands)
        operands = [x if x is ragged else _beside(ragged, x, name) for x, name in zip(operands, names)]
    return map_flat_values(function, *operands, *options, **keywords)


for _name, _function in {
    "add": math.add,
    "sub": math.subtract,
    "mul": math.multiply,
    "truediv": math.truediv,
    "floordiv": math.floordiv,
    "mod": math.floormod,
    "pow": math.pow,
    "and": math.logical_and,
    "or": math.logical_or,
    "xor": math.logical_xor,
}.items():
    setattr(RaggedTensor, f"__{_name}__", lambda x, y, function=_function: function(x, y))
    setattr(RaggedTensor, f"__r{_name}__", lambda y, x, function=_function: function(x, y))
for _name, _function in {"lt": math.less, "le": math.less_equal, "gt": math.greater, "ge": math.greater_equal}.items():
    setattr(RaggedTensor, f"__{_name}__", lambda x, y, function=_function: function(x, y))
for _name, _function in {"neg": math.negative, "abs": math.abs, "invert": math.logical_not}.items():
    setattr(RaggedTensor, f"__{_name}__", lambda x, function=_function: function(x))


def _no_truth(rt):
    raise TypeError("A RaggedTensor is neither true nor false: reduce it to one value first")


RaggedTensor.__getitem__ = getitem
RaggedTensor.__bool__ = _no_truth
