"""Operators on ragged tensors: element by element over values whose rows agree, or with what broadcasts along them."""

from __future__ import annotations

import inspect

from everflow.framework.operation import Tensor
from everflow.ops import math
from everflow.ops.ragged.dynamic_shape import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to
from everflow.ops.ragged.functions import map_flat_values
from everflow.ops.ragged.indexing import getitem
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue


def _broadcast(x, y):
    """Two operands, of which one at least is ragged, with the same rows, where one has rows that the other lacks."""
    kinds = {each.row_splits.dtype for each in (x, y) if isinstance(each, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError(
            f"The operands have row_splits of {' and '.join(sorted(k.name for k in kinds))}: "
            "with_row_splits_dtype() brings them to one dtype"
        )
    (kind,) = kinds
    shapes = [RaggedTensorDynamicShape.from_tensor(each, dim_size_dtype=kind) for each in (x, y)]
    shape = broadcast_dynamic_shape(*shapes)
    return [broadcast_to(each, shape, broadcast_inner_dimensions=False) for each in (x, y)]


def _has_rows_of(x, y):
    """Whether a tensor reaches as deep as the rows of a ragged one, so that it has to be brought to them."""
    if isinstance(x, RaggedTensor):
        return True
    rank, flat = x.shape.rank, y.flat_values.shape.rank
    return rank is not None and flat is not None and flat <= rank


def _together(operands, names):
    """Two operands as tensors, ragged or not, that can be put together value by value."""
    first = next(x for x in operands if isinstance(x, RaggedTensor))
    x, y = (
        each
        if isinstance(each, (Tensor, RaggedTensor))
        else as_ragged_or_tensor(each, name, None, first.dtype if each is not first else None)
        for each, name in zip(operands, names)
    )
    other, ragged = (x, y) if isinstance(y, RaggedTensor) else (y, x)
    return _broadcast(x, y) if _has_rows_of(other, ragged) else [x, y]


def elementwise(function, operands, options, keywords):
    """A function of tensors, element by element, on operands of which at least one is ragged; the rest of its arguments
    stay as they are.
    """
    if not any(isinstance(x, RaggedTensor) for x in operands):
        operands = [as_ragged_or_tensor(x) if isinstance(x, RaggedTensorValue) else x for x in operands]
    if len(operands) != 2 or not any(isinstance(x, RaggedTensor) for x in operands):
        return map_flat_values(function, *operands, *options, **keywords)
    names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    x, y = _together(operands, [*names, None, None])
    flat = [each.flat_values if isinstance(each, RaggedTensor) else each for each in (x, y)]
    return (x if isinstance(x, RaggedTensor) else y).with_flat_values(function(*flat, *options, **keywords))


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
