"""`ragged[...]`: rows by number, slices of rows and of what is in them, new axes."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.ragged import functions
from everflow.ops.ragged.tensor import RaggedTensor


def getitem(rt, key):
    """Rows and slices of a ragged tensor; an index into a ragged inner dimension raises, since rows may be too short
    for it.
    """
    scope = [rt, *([k for k in key if isinstance(k, Tensor)] if isinstance(key, (list, tuple)) else [])]
    with name_scope(None, "RaggedGetItem", scope):
        if isinstance(key, RaggedTensor) or isinstance(key, Tensor) and key.dtype.base_dtype == dtypes.bool:
            return functions.boolean_mask(rt, key)
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        return _pick(rt, _without_ellipsis(keys, rt.shape.rank))


def _without_ellipsis(keys, rank):
    if sum(k is Ellipsis for k in keys) > 1:
        raise ValueError("Only one ellipsis allowed")
    if not any(k is Ellipsis for k in keys):
        return keys
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    missing = rank - sum(k is not None for k in keys) + 1
    return [*keys[:at], *[slice(None)] * max(missing, 0), *keys[at + 1 :]]


def _pick(rt, keys):
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        return functions.expand_dims(_pick(rt, rest), 0)
    if isinstance(key, slice):
        return _inside(_rows(rt, key), rest)
    starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
    row = _value_slice(rt.values, starts[key], limits[key])
    return _pick(row, rest) if isinstance(row, RaggedTensor) else row[tuple(rest)]


def _value_slice(values, start, limit):
    return _rows(values, slice(start, limit)) if isinstance(values, RaggedTensor) else values[start:limit]


def _is_whole(key):
    return key.start is None and key.stop is None and key.step is None


def _rows(rt, key):
    if _is_whole(key):
        return rt
    return functions.gather(rt, math.range(rt.nrows())[key])


def _inside(rt, keys):
    """What keys for the dimensions inside the rows pick."""
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is None:
        return functions.expand_dims(_inside(rt, rest), 1)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_whole(key):
        rt = _columns(rt, key)
    if not rest:
        return rt
    values = _inside(rt.values, rest) if isinstance(rt.values, RaggedTensor) else rt.values[(slice(None), *rest)]
    return rt.with_values(values)


def _columns(rt, key):
    dtype = rt.row_splits.dtype
    lengths, starts = rt.row_lengths(), rt.row_starts()
    step = 1 if key.step is None else key.step
    if not isinstance(step, int) or step == 0:
        raise ValueError("The step of a slice in a ragged dimension must be a number that is not 0")
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)

    def place(bound, default):
        if bound is None:
            return default
        bound = math.cast(bound, dtype) if isinstance(bound, Tensor) else bound
        bound = (
            array.where_v2(math.less(bound, 0), bound + lengths, bound)
            if isinstance(bound, Tensor)
            else bound + lengths
            if bound < 0
            else bound
        )
        return math.minimum(math.maximum(math.cast(bound, dtype), math.cast(low, dtype)), high)

    begin = place(key.start, array.zeros_like(lengths) if step > 0 else lengths - 1)
    end = place(key.stop, lengths if step > 0 else array.zeros_like(lengths) - 1)
    places = functions.range(starts + begin, starts + end, math.cast(step, dtype), row_splits_dtype=dtype)
    return places.with_values(functions.gather(rt.values, places.values))
