"""`convert_to_tensor` and the registry of conversions from Python types to tensors."""

from __future__ import annotations

import bisect
import collections.abc
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph

if TYPE_CHECKING:
    from everflow.framework.composites import SparseTensor
    from everflow.framework.hints import DTypeLike, TensorLike

# priority → [(types, function)]; lower priorities are asked first.
_functions: dict[int, list[tuple]] = {}
_priorities: list[int] = []
_by_type: dict[type, list] = {}


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Say how objects of `base_type` become tensors: `conversion_func(value, dtype, name, as_ref)`.

    Args:
        base_type: A class, or a tuple of classes.
        conversion_func: `conversion_func(value, dtype, name, as_ref)`; it returns a tensor, or NotImplemented.
        priority: Lower ones are tried first.

    Returns:
        None.

    Raises:
        TypeError: If `base_type` is no class, or one whose conversion can't be changed.

    Example:
        >>> class Celsius:
        ...     degrees = 20.0
        >>> tf.register_tensor_conversion_function(Celsius, lambda value, dtype, name, as_ref: tf.constant(value.degrees))
        >>> sess.run(tf.convert_to_tensor(Celsius()))
        np.float32(20.0)
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must name one type or several in a tuple.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    if priority not in _functions:
        bisect.insort(_priorities, priority)
    _functions.setdefault(priority, []).append((types, conversion_func))
    _by_type.clear()


def conversion_functions(value_type: type) -> list[Callable[..., Any]]:
    """The conversion functions for a type, in the order in which they are asked."""
    found = _by_type.get(value_type)
    if found is None:
        found = [f for p in _priorities for types, f in _functions[p] if issubclass(value_type, types)]
        _by_type[value_type] = found
    return found


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """A Tensor from a tensor, number, list, numpy array or any type with a registered conversion.

    Args:
        value: What to convert.
        dtype: The type of the tensor; found out if None.
        name: The name of the operation in the graph.
        preferred_dtype: A type to try first, where `dtype` is None.
        dtype_hint: Another name of `preferred_dtype`.

    Returns:
        A Tensor.

    Raises:
        TypeError: If nothing is known of how to convert it.
        ValueError: If it is a tensor of another type.

    Example:
        >>> sess.run(tf.convert_to_tensor([[1.0, 2.0]]))
        array([[1., 2.]], dtype=float32)
    """
    return internal_convert_to_tensor(value, dtype, name, preferred_dtype=preferred_dtype or dtype_hint)


def internal_convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DTypeLike | None = None,
    ctx: Any = None,
    accepted_result_types: tuple[type[Any], ...] = (Tensor,),
) -> Any:
    """As `convert_to_tensor`; `as_ref` asks for the reference of a ref variable rather than its value."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if type(value) is Tensor:
        return _checked_tensor(value, dtype)
    if isinstance(value, Tensor):
        return _from_tensor(value, dtype, name)
    if preferred_dtype is not None:
        preferred_dtype = dtypes.as_dtype(preferred_dtype)
    for function in conversion_functions(type(value)):
        result: Any = None
        if dtype is None and preferred_dtype is not None:
            try:
                result = function(value, dtype=preferred_dtype, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = None  # the preference was only that
            else:
                if result is not NotImplemented and result.dtype.base_dtype != preferred_dtype.base_dtype:
                    raise TypeError(
                        f"A conversion gave {result.dtype.base_dtype} and not the preferred dtype, {preferred_dtype.base_dtype}, without an error"
                    )
        if result is None:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, accepted_result_types):
            raise RuntimeError(
                f"Conversion function {function!r} for type {type(value)} returned non-Tensor: {result!r}"
            )
        if dtype and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {function!r} made a tensor of {result.dtype.name} from a {type(value)}, "
                f"where {dtype.base_dtype.name} was asked for"
            )
        return result
    raise TypeError(f"Cannot convert {value!r}, a {type(value)}, to a Tensor: its type has no conversion function.")


def _checked_tensor(value: Tensor, dtype: dtypes.DType | None) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name}, but it is {value.dtype.name} already: {str(value)!r}"
        )
    return value


def _from_tensor(
    value: Tensor,
    dtype: dtypes.DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    if value.is_eager:
        graph = get_default_graph()
        if not graph.executes:
            if not graph.building_function:
                raise RuntimeError(
                    "Attempting to capture an EagerTensor in a graph that is no function's body: it has to become a constant first."
                )
            value = graph.capture(value, name=name)
    return _checked_tensor(value, dtype)


register_tensor_conversion_function(Tensor, _from_tensor, 0)


def convert_n_to_tensor(
    values: Sequence[TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    as_ref: bool = False,
) -> list[Tensor]:
    """Each of several values as a tensor; constants are named `name_0`, `name_1`, …"""
    if not isinstance(values, collections.abc.Sequence):
        raise TypeError(f"values must be a sequence, not {values!r}")
    return [
        internal_convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype)
        for i, value in enumerate(values)
    ]


def _of_dtype(value: Any, dtype: DTypeLike | None) -> Any:
    """A value that is made of tensors; ValueError where another dtype was asked for."""
    if dtype and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name}, but it is {value.dtype.name} already: {value!r}"
        )
    return value


def convert_to_tensor_or_indexed_slices(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """A Tensor or IndexedSlices; those that are one already stay as they are.

    Args:
        value: What to convert.
        dtype: The type it must have.
        name: The name of the operation in the graph.
        as_ref: Whether a variable may stay a reference.

    Returns:
        A Tensor or IndexedSlices.

    Example:
        >>> tf.convert_to_tensor_or_indexed_slices([1, 2]).shape
        TensorShape([Dimension(2)])
    """
    from everflow.framework.composites import IndexedSlices, SparseTensor  # builds on this module

    if isinstance(value, (IndexedSlices, SparseTensor)):
        return _of_dtype(value, dtype)
    return internal_convert_to_tensor(value, dtype, name, as_ref)


def convert_n_to_tensor_or_indexed_slices(
    values: Iterable[TensorLike], dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> list[Any]:
    """Each of several values as a Tensor or IndexedSlices; None stays None."""
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError("values must be iterable.")
    return [
        value
        if value is None
        else convert_to_tensor_or_indexed_slices(value, dtype, None if name is None else f"{name}_{i}", as_ref)
        for i, value in enumerate(values)
    ]


def convert_to_tensor_or_sparse_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor | SparseTensor:
    """A Tensor or SparseTensor; a SparseTensorValue becomes a SparseTensor of constants.

    Args:
        value: What to convert.
        dtype: The type it must have.
        name: The name of the operation in the graph.

    Returns:
        A Tensor or SparseTensor.

    Raises:
        RuntimeError: If it is sparse and of another type.

    Example:
        >>> value = tf.SparseTensorValue([[0, 1]], [5], [2, 3])
        >>> type(tf.convert_to_tensor_or_sparse_tensor(value)).__name__
        'SparseTensor'
    """
    from everflow.framework.composites import SparseTensor, SparseTensorValue  # builds on this module

    sparse = SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value
    if not isinstance(sparse, SparseTensor):
        return internal_convert_to_tensor(value, dtype, name)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(sparse.dtype):
        raise RuntimeError(
            f"A SparseTensor of {sparse.dtype.name} was given where {dtypes.as_dtype(dtype).name} was asked for"
        )
    return sparse


def convert_to_tensor_or_composite(value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A Tensor, or a value made of several tensors as it is; a SparseTensorValue becomes a SparseTensor."""
    from everflow.framework.composites import OfSeveral, SparseTensorValue  # builds on this module

    if hasattr(value, "_type_spec"):
        return _of_dtype(value, dtype)
    if isinstance(value, SparseTensorValue):
        return convert_to_tensor_or_sparse_tensor(value, dtype, name)
    return internal_convert_to_tensor(value, dtype, name, accepted_result_types=(Tensor, OfSeveral))
