"""Reductions of ragged tensors: over all values, along rows, or across them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.sequences import positive_axis
from everflow.ops.checks import values as check
from everflow.ops.ragged.functions import map_flat_values
from everflow.ops.ragged.functions import range as ragged_range
from everflow.ops.ragged.segments import row_splits_to_segment_ids
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.strings import text


class _Reduction(NamedTuple):
    """How a dense tensor is reduced, and how the values of each segment are; None where others stand for it."""

    dense: Callable
    segment: Callable | None


_REDUCTIONS = {
    kind: _Reduction(getattr(math, f"reduce_{kind}"), getattr(math, f"unsorted_segment_{kind}", None))
    for kind in ("sum", "mean", "max", "min", "prod", "any", "all")
}


def reduce(kind, rt, axis=None, keepdims=None, name=None):
    """`kind` ("sum", "mean", "max", "min", "prod", "any", "all") over dimensions of a ragged tensor."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    with name_scope(name, f"RaggedReduce{kind.capitalize()}", [rt]):
        if kind == "mean" and axis is not None:
            total = reduce("sum", rt, axis)
            count = reduce("sum", rt.with_flat_values(array.ones_like(rt.flat_values)), axis)
            return map_flat_values(math.divide, total, count)
        if kind in ("any", "all") and axis is not None:
            numbers = rt.with_flat_values(math.cast(rt.flat_values, dtypes.int32))
            return map_flat_values(math.cast, reduce("sum" if kind == "any" else "prod", numbers, axis), dtypes.bool)
        return _reduced(_REDUCTIONS[kind], rt, axis)


def segment(kind, data, segment_ids, num_segments, name=None):
    """`kind` ("sum", "mean", "max", "min", "prod", "sqrt_n") of the rows that share an id, value by value in their
    places; ids that are ragged as the data are stand for single values or shorter rows.
    """
    dense = getattr(math, f"unsorted_segment_{kind}")
    with name_scope(name, "RaggedSegment", [data, segment_ids, num_segments]):
        data, ids = as_ragged_or_tensor(data, name="data"), as_ragged_or_tensor(segment_ids, name="segment_ids")
        if not isinstance(ids, RaggedTensor):
            return _by_segment(_Reduction(dense, dense), data, ids, num_segments)
        if not isinstance(data, RaggedTensor):
            raise ValueError("segment_ids can't be ragged where data isn't")
        splits = [data.row_splits, math.cast(ids.row_splits, data.row_splits.dtype)]
        with control_dependencies([check.assert_equal(*splits, message="segment_ids have other rows than data")]):
            return segment(kind, data.values, ids.values, num_segments)


def reduce_join(inputs, axis=None, keepdims=None, separator="", name=None):
    """The strings along dimensions of a ragged tensor joined; all of them, without a separator, if no axis is given."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    joining = _Reduction(
        text.reduce_join if axis is None else functools.partial(text.reduce_join, separator=separator),
        functools.partial(text.unsorted_segment_join, separator=separator),
    )
    with name_scope(name, "RaggedSegmentJoin", [inputs]):
        return _reduced(joining, inputs, axis)


def _reduced(reduction, rt, axis):
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist()
    if axis is None:
        return reduction.dense(rt.flat_values if isinstance(rt, RaggedTensor) else rt, None)
    if not isinstance(rt, RaggedTensor):
        return reduction.dense(rt, axis)
    if isinstance(axis, (list, tuple)):
        for a in sorted((positive_axis(a, rt.shape.rank) for a in axis), reverse=True):
            rt = _reduced(reduction, rt, a)
        return rt
    axis = positive_axis(axis, rt.shape.rank)
    if axis == 0:
        lengths = rt.row_splits[1:] - rt.row_splits[:-1]
        width = math.maximum(math.reduce_max(lengths), 0)
        places = ragged_range(lengths, row_splits_dtype=rt.row_splits.dtype).values
        return _by_segment(reduction, rt.values, places, width)
    if axis == 1:
        count = array.shape(rt.row_splits, out_type=rt.row_splits.dtype)[0] - 1
        return _by_segment(reduction, rt.values, row_splits_to_segment_ids(rt.row_splits), count)
    return rt.with_values(_reduced(reduction, rt.values, axis - 1))


def _by_segment(reduction, values, ids, count):
    if isinstance(values, RaggedTensor):
        # Rows of one segment are laid over each other: a value goes to its place in its row, of that segment's widest
        # row.
        widths = math.maximum(math.unsorted_segment_max(values.row_lengths(), ids, count), 0)
        splits = array.concat([array.zeros([1], widths.dtype), math.cumsum(widths)], axis=0)
        inside = math.range(array.shape(values.value_rowids(), out_type=widths.dtype)[0]) - array.gather(
            values.row_starts(), values.value_rowids()
        )
        places = array.gather(array.gather(splits, ids), values.value_rowids()) + inside
        return RaggedTensor(_by_segment(reduction, values.values, places, splits[-1]), splits, internal=True)
    return reduction.segment(values, ids, count)


def _reduce(self, kind, axis, keepdims, name):
    return reduce(kind, self, axis, keepdims, name)


RaggedTensor._reduce = _reduce
