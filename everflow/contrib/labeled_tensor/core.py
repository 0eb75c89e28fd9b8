"""`LabeledTensor`, a tensor with named axes, and what its operations are made of: conversion, order, broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from everflow.contrib.labeled_tensor.axes import Axes, Axis, AxisOrderError, current_order, merged_order, wanted_order
from everflow.framework.conversion import convert_to_tensor, register_tensor_conversion_function
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math


class LabeledTensor:
    """A tensor whose dimensions have names, and whose entries along them may have labels.

    >>> lt.LabeledTensor(tf.zeros([2, 3]), ["row", ("column", ["a", "b", "c"])])
    """

    def __init__(self, tensor: Any, axes: Axes | Sequence[Any]) -> None:
        self._tensor = convert_to_tensor(tensor)
        shape = self._tensor.shape
        if shape.rank is None:
            raise ValueError(f"A labeled tensor's rank must be known; that of {self._tensor!r} is not")
        axes = [axes[name] for name in axes] if isinstance(axes, Axes) else list(axes)
        if shape.rank != len(axes):
            raise ValueError(f"{self._tensor!r} has {shape.rank} dimensions, but {len(axes)} axes are given: {axes}")
        known = []
        for size, axis in zip(shape.as_list(), axes, strict=True):
            axis = Axis(axis, size) if isinstance(axis, str) else axis if isinstance(axis, Axis) else Axis(*axis)
            if axis.size is None:
                axis = Axis(axis.name, size)
            elif size is not None and axis.size != size:
                raise ValueError(f"{axis} is of another size than its dimension of {self._tensor!r}, {size}")
            known.append(axis)
        self._axes = Axes(known)

    tensor = property(lambda self: self._tensor, doc="The tensor without names.")
    axes = property(lambda self: self._axes)
    dtype = property(lambda self: self._tensor.dtype)
    shape = property(lambda self: self._tensor.shape)
    name = property(lambda self: self._tensor.name)

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self._tensor.shape

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    def __getitem__(self, key: Any) -> LabeledTensor:
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(self._axes):
            raise ValueError(f"{key} has {len(key)} parts, and the tensor {len(self._axes)} dimensions")
        return slice_function(self, dict(zip(self._axes, key, strict=True)))

    def __repr__(self) -> str:
        axes = ",\n       ".join(f"({axis.name!r}, {axis.value!r})" for axis in self._axes.values())
        return f"<LabeledTensor {self.name!r} shape={self.shape} dtype={self.dtype.name}\n axes=[{axes}]>"


def convert_to_labeled_tensor(value: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """A labeled tensor from itself, or from a single number."""
    if isinstance(value, LabeledTensor):
        axes = value.axes
    elif isinstance(value, (Tensor, np.ndarray, np.generic, int, float, complex, str, bytes)):
        axes = Axes([])
    else:
        raise TypeError(f"A labeled tensor is made of one, or of a number; {value!r} is a {type(value).__name__}")
    tensor = convert_to_tensor(value.tensor if isinstance(value, LabeledTensor) else value, dtype=dtype, name=name)
    if len(axes) != tensor.shape.rank:
        raise ValueError(f"{tensor!r} has dimensions, whose names are not known: make a LabeledTensor of it")
    return LabeledTensor(tensor, axes)


register_tensor_conversion_function(
    LabeledTensor,
    lambda value, dtype=None, name=None, as_ref=False: convert_to_tensor(value.tensor, dtype, name),
)


# --- parts of tensors -----------------------------------------------------------------------------


def slice_function(labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Entries by position: {axis: position or slice}. An axis of which one position is taken goes."""
    with name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        unknown = set(selection) - set(labeled_tensor.axes)
        if unknown:
            raise KeyError(f"There are no axes {sorted(unknown)} in {labeled_tensor.axes}")
        keys = [selection.get(axis, slice(None)) for axis in labeled_tensor.axes]
        part = labeled_tensor.tensor[tuple(keys)]
        sizes = iter(part.shape.as_list())
        axes = [
            Axis(axis.name, axis.labels[key] if axis.labels is not None else size)
            for axis, key, size in (
                (axis, key, next(sizes))
                for axis, key in zip(labeled_tensor.axes.values(), keys, strict=True)
                if isinstance(key, slice)
            )
        ]
        return LabeledTensor(array.identity(part, name=scope), axes)


def identity(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """The same values in a tensor of their own."""
    with name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(array.identity(labeled_tensor.tensor, name=scope), labeled_tensor.axes)


def transpose(labeled_tensor: Any, axis_order: Sequence[str] | None = None, name: str | None = None) -> LabeledTensor:
    """The axes in another order; the other way round by default."""
    with name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        order = names[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(names):
            raise ValueError(f"{order} is no order of the axes {names}")
        turned = array.transpose(labeled_tensor.tensor, [names.index(axis) for axis in order], name=scope)
        return LabeledTensor(turned, [labeled_tensor.axes[axis] for axis in order])


def expand_dims(labeled_tensor: Any, axes: Sequence[Any], name: str | None = None) -> LabeledTensor:
    """Further axes of size 1: `axes` are all axes of the result in order, new ones as names or (name, label)."""
    with name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(labeled_tensor, [axis if isinstance(axis, str) else axis[0] for axis in axes])
        made, shape = [], []
        for axis in axes:
            known = labeled_tensor.axes.get(axis) if isinstance(axis, str) else None
            made.append(known or (Axis(axis, 1) if isinstance(axis, str) else Axis(axis[0], [axis[1]])))
            shape.append(1 if known is None else known.size)
        shape = _with_one_open(shape, labeled_tensor)
        return LabeledTensor(array.reshape(labeled_tensor.tensor, shape, name=scope), made)


def _with_one_open(shape: list, labeled_tensor: LabeledTensor) -> list:
    if shape.count(None) > 1:
        raise ValueError(f"Only one size of {labeled_tensor.axes} may be open")
    return [-1 if size is None else size for size in shape]


# --- orders and broadcasting ----------------------------------------------------------------------


def check_axis_order(labeled_tensor: Any, axis_order: Sequence[str] | None = None) -> None:
    """AxisOrderError where axes are in another order, or are not in it at all."""
    labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
    order = wanted_order(axis_order)
    expected = [axis for axis in order if axis in labeled_tensor.axes]
    if len(expected) < len(labeled_tensor.axes):
        raise AxisOrderError(f"Not all of the axes {list(labeled_tensor.axes)} are in the order {list(order)}")
    if expected != list(labeled_tensor.axes):
        raise AxisOrderError(f"The axes {list(labeled_tensor.axes)} are not in the order {list(order)}")


def impose_axis_order(
    labeled_tensor: Any, axis_order: Sequence[str] | None = None, name: str | None = None
) -> LabeledTensor:
    """The axes in a given order, or in that of the scope around."""
    with name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        order = [axis for axis in wanted_order(axis_order) if axis in labeled_tensor.axes]
        if len(order) < len(labeled_tensor.axes):
            raise AxisOrderError(f"Not all of the axes {list(labeled_tensor.axes)} are in the order {axis_order}")
        return transpose(labeled_tensor, order, name=scope)


def align(
    labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None
) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """(both with all axes of both, so that they broadcast; the axes of what they broadcast to)."""
    with name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        one, other = map(convert_to_labeled_tensor, (labeled_tensor_0, labeled_tensor_1))
        for axis in one.axes:
            if axis in other.axes and one.axes[axis] != other.axes[axis]:
                raise ValueError(f"The axes {axis!r} differ: {one.axes[axis]} and {other.axes[axis]}")
        order = current_order()
        if order is not None:
            check_axis_order(one)
            check_axis_order(other)
            order = [axis for axis in order if axis in one.axes or axis in other.axes]
        else:
            order = merged_order(list(one.axes), list(other.axes))
        aligned = [expand_dims(each, order, name=f"{scope}{i}") for i, each in enumerate((one, other))]
        joined = Axes([one.axes[axis] if axis in one.axes else other.axes[axis] for axis in order])
        return aligned[0], aligned[1], joined


# --- functions of entries -------------------------------------------------------------------------


def define_unary_op(op_name: str, elementwise_function: Callable) -> Callable:
    """A function of labeled tensors from one of each entry."""
    default = f"lt_{op_name}"

    def op(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
        with name_scope(name, default, [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(elementwise_function(labeled_tensor.tensor, name=scope), labeled_tensor.axes)

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` of each entry."
    return op


def define_binary_op(op_name: str, elementwise_function: Callable) -> Callable:
    """A function of two labeled tensors from one of two entries; axes broadcast by name."""
    default = f"lt_{op_name}"

    def op(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> LabeledTensor:
        with name_scope(name, default, [labeled_tensor_0, labeled_tensor_1]) as scope:
            one, other, axes = align(labeled_tensor_0, labeled_tensor_1)
            return LabeledTensor(elementwise_function(one.tensor, other.tensor, name=scope), axes)

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` of entries, with axes matched by name."
    return op


_FUNCTIONS = {"neg": "negative", "sub": "subtract", "mul": "multiply"}  # those that tf calls otherwise


def _of_tf(name: str) -> Callable:
    return getattr(math, _FUNCTIONS.get(name, name))


_UNARY = """abs neg sign reciprocal square round sqrt rsqrt log exp ceil floor cos sin tan acos asin atan lgamma digamma
erf erfc logical_not tanh sigmoid"""
_BINARY = """add sub mul div mod pow equal greater greater_equal not_equal less less_equal logical_and logical_or
logical_xor maximum minimum squared_difference igamma igammac zeta polygamma"""
ELEMENTWISE = {name: define_unary_op(name, _of_tf(name)) for name in _UNARY.split()} | {
    name: define_binary_op(name, _of_tf(name)) for name in _BINARY.split()
}


def _reflected(function: Callable) -> Callable:
    return lambda self, other: function(other, self)


_OPERATORS = """add:add sub:sub mul:mul truediv:div mod:mod pow:pow and:logical_and or:logical_or xor:logical_xor
lt:less le:less_equal gt:greater ge:greater_equal neg:neg abs:abs invert:logical_not"""
for _pair in _OPERATORS.split():
    _method, _, _name = _pair.partition(":")
    setattr(LabeledTensor, f"__{_method}__", ELEMENTWISE[_name])
    if _name in _BINARY.split() and _method not in ("lt", "le", "gt", "ge"):
        setattr(LabeledTensor, f"__r{_method}__", _reflected(ELEMENTWISE[_name]))
