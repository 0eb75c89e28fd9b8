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
    own = f"RaggedReduce{kind.capitalize()}"
    if axis is None and kind not in ("mean", "any", "all"):
        return _REDUCTIONS[kind].dense(rt.flat_values, None, name=name or own)
    with name_scope(name, own, [rt]):
        if kind == "mean":
            total = reduce("sum", rt, axis)
            count = reduce("sum", rt.with_flat_values(array.ones_like(rt.flat_values)), axis)
            return _of_values(math.divide, total, count)
        if kind in ("any", "all"):
            numbers = rt.with_flat_values(math.cast(rt.flat_values, dtypes.int32))
            number = reduce("sum" if kind == "any" else "prod", numbers, axis)
            return _of_values(lambda values: math.cast(values, dtypes.bool), number)
        return _reduced(_REDUCTIONS[kind], rt, axis)


def _of_values(function, first, *others):
    """A function of the values of results that have the same rows, if they have any."""
    if not isinstance(first, RaggedTensor):
        return function(first, *others)
    return first.with_flat_values(function(first.flat_values, *(other.flat_values for other in others)))


def segment(kind, data, segment_ids, num_segments, name=None):
    """`kind` ("sum", "mean", "max", "min", "prod", "sqrt_n") of the rows that share an id, value by value in their
    places; ids that are ragged as the data are stand for single values or shorter rows.
    """
    own = f"RaggedSegment{''.join(part.capitalize() for part in kind.split('_'))}"
    if kind in ("mean", "sqrt_n"):
        with name_scope(name, own, [data, segment_ids, num_segments]):
            total = segment("sum", data, segment_ids, num_segments)
            ones = data.with_flat_values(array.ones_like(data.flat_values))
            count = segment("sum", ones, segment_ids, num_segments)
            if kind == "sqrt_n":
                count = _of_values(math.sqrt, count)
            return _of_values(math.divide, total, count)
    dense = getattr(math, f"unsorted_segment_{kind}")
    return _by_segment(_Reduction(dense, dense), data, segment_ids, num_segments, name or own)


def reduce_join(inputs, axis=None, keepdims=None, separator="", name=None):
    """The strings along dimensions of a ragged tensor joined; all of them, without a separator, if no axis is given."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    if axis is None:
        return text.reduce_join(inputs.flat_values, name=name or "RaggedSegmentJoin")
    joining = _Reduction(
        functools.partial(text.reduce_join, separator=separator),
        functools.partial(text.unsorted_segment_join, separator=separator),
    )
    with name_scope(name, "RaggedSegmentJoin", [inputs]):
        return _reduced(joining, inputs, axis)


def _reduced(reduction, rt, axis):
    if isinstance(axis, Tensor):
        if axis.is_eager and axis.shape.rank == 0:
            raise TypeError(f"axis must be an int or a list of them, not a scalar tensor: {axis}")
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("The axis of a ragged reduction has to be a constant, as the graph is made for it.")
        axis = axis.tolist()
    if axis is None:
        return reduction.dense(rt.flat_values if isinstance(rt, RaggedTensor) else rt, None)
    if not isinstance(rt, RaggedTensor):
        return reduction.dense(rt, axis)
    if isinstance(axis, (list, tuple)):
        if any(isinstance(a, Tensor) for a in axis):
            raise TypeError(f"axis must be an int or a list of them; got {axis}")
        *others, last = axes = sorted(positive_axis(a, rt.shape.rank) for a in axis) or [None]
        if others:
            return _inner(reduction, _inner(reduction, rt, last), others)
        if last is None:
            return rt
        axis = axes[0]
    axis = positive_axis(axis, rt.shape.rank)
    if axis == 0:
        lengths = rt.row_splits[1:] - rt.row_splits[:-1]
        width = math.maximum(math.reduce_max(lengths), 0)
        places = ragged_range(lengths).values
        return _by_segment(reduction, rt.values, places, width)
    if axis == 1:
        count = array.shape(rt.row_splits)[0] - 1
        return _by_segment(reduction, rt.values, row_splits_to_segment_ids(rt.row_splits), count)
    return rt.with_values(_inner(reduction, rt.values, axis - 1))


def _inner(reduction, rt, axis):
    if not isinstance(rt, RaggedTensor):
        return reduction.dense(rt, axis)
    with name_scope(None, "RaggedReduce", [rt]):
        return _reduced(reduction, rt, axis)


def _by_segment(reduction, data, ids, count, name="RaggedSegment"):
    """Rows of one segment are laid over each other: a value goes to its place in its row, of that segment's widest
    row.
    """
    if not isinstance(data, RaggedTensor) and not isinstance(ids, RaggedTensor):
        return reduction.segment(data, ids, count)
    with name_scope(name, values=[data, ids, count]):
        data, ids = as_ragged_or_tensor(data, name="data"), as_ragged_or_tensor(ids, name="segment_ids")
        if isinstance(ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("segment_ids can't be ragged where data isn't")
            splits = [math.cast(ids.row_splits, data.row_splits.dtype), data.row_splits]
            with control_dependencies([check.assert_equal(*splits, message="segment_ids have other rows than data")]):
                return _by_segment(reduction, data.values, ids.values, count)
        if ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"segment_ids must be of dtype int32 or int64, not {ids.dtype.name}")
        lengths = data.row_splits[1:] - data.row_splits[:-1]
        widths = math.maximum(math.unsorted_segment_max(lengths, ids, count), 0)
        splits = array.concat([array.zeros([1], widths.dtype), math.cumsum(widths)], axis=0)
        starts = array.gather(splits, ids)
        places = ragged_range(starts, starts + lengths).values
        return RaggedTensor(_by_segment(reduction, data.values, places, splits[-1]), splits, internal=True)


def _reduce(self, kind, axis, keepdims, name):
    return reduce(kind, self, axis, keepdims, name)


RaggedTensor._reduce = _reduce
