"""Names that programs take from inside TensorFlow's `distributions.util`: sizes and values that are known while the
graph is drawn where they can be, the whole numbers that types hold, arguments of the function that is called, and more
words for its docstring.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, constant_value_as_shape
from everflow.ops import array, math
from everflow.ops.checks import values as checks
from everflow.ops.control_flow import with_dependencies
from everflow.ops.control_flow.conditionals import cond

__all__ = [
    "AppendDocstring",
    "_is_integer_like_by_dtype",
    "_is_known_dtype",
    "_is_known_signed_by_dtype",
    "_is_known_unsigned_by_dtype",
    "_largest_integer_by_dtype",
    "_smallest_integer_by_dtype",
    "assert_symmetric",
    "dimension_size",
    "maybe_get_static_value",
    "pad",
    "parent_frame_arguments",
    "prefer_static_broadcast_shape",
    "prefer_static_rank",
    "prefer_static_shape",
    "prefer_static_value",
    "process_quadrature_grid_and_probs",
    "same_dynamic_shape",
]


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """A value as it is known while the graph is drawn, or None."""
    if x is None:
        return None
    known = constant_value(x) if hasattr(x, "graph") or hasattr(x, "_shape_tuple") else x
    return known if known is None or dtype is None else np.array(known, dtype)


def prefer_static_value(x: Any) -> Any:
    """A value as it is known while the graph is drawn; what was given where it is not."""
    known = maybe_get_static_value(x)
    return x if known is None else known


def prefer_static_rank(x: Any) -> Any:
    """The number of axes, as a number of numpy where it is known."""
    return prefer_static_value(array.rank(x))


def prefer_static_shape(x: Any) -> Any:
    """The sizes, as an array of numpy where they are known."""
    return prefer_static_value(array.shape(x))


def prefer_static_broadcast_shape(shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape") -> Any:
    """The sizes that tensors of two shapes have together: a TensorShape where both are known, else a tensor."""
    with name_scope(name, values=[shape1, shape2]):
        known = [_known_sizes(shape) for shape in (shape1, shape2)]
        if all(shape is not None for shape in known):
            return array.broadcast_static_shape(*known)
        sizes = (convert_to_tensor(shape, "int32", name="shape") for shape in (shape1, shape2))
        return array.broadcast_dynamic_shape(*sizes)


def _known_sizes(shape: Any) -> TensorShape | None:
    known = (
        shape
        if isinstance(shape, TensorShape)
        else constant_value_as_shape(convert_to_tensor(shape, "int32", name="shape"))
    )
    return known if known.is_fully_defined() else None


def same_dynamic_shape(a: Any, b: Any) -> Any:
    """Whether two tensors have the same sizes when they are computed."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")

    def all_equal() -> Any:
        there = array.concat([array.shape(a), array.shape(b)], 0)
        back = array.concat([array.shape(b), array.shape(a)], 0)
        return math.reduce_all(math.equal(there, back))

    return cond(math.equal(array.rank(a), array.rank(b)), all_equal, lambda: array.constant(False))


def dimension_size(x: Any, axis: int) -> Any:
    """The size of an axis, as a number where it is known."""
    known = x.shape.with_rank_at_least(abs(axis)).dims
    size = None if known is None else known[axis].value
    return array.shape(x)[axis] if size is None else size


def assert_symmetric(matrix: Any) -> Any:
    """A matrix, once it is known to be its own transpose."""
    transposed = array.matrix_transpose(matrix)
    return with_dependencies([checks.assert_equal(matrix, transposed)], matrix)


def pad(x: Any, axis: int, front: bool = False, back: bool = False, value: Any = 0, count: int = 1, name=None) -> Any:
    """A tensor with `count` entries more at the front or the back of one axis."""
    if not front and not back:
        raise ValueError("Entries are added at the front or at the back: set one of them")
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype.base_dtype, name="value")
        count = convert_to_tensor(count, name="count")
        rank, place = x.shape.ndims, maybe_get_static_value(axis)
        rank = array.rank(x, name="ndims") if rank is None else rank
        if place is None:
            axis = array.where_v2(axis < 0, rank + axis, axis)
        elif place < 0:
            axis = prefer_static_value(convert_to_tensor(rank + place, name="axis"))
        else:
            axis = prefer_static_value(convert_to_tensor(axis, name="axis"))
        places = array.stack([axis if front else -1, axis if back else -1])
        return array.pad(x, array.one_hot(places, depth=rank, axis=0, on_value=count), constant_values=value)


def process_quadrature_grid_and_probs(
    quadrature_grid_and_probs: Any, dtype: Any, validate_args: bool, name: str | None = None
) -> tuple[Any, Any]:
    """Points and their probabilities as tensors; those of Gauss and Hermite, of degree 8, where none are given."""
    with name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            grid, probs = np.polynomial.hermite.hermgauss(deg=8)
            probs = probs.astype(dtype.as_numpy_dtype)
            probs /= np.linalg.norm(probs, ord=1, keepdims=True)
            return convert_to_tensor(grid, dtype=dtype, name="grid"), convert_to_tensor(
                probs, dtype=dtype, name="probs"
            )
        grid, probs = (
            convert_to_tensor(each, dtype=dtype, name=text)
            for each, text in zip(quadrature_grid_and_probs, ("grid", "unnormalized_probs"), strict=True)
        )
        probs /= math.reduce_sum(math.abs(probs), axis=-1, keepdims=True, name="probs")
        sizes = [dimension_size(each, -1) for each in (grid, probs)]
        if isinstance(sizes[0], int) and isinstance(sizes[1], int):
            if sizes[0] != sizes[1]:
                raise ValueError(f"There must be a probability for each of {sizes[0]} points, not {sizes[1]}")
        elif validate_args:
            with control_dependencies([checks.assert_equal(*sizes)]):
                grid, probs = array.identity(grid), array.identity(probs)
        return grid, probs


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name as they are now; those with a star are left out, and
    those of two stars are among them.
    """
    _, _, keywords, values = inspect.getargvalues(frame := inspect.stack()[1].frame)
    found = {name: values[name] for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]}
    return {**found, **(values[keywords] if keywords else {})}


# Types whose values distributions compute with; truth values count as whole numbers without a sign.
_UNSIGNED = ("bool", "uint8", "uint16")
_SIGNED = ("float16", "float32", "float64", "int8", "int16", "int32", "int64")


def _is_known_unsigned_by_dtype(dt: Any) -> bool:
    """Whether a type is one of those without negative numbers."""
    return dtypes.as_dtype(dt).base_dtype.name in _UNSIGNED


def _is_known_signed_by_dtype(dt: Any) -> bool:
    """Whether a type is one of those with negative numbers."""
    return dtypes.as_dtype(dt).base_dtype.name in _SIGNED


def _is_known_dtype(dt: Any) -> bool:
    """Whether the whole numbers that a type holds are known."""
    return _is_known_unsigned_by_dtype(dt) or _is_known_signed_by_dtype(dt)


def _checked_type(dt: Any) -> Any:
    if not _is_known_dtype(dt):
        raise TypeError(f"Which whole numbers {dtypes.as_dtype(dt).name} holds is not known")
    return dtypes.as_dtype(dt).base_dtype


def _largest_integer_by_dtype(dt: Any) -> int:
    """The largest number below which a type holds every whole number."""
    kind = _checked_type(dt)
    if kind.is_floating:
        return 2 ** (np.finfo(kind.as_numpy_dtype).nmant + 1)
    return 1 if kind == dtypes.bool else int(kind.max)


def _smallest_integer_by_dtype(dt: Any) -> int:
    """The smallest number above which a type holds every whole number."""
    kind = _checked_type(dt)
    if kind.is_floating:
        return -_largest_integer_by_dtype(kind)
    return 0 if _is_known_unsigned_by_dtype(kind) else int(kind.min)


def _is_integer_like_by_dtype(dt: Any) -> bool:
    """Whether a type holds whole numbers only."""
    kind = _checked_type(dt)
    return kind.is_integer or kind == dtypes.bool


class AppendDocstring:
    """A decorator that puts a note, and what more keyword arguments mean, at the end of a function's docstring."""

    def __init__(self, additional_note: str = "", kwargs_dict: dict[str, str] | None = None) -> None:
        if kwargs_dict:
            for name, text in kwargs_dict.items():
                if "\n" in text:
                    raise ValueError(f"What {name!r} means has to be said in one line")
            listed = [f"*  `{name}`: {text}" for name, text in sorted(kwargs_dict.items())]
            additional_note += "\n".join(["", "", "##### `kwargs`:", "", *listed])
        self._note = additional_note

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def described(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        described.__doc__ = self._note if described.__doc__ is None else f"{described.__doc__}\n{self._note}"
        return described
