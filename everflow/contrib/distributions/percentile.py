"""Percentiles: what a share of the values along some axes stays below."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn.top_k import top_k

# The values are sorted from the largest down, so the next lower one is at the next higher place.
_PLACE = {"lower": math.ceil, "higher": math.floor, "nearest": math.round}


def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """The value that q percent of the values along axes stay below: the nearest one, the lower or the higher.

    >>> tf.contrib.distributions.percentile([1.0, 2.0, 3.0, 4.0], 30.0)  # 2.0
    """
    interpolation = interpolation or "nearest"
    if interpolation not in _PLACE:
        raise ValueError(f"Argument 'interpolation' must be in {set(_PLACE)}.  Found {interpolation}")
    with name_scope(name, "percentile", [x, q]):
        x = convert_to_tensor(x, name="x")
        q = _checked_percentage(math.cast(q, dtypes.float64, name="q"), validate_args)
        if axis is None:
            rows = array.reshape(x, [-1])
        else:
            axes = _axes(axis, x)
            rows = _in_rows(x, axes)
        above = 1 - q / 100.0
        place = _PLACE[interpolation]((math.cast(array.shape(rows)[-1], dtypes.float64) - 1.0) * above)
        count = array.shape(rows)[-1]
        place = clip_by_value(math.cast(place, dtypes.int32), 0, count - 1)
        result = top_k(rows, k=array.shape(rows)[-1], sorted=True).values[..., place]
        if not keep_dims:
            return result
        if axis is None:
            ndims = _static_ndims(x)
            ones = array.ones([array.rank(x) if ndims is None else ndims], dtype=dtypes.int32)
            return result * array.ones(ones, dtype=x.dtype)
        for a in sorted(axes):
            result = array.expand_dims(result, a)
        return result


def _checked_percentage(q, validate_args):
    ndims = _static_ndims(q)
    if ndims not in (None, 0):
        raise ValueError(f"Expected argument 'q' to have ndims 0.  Found tensor {q}")
    if not validate_args:
        return q
    checks = [check_shapes.assert_rank(q, 0), check.assert_greater_equal(q, math.cast(0.0, q.dtype))]
    checks.append(check.assert_less_equal(q, math.cast(100.0, q.dtype)))
    return with_dependencies(checks, q)


def _axes(axis, x):
    """The axes as a list of numbers, none of them negative."""
    axis = convert_to_tensor(axis, dtype=dtypes.int32, name="axis")
    check_shapes.assert_integer(axis)
    known = {"axis": _static_ndims(axis), "x": _static_ndims(x)}
    for argument, ndims in known.items():
        if ndims is None:
            raise ValueError(f"Expected argument '{argument}' to have statically defined 'ndims'.")
    if known["axis"] > 1:
        raise ValueError(f"Expected argument 'axis' to have ndims <= 1.  Found tensor {axis}")
    values = constant_value(axis)
    if values is None:
        raise ValueError(f"axis must be known while the graph is drawn, {axis} is not")
    ndims = known["x"]
    for a in np.atleast_1d(values):
        if not -ndims <= a < ndims:
            raise ValueError(f"axis {a} is not in the interval [{-ndims}, {ndims - 1}], as x has {ndims} dimensions.")
    return [int(a) % ndims for a in np.atleast_1d(values)]


def _in_rows(x, axes):
    """The values along the axes side by side on a last one."""
    kept = [a for a in range(x.shape.ndims) if a not in axes]
    turned = array.transpose(x, kept + axes)
    sizes = turned.shape.as_list()
    if None not in sizes:
        return array.reshape(turned, [*sizes[: len(kept)], int(np.prod(sizes[len(kept) :]))])
    return array.reshape(turned, array.concat([array.shape(turned)[: len(kept)], [-1]], 0))


def _static_ndims(tensor):
    ndims = tensor.shape.ndims
    if ndims is None:
        shape = constant_value(array.shape(tensor))
        ndims = None if shape is None else len(shape)
    return ndims
