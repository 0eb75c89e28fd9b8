"""Axes moved around and made longer, with the nodes that TensorFlow's distributions have for it."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks.shapes import assert_integer


def rotated(x, by):
    """The axes of a tensor, moved to the right and around."""
    with name_scope("rotate_transpose", values=[x, by]):
        shift = convert_to_tensor(by, dtype=dtypes.int32, name="shift")
        assert_integer(shift)
        known, ndims = constant_value(shift), x.shape.ndims
        if ndims is not None and known is not None:
            if ndims < 2 or known % ndims == 0:
                return x
            return array.transpose(x, perm=np.roll(np.arange(ndims, dtype=np.int32), known))
        ndims = array.rank(x)
        first = where_v2(math.less(shift, 0), math.mod(-shift, ndims), ndims - math.mod(shift, ndims))
        before = math.range(0, first)
        return array.transpose(x, perm=array.concat([math.range(first, ndims), before], 0))


def zero(dtype, name):
    """A zero of a type, as a constant."""
    return convert_to_tensor(np.zeros([], dtype.as_numpy_dtype), name=name)


def padded_behind(x, count):
    """A tensor with so many zeros more at the end of its last axis."""
    with name_scope("pad", values=[x, count]):
        value = zero(x.dtype, "value")
        count = convert_to_tensor(count, name="count")
        ndims = array.rank(x, name="ndims") if x.shape.ndims is None else x.shape.ndims
        convert_to_tensor(-1, name="axis")  # TensorFlow's graphs have it, though its value is known
        sides = array.one_hot(indices=array.stack([-1, ndims + -1]), depth=ndims, on_value=count, axis=0)
        padded = array.pad(x, paddings=sides, constant_values=value)
        if x.shape.ndims is not None:
            size, more = x.shape.size(-1), constant_value(count)
            padded.set_shape(x.shape[:-1].concatenate([None if size is None or more is None else size + int(more)]))
        return padded
