"""Assertions about ranks, shapes and types."""

from __future__ import annotations

import collections.abc

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value, is_tensor
from everflow.ops import array, constants
from everflow.ops.control_flow import Assert, cond
from everflow.ops.grouping import group, no_op, with_dependencies


def _name(x):
    """What messages call a tensor; those with values have no names."""
    return "" if getattr(x, "is_eager", False) else x.name


def assert_type(tensor, tf_type, message=None, name=None):
    """Raise TypeError unless a tensor has a type."""
    message = message or ""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor") if not isinstance(tensor, SparseTensor) else tensor
        if tensor.dtype != tf_type:
            shown = type(tensor) if isinstance(tensor, SparseTensor) else _name(tensor)
            raise TypeError(f"{message}  {shown} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_integer(x, message=None, name=None):
    """Raise TypeError unless a tensor holds integers."""
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{message}  Expected "x" to be integer type.  Found: {_name(x)} of dtype {x.dtype}')
        return no_op("statically_determined_was_integer")


def assert_scalar(tensor, name=None, message=None):
    """The tensor; ValueError unless it is a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.rank != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {_name(tensor)}, saw shape: {tensor.shape}.")
        return tensor


def assert_proper_iterable(values):
    """Raise TypeError unless values is an iterable that is not itself a tensor, array or string."""
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)) or is_tensor(values):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors=None, dtype=None):
    """The one float type of some tensors (float32 where there are none); ValueError where they differ."""
    if tensors:
        dtype = _one_dtype(tensors, dtype)
    if not dtype:
        dtype = dtypes.float32
    elif not dtypes.as_dtype(dtype).is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _one_dtype(items, expected):
    first = None
    for item in items:
        if item is None:
            continue
        found = item.dtype.base_dtype
        if expected is None:
            expected, first = found, item
        elif expected != found:
            source = f" as {_name(first)}" if first is not None else ""
            raise ValueError(f"{_name(item)}, type={found}, must be of the same type ({expected}){source}.")
    return expected


def _assert_ranks(x, ranks, static_condition, dynamic_condition, data, summarize):
    """Assert a condition on the rank of x and one or more ranks; ValueError at once where it is known to fail."""
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [constant_value(rank) for rank in ranks]
    if any(value is not None and value.ndim for value in known):
        raise ValueError("Rank must be a scalar.")
    if all(value is not None for value in known) and x.shape.rank is not None:
        if not static_condition(x.shape.rank, known):
            raise _StaticRankError(known)
        return no_op(name="static_checks_determined_all_ok")
    condition = dynamic_condition(array.rank(x), ranks)
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            check = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            condition = with_dependencies([check], condition)
    return Assert(condition, data, summarize=summarize)


class _StaticRankError(Exception):
    """A rank that is known does not fit; says which ones would."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted = wanted


def _rank_data(x, message, text, ranks, data):
    if data is not None:
        return data
    return [message, f"Tensor {_name(x)} must have rank{text}", *ranks, "Received shape: ", array.shape(x)]


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Assert that x has this rank.

    >>> tf.assert_rank(tf.zeros([2, 3]), 2)
    """
    with name_scope(name, "assert_rank", [x, rank, *(data or [])]):
        if not isinstance(x, SparseTensor):
            x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        message = message or ""
        data = _rank_data(x, message, "", [rank], data)
        try:
            return _assert_ranks(
                x, [rank], lambda found, wanted: found == wanted[0], lambda found, wanted: raw.Equal(found, wanted[0]), data, summarize
            )
        except _StaticRankError as e:
            raise ValueError(
                f"{message}.  Tensor {_name(x)} must have rank {e.wanted[0]}.  Received rank {x.shape.rank}, shape {x.shape}"
            ) from None


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """Assert that x has at least this rank."""
    with name_scope(name, "assert_rank_at_least", [x, rank, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        message = message or ""
        data = _rank_data(x, message, " at least", [rank], data)
        try:
            return _assert_ranks(
                x,
                [rank],
                lambda found, wanted: found >= wanted[0],
                lambda found, wanted: raw.GreaterEqual(found, wanted[0]),
                data,
                summarize,
            )
        except _StaticRankError as e:
            raise ValueError(
                f"{message}.  Tensor {_name(x)} must have rank at least {e.wanted[0]}.  Received rank {x.shape.rank}, shape {x.shape}"
            ) from None


def _is_one_of(found, ranks):
    matches = [raw.Equal(rank, found) for rank in ranks]
    result = matches[0]
    for match in matches[1:]:
        result = raw.LogicalOr(result, match)
    return result


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """Assert that the rank of x is one of several."""
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        if not isinstance(x, SparseTensor):
            x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
        message = message or ""
        data = _rank_data(x, message, " in", ranks, data)
        try:
            return _assert_ranks(x, ranks, lambda found, wanted: found in wanted, _is_one_of, data, summarize)
        except _StaticRankError as e:
            raise ValueError(
                f"{message}.  Tensor {_name(x)} must have rank in {tuple(int(r) for r in e.wanted)}.  "
                f"Received rank {x.shape.rank}, shape {x.shape}"
            ) from None


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Assert the sizes of tensors and how they go together: numbers are sizes, other symbols stand for one size each.

    >>> tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", "D")), (weights, ("N",))])
    """
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes, data]):
        pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
        pairs = [(x if is_tensor(x) else convert_to_tensor(x), symbols) for x, symbols in pairs if symbols is not None]
        pairs = [(x, _symbols(x, symbols)) for x, symbols in pairs]
        sizes = [_sizes(x) for x, _ in pairs]
        rank_checks = []
        for x, symbols in pairs:
            if len(symbols) <= 1:
                # A scalar passes for a vector of one element.
                rank_checks.append(assert_rank_in(x, (0, 1), data=data, summarize=summarize, message=message, name=name))
            else:
                rank_checks.append(assert_rank(x, len(symbols), data=data, summarize=summarize, message=message, name=name))
        size_checks = []
        seen: dict = {}
        for (x, symbols), found in zip(pairs, sizes, strict=True):
            for axis, symbol in enumerate(symbols or (1,)):
                if symbol is None or symbol == ".":
                    continue
                size = found(axis)
                if isinstance(symbol, (int, np.integer)):
                    source, wanted = "explicitly", int(symbol)
                elif symbol in seen:
                    source, wanted = seen[symbol]
                else:
                    seen[symbol] = (f"by tensor {_name(x)} dimension {axis}", size)
                    continue
                check = _assert_size(x, axis, size, wanted, source, data, summarize, message)
                if check is not None:
                    size_checks.append(check)
        return group(size_checks + rank_checks)


def _symbols(x, symbols):
    if not isinstance(symbols, collections.abc.Iterable):
        raise ValueError(f"Tensor {_name(x)}.  Specified shape must be an iterable of sizes and symbols, not {symbols!r}")
    return tuple(symbols)


def _sizes(x):
    """A function from an axis to the size there: a number where it is known, else a scalar tensor."""
    dynamic = array.shape(x)
    rank = x.shape.rank
    if rank == 0:
        return lambda axis: 1
    if rank is not None:
        static = x.shape.as_list()
        known = [dynamic[i] if size is None else size for i, size in enumerate(static)]
        return lambda axis: known[axis]
    as_vector = cond(raw.Equal(array.rank(x), 0), lambda: constants.constant([1]), lambda: dynamic)
    return lambda axis: as_vector[axis]


def _assert_size(x, axis, size, wanted, source, data, summarize, message):
    if not isinstance(size, Tensor) and not isinstance(wanted, Tensor):
        if size != wanted:
            raise ValueError(
                f"{message}.  Specified {source}.  Tensor {_name(x)} dimension {axis} must have size {wanted}.  "
                f"Received size {size}, shape {x.shape}"
            )
        return None
    condition = raw.Equal(*(value if isinstance(value, Tensor) else constants.constant(value) for value in (size, wanted)))
    if data is None:
        data = [
            message,
            f"Specified {source}.",
            f"Tensor {_name(x)} dimension",
            axis,
            "must have size",
            wanted,
            "Received shape: ",
            array.shape(x),
        ]
    return Assert(condition, data, summarize=summarize)
