"""Assertions about ranks, shapes and types."""

from __future__ import annotations

import collections.abc
import functools

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value, is_tensor
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.control_flow import Assert, cond
from everflow.ops.control_flow.grouping import group, no_op, with_dependencies


def _name(x):
    """What messages call a tensor; those with values have no names."""
    return "" if getattr(x, "is_eager", False) else x.name


def assert_type(tensor, tf_type, message=None, name=None):
    """Raise TypeError unless a tensor has a type.

    Args:
        tensor: The tensor.
        tf_type: The type it must have.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        An operation that does nothing: the check is done when the graph is built.

    Raises:
        TypeError: If it has another type.

    Example:
        >>> sess.run(tf.assert_type(tf.constant(1.0), tf.float32))
    """
    message = message or ""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor") if not isinstance(tensor, SparseTensor) else tensor
        if tensor.dtype != tf_type:
            shown = type(tensor) if isinstance(tensor, SparseTensor) else _name(tensor)
            raise TypeError(f"{message}  {shown} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_integer(x, message=None, name=None):
    """Raise TypeError unless a tensor holds integers.

    Args:
        x: The tensor.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        An operation that does nothing: the check is done when the graph is built.

    Raises:
        TypeError: If the tensor holds something else.

    Example:
        >>> sess.run(tf.assert_integer(tf.constant([1, 2])))
    """
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f"{message}  Expected {_name(x) or 'x'} to be integer type, not {x.dtype}")
        return no_op("statically_determined_was_integer")


def assert_scalar(tensor, name=None, message=None):
    """The tensor; ValueError unless it is a scalar.

    Args:
        tensor: The tensor.
        name: The name of the operations.
        message: Text to put before what the error says.

    Returns:
        The tensor.

    Raises:
        ValueError: If its rank is known and is not 0.

    Example:
        >>> sess.run(tf.assert_scalar(3.0))
        np.float32(3.0)
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.rank != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {_name(tensor)}, saw shape: {tensor.shape}.")
        return tensor


def assert_proper_iterable(values):
    """Raise TypeError unless values is an iterable that is not itself a tensor, array or string.

    Args:
        values: What to check.

    Returns:
        None.

    Raises:
        TypeError: If it is a tensor, array or string, or can't be iterated over.

    Example:
        >>> tf.assert_proper_iterable([tf.constant(1), tf.constant(2)])
    """
    one_value = isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)) or is_tensor(values)
    if one_value or not hasattr(values, "__iter__"):
        raise TypeError(f"values must be a list or another iterable of tensors, not {type(values)}")


def assert_same_float_dtype(tensors=None, dtype=None):
    """The one float type of some tensors (float32 where there are none); ValueError where they differ.

    Args:
        tensors: The tensors; Nones are passed over.
        dtype: The type they must have.

    Returns:
        That type.

    Raises:
        ValueError: If they differ, or are no floats.

    Example:
        >>> tf.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
        tf.float32
    """
    given = [tensor for tensor in tensors or () if tensor is not None]
    common = dtype or (given[0].dtype.base_dtype if given else dtypes.float32)
    for tensor in given:
        if tensor.dtype.base_dtype != common:
            raise ValueError(
                f"{_name(tensor)} is of dtype {tensor.dtype.base_dtype}, but must be of the same type as others, {common}"
            )
    if not dtypes.as_dtype(common).is_floating:
        raise ValueError(f"Expected floating point type, got {common}.")
    return common


def _is_one_of(found, ranks):
    return functools.reduce(raw.LogicalOr, [raw.Equal(rank, found) for rank in ranks])


# How a rank can stand to the ones asked for: in words, for numbers, and as graph.
_EQUAL = ("", lambda found, ranks: found == ranks[0], lambda found, ranks: raw.Equal(found, ranks[0]))
_AT_LEAST = (
    " at least",
    lambda found, ranks: found >= ranks[0],
    lambda found, ranks: raw.GreaterEqual(found, ranks[0]),
)
_IN = (" in", lambda found, ranks: found in ranks, _is_one_of)


def _assert_ranks(x, relation, ranks, data, summarize, message):
    """Assert how the rank of x stands to one or more ranks; ValueError at once where it is known to fail."""
    words, static_condition, dynamic_condition = relation
    ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
    message = message or ""
    if data is None:
        data = [message, f"Tensor {_name(x)} must have rank{words}", *ranks, "Received shape: ", array.shape(x)]
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [constant_value(rank) for rank in ranks]
    if any(value is not None and value.ndim for value in known):
        raise ValueError("Rank must be a scalar.")
    if all(value is not None for value in known) and x.shape.rank is not None:
        if not static_condition(x.shape.rank, known):
            wanted = ", ".join(str(int(rank)) for rank in known)
            raise ValueError(
                f"{message}.  Tensor {_name(x)} must have rank{words} {wanted}, not {x.shape.rank} (its shape is {x.shape})"
            )
        return no_op(name="static_checks_determined_all_ok")
    condition = dynamic_condition(array.rank(x), ranks)
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            check = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            condition = with_dependencies([check], condition)
    return Assert(condition, data, summarize=summarize)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """Assert that x has this rank.

    Args:
        x: A tensor, or what can be made one.
        rank: The rank it must have: a number, or a scalar tensor.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks; one that does nothing where the rank is known.

    Raises:
        ValueError: If the rank is known and is another one.

    Example:
        >>> sess.run(tf.assert_rank(tf.zeros([2, 3]), 2))
    """
    with name_scope(name, "assert_rank", [x, rank, *(data or [])]):
        x = x if isinstance(x, SparseTensor) else convert_to_tensor(x, name="x")
        return _assert_ranks(x, _EQUAL, [rank], data, summarize, message)


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """Assert that x has at least this rank.

    Args:
        x: A tensor, or what can be made one.
        rank: The least rank it may have.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks; one that does nothing where the rank is known.

    Raises:
        ValueError: If the rank is known and is smaller.

    Example:
        >>> sess.run(tf.assert_rank_at_least(tf.zeros([2, 3]), 1))
    """
    with name_scope(name, "assert_rank_at_least", [x, rank, *(data or [])]):
        return _assert_ranks(convert_to_tensor(x, name="x"), _AT_LEAST, [rank], data, summarize, message)


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """Assert that the rank of x is one of several.

    Args:
        x: A tensor, or what can be made one.
        ranks: The ranks it may have.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks; one that does nothing where the rank is known.

    Raises:
        ValueError: If the rank is known and is none of them.

    Example:
        >>> sess.run(tf.assert_rank_in(tf.zeros([2, 3]), (1, 2)))
    """
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        x = x if isinstance(x, SparseTensor) else convert_to_tensor(x, name="x")
        return _assert_ranks(x, _IN, ranks, data, summarize, message)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Assert the sizes of tensors and how they go together: numbers are sizes, other symbols stand for one size each.

    Args:
        shapes: Shapes by tensor, or pairs of both; None in a shape is any size.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        An operation; one that does nothing where all is known.

    Raises:
        ValueError: If a size is known and doesn't fit.

    Example:
        >>> sess.run(tf.debugging.assert_shapes([(tf.ones([2, 3]), ("batch", 3)), (tf.ones([2]), ("batch",))]))
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
                rank_checks.append(
                    assert_rank_in(x, (0, 1), data=data, summarize=summarize, message=message, name=name)
                )
            else:
                rank_checks.append(
                    assert_rank(x, len(symbols), data=data, summarize=summarize, message=message, name=name)
                )
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
        raise ValueError(
            f"Tensor {_name(x)}.  Specified shape must be an iterable of sizes and symbols, not {symbols!r}"
        )
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
                f"{message}.  Tensor {_name(x)} dimension {axis} must have size {wanted}, given {source}, not {size} (its shape is {x.shape})"
            )
        return None
    condition = raw.Equal(
        *(value if isinstance(value, Tensor) else constants.constant(value) for value in (size, wanted))
    )
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
