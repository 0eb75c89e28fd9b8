"""Sequences of numbers: build functions and shape rules."""

from __future__ import annotations

import math

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value
from everflow.ops.math import elementwise

# What a range of mixed types is made in: the last of these that occurs.
_RANGE_TYPES = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """Numbers from start up to (without) limit, in steps of delta.

    Args:
        start: The first number; the limit, where that is not given.
        limit: Where it ends.
        delta: From a number to the next.
        dtype: The type; that of the arguments if None.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Raises:
        AssertionError: If the numbers are of a type that can't be counted in.
        ValueError: If `dtype` is given and less exact than the arguments.

    Example:
        >>> sess.run(tf.range(3))
        array([0, 1, 2], dtype=int32)
        >>> sess.run(tf.range(3, 18, 5))
        array([ 3,  8, 13], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start = convert_to_tensor(start, dtype=dtype, name="start")
        limit = convert_to_tensor(limit, dtype=dtype, name="limit")
        delta = convert_to_tensor(delta, dtype=dtype, name="delta")
        if dtype is None:
            types = [t.dtype.base_dtype for t in (start, limit, delta)]
            if not all(t in _RANGE_TYPES for t in types):
                raise AssertionError(f"range takes {[t.name for t in _RANGE_TYPES]}, not {[t.name for t in types]}")
            widest = max(types, key=_RANGE_TYPES.index)
            start, limit, delta = (elementwise.cast(t, widest) for t in (start, limit, delta))
        return raw.Range(start, limit, delta, name=scope)


def linspace(start, stop, num, name=None):
    """`num` numbers from start to stop, both included, at equal distances.

    Args:
        start: The first number, a float.
        stop: The last number.
        num: How many there are.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.linspace(0.0, 1.0, 5))
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return raw.LinSpace(start, stop, num, name=name)


def lin_space(start, stop, num, name=None):
    """Another name of `linspace`.

    Args:
        start: The first number, a float.
        stop: The last number.
        num: How many there are.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.lin_space(0.0, 1.0, 5))
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return linspace(start, stop, num, name=name)


@shape_rule("Range")
def _range_shape(op):
    for tensor in op.inputs:
        tensor.shape.with_rank(0)
    start, limit, delta = (known_value(t) for t in op.inputs)
    if start is None or limit is None or delta is None:
        return TensorShape([None])
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if op.attrs["Tidx"].is_integer:
        distance, step = abs(int(limit) - int(start)), abs(int(delta))
        return TensorShape([-(-distance // step)])
    return TensorShape([math.ceil(abs((limit - start) / delta))])


@shape_rule("LinSpace")
def _linspace_shape(op):
    for tensor in op.inputs:
        tensor.shape.with_rank(0)
    num = known_value(op.inputs[2])
    if num is None:
        return TensorShape([None])
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}")
    return TensorShape([int(num)])
