"""Shapes of states and outputs: a batch size, known or not, before the sizes a cell names."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, constant_value_as_shape
from everflow.ops import array
from everflow.ops.array.constants import constant


def _part(value):
    """(a vector tensor or None, what is known of it) from a size, a list of them, a TensorShape or a tensor."""
    if isinstance(value, Tensor):
        known = constant_value(value)
        if value.shape.rank == 0:
            return array.expand_dims(value, 0), [None if known is None else int(known)]
        if value.shape.rank != 1:
            raise ValueError(f"A part of a shape must be a scalar or a vector, not {value}")
        return value, constant_value_as_shape(value).as_list() if value.shape.is_fully_defined() else None
    shape = TensorShape(value)
    if shape.rank is None:
        return None, None
    return constant(shape.as_list(), dtype=dtypes.int32) if shape.is_fully_defined() else None, shape.as_list()


def concat(prefix, suffix, static=False):
    """The sizes of `prefix`, then those of `suffix`: as a tensor, or as far as they are known with `static`."""
    first, first_known = _part(prefix)
    second, second_known = _part(suffix)
    if static:
        known = TensorShape(first_known).concatenate(TensorShape(second_known))
        return known.as_list() if known.rank is not None else None
    if first is None or second is None:
        raise ValueError(f"A shape put together needs both of its parts: {prefix} and {suffix}")
    return array.concat((first, second), 0)


def zero_state(state_size, batch_size, dtype):
    """Zeros of a cell's state size for a batch."""

    def zeros(size):
        result = array.zeros(concat(batch_size, size), dtype=dtype)
        result.set_shape(concat(batch_size, size, static=True))
        return result

    return nest.map_structure(zeros, state_size)
