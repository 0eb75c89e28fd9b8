"""Tensors as plain values: between Python objects, numpy arrays and TensorProtos."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.shapes import Dimension, TensorShape
from everflow.protos import tensor_pb2

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, ShapeLike
    from everflow.protos import tensor_shape_pb2

# The field of a TensorProto that holds values one by one, by type.
_FIELDS = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.string: "string_val",
    dtypes.int64: "int64_val",
    dtypes.bool: "bool_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    **dict.fromkeys(
        [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.uint8, dtypes.uint16, *dtypes.QUANTIZED_DTYPES],
        "int_val",
    ),
}
# Types whose arrays may stand as raw bytes.
_RAW_TYPES = (
    frozenset(t for t in _FIELDS if t.is_integer and t is not dtypes.uint16)
    | dtypes.QUANTIZED_DTYPES
    | {dtypes.float32, dtypes.float64}
)
# A proto may have fewer values than its shape takes; the last one is repeated, up to so many bytes. What is larger has
# to be computed, as `tf.fill` does: a file of a few bytes could ask for all memory there is.
LARGEST_REPEATED = 1 << 31


class TensorValue:
    """A tensor-valued attribute, kept as an array or as a proto, each made from the other when asked for."""

    __slots__ = ("_array", "_proto", "dtype", "shape")
    _array: Any  # np.ndarray, or None until it is asked for
    _proto: Any  # tensor_pb2.TensorProto, or None until it is asked for

    def __init__(
        self,
        array: np.ndarray | None = None,
        proto: tensor_pb2.TensorProto | None = None,
        dtype: dtypes.DType | None = None,
    ) -> None:
        self._array, self._proto = array, proto
        if proto is not None:
            self.dtype = dtypes.as_dtype(proto.dtype)
            self.shape = TensorShape(proto.tensor_shape)
        else:
            self.dtype = dtype or dtypes.as_dtype(self._array.dtype)
            self.shape = TensorShape(self._array.shape)

    @property
    def array(self) -> np.ndarray:
        if self._array is None:
            try:
                self._array = array_of(self._proto)
            except (ValueError, TypeError) as error:
                raise InvalidArgumentError(None, None, f"Cannot parse tensor from proto: {error}") from error
        return self._array

    @property
    def proto(self) -> tensor_pb2.TensorProto:
        if self._proto is None:
            self._proto = make_tensor_proto(self._array, dtype=self.dtype)
        return self._proto


_ACCEPTED = {
    dtypes.bool: (bool, np.bool_),
    dtypes.string: (str, bytes),
    **dict.fromkeys([dtypes.complex64, dtypes.complex128], (numbers.Complex, np.number)),
    **dict.fromkeys(
        [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16],
        (numbers.Real, np.integer, np.floating, Dimension),
    ),
    **dict.fromkeys(
        [
            dtypes.int8,
            dtypes.int16,
            dtypes.int32,
            dtypes.int64,
            dtypes.uint8,
            dtypes.uint16,
            dtypes.uint32,
            dtypes.uint64,
        ]
        + list(dtypes.QUANTIZED_DTYPES),  # in a tuple each, see `_first_unwrapped`
        (numbers.Integral, np.integer, Dimension),
    ),
}


def _first_misfit(values: Any, accepted: tuple[type, ...] | None, arrays: bool) -> tuple[Any] | None:
    """The first leaf of nested lists that is not of an accepted type, in a 1-tuple; None where all fit."""
    if isinstance(values, (list, tuple)):
        for value in values:
            found = _first_misfit(value, accepted, arrays)
            if found is not None:
                return found
        return None
    if accepted is None:
        return (values,) if hasattr(values, "value_index") else None
    if isinstance(values, np.ndarray):
        if not arrays:
            return (values,)
        if values.dtype != object:
            return None if not values.size or issubclass(values.dtype.type, accepted) else (values,)
        return _first_misfit(values.ravel().tolist(), accepted, arrays)
    return None if isinstance(values, accepted) else (values,)


def _first_unwrapped(values: Any) -> tuple[Any] | None:
    """The first leaf of nested lists that isn't in a tuple, as a quantized number is; None where all are."""
    if isinstance(values, list):
        return next((found for value in values if (found := _first_unwrapped(value)) is not None), None)
    return None if isinstance(values, tuple) else (values,)


def _check_python_value(values: Any, dtype: dtypes.DType | None, arrays: bool) -> None:
    misfit = _first_misfit(values, None if dtype is None else _ACCEPTED.get(dtype.base_dtype), arrays)
    if misfit is None and not arrays and dtype is not None and dtype.is_quantized:
        misfit = _first_unwrapped(values)
    if misfit is None:
        return
    misfit = misfit[0]
    if dtype is None:
        raise TypeError("List of Tensors when single Tensor expected")
    raise TypeError(f"Expected {dtype.name}, got {misfit!r} of type '{type(misfit).__name__}' instead.")


def _dense_shape(values: Any, arrays: bool) -> list[int]:
    """The shape nested lists claim to have, judged by first elements only."""
    if not isinstance(values, (list, tuple)):
        return list(values.shape) if arrays and isinstance(values, np.ndarray) else []
    return [len(values)] + (_dense_shape(values[0], arrays) if values else [])


def to_array(
    values: Any, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None, arrays: bool = False
) -> np.ndarray:
    """A numpy array from a Python value, by TensorFlow's rules for constants: float32 and int32 where it can choose.

    With `arrays`, lists may hold arrays, as they may in eager mode; in a graph they may hold numbers and text only.
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(values, (np.ndarray, np.generic)):
        array = np.asarray(values)
        if dtype is not None and dtype.is_numpy_compatible and dtype is not dtypes.string:
            array = array.astype(dtype.as_numpy_dtype)
        return array
    if values is None:
        raise ValueError("None values not supported.")
    if callable(getattr(values, "__array__", None)) and not hasattr(values, "value_index"):
        return np.asarray(values, dtype=dtype.as_numpy_dtype if dtype else None)
    if shape is not None and int(np.prod(shape, dtype=np.int64)) == 0:
        return np.empty(shape, dtype.as_numpy_dtype if dtype else np.float32)
    _check_python_value(values, dtype, arrays)
    array = _build_array(values, dtype, arrays)
    claimed = _dense_shape(values, arrays)
    if (shape is None or _holds_array(values)) and not (dtype and dtype.is_quantized) and list(array.shape) != claimed:
        advice = " Stack the arrays in it with np.stack first." if _holds_array(values) else ""
        raise ValueError(
            f"Argument must be a dense tensor: {values} begins as if its shape were {claimed}, but it is {list(array.shape)}.{advice}"
        )
    if array.dtype.kind in "USO" and dtype is None and not _is_text(values, arrays):
        raise TypeError(
            f"A {type(values)} can't become a tensor, since its elements have no type that tensors have: {values!r}"
        )
    if dtype is None:
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        elif array.dtype == np.int64:
            small = array.astype(np.int32)
            if np.array_equal(small, array):
                array = small
    return array


def _holds_array(values: Any) -> bool:
    """Whether nested lists hold an array, judged by first elements only."""
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return isinstance(values, np.ndarray)


def _build_array(values: Any, dtype: dtypes.DType | None, arrays: bool) -> np.ndarray:
    if dtype is dtypes.string or (dtype is None and _is_text(values, arrays)):
        return _string_array(values, arrays)
    numpy_dtype = dtype.as_numpy_dtype if dtype is not None and dtype.is_numpy_compatible else None
    if isinstance(values, (list, tuple)) and _has_dimensions(values):
        values = _without_dimensions(values)
    try:
        if dtype is not None and numpy_dtype is not None and dtype.is_quantized:
            return np.array(values, np.dtype(numpy_dtype))
        return np.array(values, dtype=numpy_dtype)
    except OverflowError:
        # A number too big for the type wraps, as C does it.
        try:
            return np.array(values).astype(numpy_dtype)
        except OverflowError as e:
            raise ValueError(f"Python int too large to convert: {values!r}") from e
    except ValueError as e:
        if not arrays and isinstance(values, list | tuple) and not isinstance(values[0], list | tuple):
            raise TypeError(
                f"A {type(values)} can't become a tensor, since its elements have different shapes: {values!r}"
            ) from e
        raise ValueError(f"Argument must be a dense tensor: {values} - the lists in it have different lengths") from e


def _has_dimensions(values: Iterable[Any]) -> bool:
    return any(isinstance(v, Dimension) or (isinstance(v, (list, tuple)) and _has_dimensions(v)) for v in values)


def _without_dimensions(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_without_dimensions(v) for v in values]
    return values.value if isinstance(values, Dimension) else values


def _is_text(values: Any, arrays: bool) -> bool:
    while isinstance(values, (list, tuple)):
        if not values:
            return False
        values = values[0]
    if arrays and isinstance(values, np.ndarray) and values.dtype.kind in "USO" and values.size:
        values = values.item(0)
    return isinstance(values, (str, bytes))


def _string_array(values: Any, arrays: bool) -> np.ndarray:
    shape = _dense_shape(values, arrays)
    flat = list(_leaves(values, arrays))
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    try:
        return array.reshape(shape)
    except ValueError as e:
        raise ValueError(f"Argument must be a dense tensor: {values} - wanted shape {shape}") from e


def _leaves(values: Any, arrays: bool) -> Iterator[Any]:
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from _leaves(value, arrays)
    elif arrays and isinstance(values, np.ndarray):
        yield from values.ravel().tolist()
    else:
        yield values


def as_bytes_array(array: np.ndarray) -> np.ndarray:
    """A string array of any numpy form as an object array of bytes."""
    flat = [_to_bytes(v) for v in array.ravel().tolist()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(array.shape)


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytearray):
        return bytes(value)
    raise TypeError(
        f"Failed to convert object of type {type(value)} to a string tensor: {value!r}. Consider casting elements to a supported type."
    )


def constant_array(
    values: Any,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
    arrays: bool = False,
) -> tuple[np.ndarray, dtypes.DType, tuple[int, ...]]:
    """(array, dtype, shape) of a constant: the array may be smaller than the shape, then its last value repeats."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if shape is not None:
        sizes: Iterable[Any] = shape.as_list() if isinstance(shape, TensorShape) else shape
        shape = [int(d) for d in sizes]
    array = to_array(values, dtype, shape, arrays)
    try:
        found = dtypes.as_dtype(array.dtype)
    except TypeError:
        raise TypeError(f"Unrecognized data type: {array.dtype}") from None
    if dtype is not None and dtype.is_quantized:
        found = dtype.base_dtype
    if dtype is not None and dtype.base_dtype != found.base_dtype:
        raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {values}")
    if found is dtypes.string:
        array = as_bytes_array(array)
    if shape is None:
        return array, found, tuple(array.shape)
    wanted = int(np.prod(shape, dtype=np.int64))
    if allow_broadcast:
        if array.shape not in ((), (1,)) and array.size != wanted:
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {array.shape}.")
    else:
        if verify_shape and array.shape != tuple(shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {array.shape}.")
        if array.size > wanted:
            raise ValueError(f"Too many elements provided: the shape takes {wanted}, and there are {array.size}")
    return array, found, tuple(shape)


def make_tensor_proto(
    values: Any,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> tensor_pb2.TensorProto:
    """A TensorProto from a Python value or numpy array.

    Args:
        values: A number, string, list or array.
        dtype: The type of the elements.
        shape: The lengths of the axes.
        verify_shape: Whether the values must have exactly `shape`.
        allow_broadcast: Whether one value may stand for all.

    Returns:
        A TensorProto.

    Raises:
        TypeError: If the values don't fit the type.
        ValueError: If the values don't fit the shape.

    Example:
        >>> tf.make_tensor_proto([1.0, 2.0]).dtype == tf.float32
        True
    """
    if isinstance(values, tensor_pb2.TensorProto):
        return values
    array, found, shape = constant_array(values, dtype, shape, verify_shape, allow_broadcast)
    proto = tensor_pb2.TensorProto(dtype=found.as_datatype_enum, tensor_shape=TensorShape(shape).as_proto())
    size = int(np.prod(shape, dtype=np.int64))
    if array.size == size and size > 1 and found in _RAW_TYPES:
        if size * array.itemsize >= 1 << 31:
            raise ValueError("A TensorProto can't hold more than 2GB.")
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    else:
        _put_values(proto, found, array.ravel())
    return proto


def listed_proto(values: Any, dtype: dtypes.DType) -> tensor_pb2.TensorProto:
    """A TensorProto of a number or vector with its values one by one, as op definitions write defaults."""
    array = np.array(values, dtype.as_numpy_dtype)
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    _put_values(proto, dtype, array.ravel())
    return proto


def _put_values(proto: tensor_pb2.TensorProto, dtype: dtypes.DType, flat: np.ndarray) -> None:
    field = getattr(proto, _FIELDS[dtype])
    if dtype in (dtypes.float16, dtypes.bfloat16):
        field.extend(flat.view(np.uint16).tolist())
    elif dtype.is_complex:
        field.extend(part for value in flat.tolist() for part in (value.real, value.imag))
    elif dtype.is_quantized:
        field.extend((flat.view(flat.dtype[0]) if flat.dtype.names else flat).tolist())
    else:
        field.extend(flat.tolist())


def make_ndarray(tensor: tensor_pb2.TensorProto) -> np.ndarray:
    """The numpy array of a TensorProto; a proto with too few values repeats the last one.

    Args:
        tensor: The message.

    Returns:
        An array.

    Raises:
        KeyError: If tensors of this type have no array.
        TypeError: If the message has unsigned integers of 32 or 64 bits as single values.

    Example:
        >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0]))
        array([1., 2.], dtype=float32)
    """
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype not in _FIELDS:
        raise KeyError(f"A {dtype.name} tensor has no numpy array")
    # TensorFlow 1.15 reads these from raw bytes only; programs that fall back on the error keep working.
    if dtype in (dtypes.uint32, dtypes.uint64) and not tensor.tensor_content:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    return array_of(tensor)


def array_of(tensor: tensor_pb2.TensorProto) -> np.ndarray:
    """The numpy array of a TensorProto of any numeric type or strings."""
    dtype = dtypes.as_dtype(tensor.dtype)
    shape = [d.size for d in tensor.tensor_shape.dim]
    if tensor.tensor_shape.unknown_rank or any(s < 0 for s in shape):
        raise ValueError(f"A TensorProto must have a fully known shape, not {shape}")
    if dtype not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    size = math.prod(shape)
    content = tensor.tensor_content  # protobuf makes a copy each time it is asked for
    if size > len(content) and size * np.dtype(dtype.as_numpy_dtype).itemsize > LARGEST_REPEATED:
        if size > len(getattr(tensor, _FIELDS[dtype])):
            raise ValueError(
                f"A TensorProto claims {size:,} values of {dtype.name}, shape {shape}, and doesn't have them"
            )
    if content:
        if dtype is dtypes.string:
            raise TypeError("A string tensor can't be held as tensor_content")
        numpy_dtype = np.dtype(dtype.as_numpy_dtype)
        if len(content) != size * numpy_dtype.itemsize:
            raise ValueError(
                f"tensor_content has {len(content)} bytes where shape {shape} of {dtype.name} takes {size * numpy_dtype.itemsize}"
            )
        if dtype is dtypes.bool:  # any byte but zero is true, and an array of truth values must not hold others
            return (np.frombuffer(content, np.uint8) != 0).reshape(shape)
        return np.frombuffer(bytearray(content), numpy_dtype).reshape(shape)
    values = getattr(tensor, _FIELDS[dtype])
    if dtype is dtypes.string:
        flat = np.empty(len(values), dtype=object)
        flat[:] = list(values)
    elif dtype in (dtypes.float16, dtypes.bfloat16):
        flat = np.array(values, np.uint16).view(dtype.as_numpy_dtype)
    elif dtype.is_complex:
        pairs = np.array(values, np.float64).reshape(-1, 2)
        flat = (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype.as_numpy_dtype)
    elif dtype.is_quantized:
        flat = np.array(values, np.dtype(dtype.as_numpy_dtype)[0]).view(dtype.as_numpy_dtype)
    else:
        flat = np.array(values).astype(dtype.as_numpy_dtype) if len(values) else np.empty(0, dtype.as_numpy_dtype)
    if flat.size == size:
        return flat.reshape(shape)
    if flat.size > size:
        raise ValueError(f"A TensorProto of shape {shape} holds {flat.size} values")
    if flat.size == 0:
        fill = b"" if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)
        return np.full(shape, fill, dtype=dtype.as_numpy_dtype)
    full = np.empty(size, flat.dtype)
    full[: flat.size] = flat
    full[flat.size :] = flat[-1]
    return full.reshape(shape)


# Its name where programs import it from inside TensorFlow.
MakeNdarray = make_ndarray


def TensorShapeProtoToList(shape: tensor_shape_pb2.TensorShapeProto) -> list[int]:
    """The sizes in a TensorShapeProto."""
    return [dimension.size for dimension in shape.dim]


def ShapeEquals(tensor_proto: tensor_pb2.TensorProto, shape: ShapeLike) -> bool:
    """Whether a TensorProto has this shape (a sequence or TensorShapeProto)."""
    if not isinstance(tensor_proto, tensor_pb2.TensorProto):
        raise TypeError("tensor_proto must be a TensorProto")
    return TensorShape(tensor_proto.tensor_shape).as_list() == TensorShape(shape).as_list()
