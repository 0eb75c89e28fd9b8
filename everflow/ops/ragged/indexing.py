"""`ragged[...]`: rows by number, slices of rows and of what is in them, new axes."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.ragged import functions
from everflow.ops.ragged.tensor import RaggedTensor


def getitem(rt, key):
    """Rows and slices of a ragged tensor; an index into a ragged inner dimension raises, since rows may be too short
    for it.
    """
    scope = [rt, *([k for k in key if isinstance(k, Tensor)] if isinstance(key, (list, tuple)) else [])]
    with name_scope(None, "RaggedGetItem", scope):
        return _pick(rt, list(key) if isinstance(key, (list, tuple)) else [key])


def _without_ellipsis(keys, rank):
    """Keys of which the first is none: `...` becomes `:, ...` while it stands for some dimension."""
    if not keys or keys[0] is not Ellipsis:
        return keys
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    named = sum(k is not None for k in keys[1:])
    return [slice(None), *keys] if rank > named else _without_ellipsis(keys[1:], rank)


def _pick(rt, keys):
    keys = _without_ellipsis(keys, rt.shape.rank)
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _pick(rt, rest)
        count = array.shape(inner.row_splits, out_type=inner.row_splits.dtype)[0] - 1
        return RaggedTensor(inner, array.stack([0, count]), internal=True)
    if isinstance(key, slice):
        return _inside(_rows(rt, key), rest)
    starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
    if rt._is_eager() and isinstance(key, int) and key >= int(rt.nrows()):
        raise IndexError(f"There is no row {key} in a RaggedTensor of {int(rt.nrows())} rows")
    row = rt.values[starts[key] : limits[key]]
    return row[tuple(rest)]


def _is_whole(key):
    return key.start is None and key.stop is None and key.step is None


def _rows(rt, key):
    """Some of the rows. Those that follow each other are a piece of the values; others are put together."""
    if _is_whole(key):
        return rt
    starts, limits = rt.row_splits[:-1][key], rt.row_splits[1:][key]
    zero = array.zeros([1], rt.row_splits.dtype)
    if key.step is not None and (isinstance(key.step, Tensor) or key.step != 1):
        return _values_between(rt, starts, limits, 1)
    # Without any row the splits are a single zero.
    splits = array.concat([zero[array.size(starts) :], starts[:1], limits], axis=0)
    first = splits[0]
    return RaggedTensor(rt.values[first : splits[-1]], splits - first, internal=True)


def _values_between(rt, starts, limits, step):
    """Rows that go through the values of `rt` from each start to its limit."""
    dtype = rt.row_splits.dtype
    step = math.cast(convert_to_tensor(step, name="step"), dtype)
    found = raw.RaggedRange(starts=starts, limits=limits, deltas=step, Tsplits=dtype)
    gather = functions.gather if isinstance(rt.values, RaggedTensor) else array.gather
    return RaggedTensor(gather(rt.values, found.rt_dense_values), found.rt_nested_splits, internal=True)


def _inside(rt, keys):
    """What keys for the dimensions inside the rows pick."""
    keys = _without_ellipsis(keys, None if rt.shape.rank is None else rt.shape.rank - 1)
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _inside(rt, rest)
        ones = math.range(array.shape(inner.row_splits, out_type=inner.row_splits.dtype)[0])
        return RaggedTensor(inner, ones, internal=True)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_whole(key):
        rt = _columns(rt, key)
    if not rest:
        return rt
    values = _inside(rt.values, rest) if isinstance(rt.values, RaggedTensor) else rt.values[(slice(None), *rest)]
    return rt.with_values(values)


def _columns(rt, key):
    """The same piece of every row. As in TensorFlow a bound of 0 is none, and steps backwards find nothing."""
    starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
    if isinstance(key.start, Tensor) or key.start:
        starts = _within_rows(rt, key.start)
    if isinstance(key.stop, Tensor) or key.stop:
        limits = _within_rows(rt, key.stop)
    return _values_between(rt, starts, limits, 1 if key.step is None else key.step)


def _within_rows(rt, bound):
    """Where `bound` is in each row, counted from its end if it is negative."""
    starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
    from_start = lambda: math.minimum(starts + bound, limits)  # noqa: E731
    from_end = lambda: math.maximum(limits + bound, starts)  # noqa: E731
    if isinstance(bound, Tensor):
        bound = math.cast(bound, starts.dtype)
        return cond(math.greater_equal(bound, 0), from_start, from_end)
    return from_start() if bound >= 0 else from_end()
