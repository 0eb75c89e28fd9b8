"""Data types: the `DType` class, one object for each type, and conversion from numpy, Python and protobuf."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike

# Structured numpy types of the quantised kinds, as TensorFlow 1 shows them.
_np_qint8 = np.dtype([("qint8", np.int8)])
_np_quint8 = np.dtype([("quint8", np.uint8)])
_np_qint16 = np.dtype([("qint16", np.int16)])
_np_quint16 = np.dtype([("quint16", np.uint16)])
_np_qint32 = np.dtype([("qint32", np.int32)])
_np_resource = np.dtype([("resource", np.ubyte)])
_np_bfloat16 = ml_dtypes.bfloat16

# enum number, name, numpy type. A reference type's number is its base's plus 100.
_TABLE = [
    (1, "float32", np.float32),
    (2, "float64", np.float64),
    (3, "int32", np.int32),
    (4, "uint8", np.uint8),
    (5, "int16", np.int16),
    (6, "int8", np.int8),
    (7, "string", np.object_),
    (8, "complex64", np.complex64),
    (9, "int64", np.int64),
    (10, "bool", np.bool_),
    (11, "qint8", _np_qint8),
    (12, "quint8", _np_quint8),
    (13, "qint32", _np_qint32),
    (14, "bfloat16", _np_bfloat16),
    (15, "qint16", _np_qint16),
    (16, "quint16", _np_quint16),
    (17, "uint16", np.uint16),
    (18, "complex128", np.complex128),
    (19, "float16", np.float16),
    (20, "resource", _np_resource),
    (21, "variant", np.object_),
    (22, "uint32", np.uint32),
    (23, "uint64", np.uint64),
]
_NAMES = {number: name for number, name, _ in _TABLE}
_NUMPY = {number: numpy_type for number, _, numpy_type in _TABLE}
_REF = 100
# The names of the enum's values in files, where they differ from "DT_" + the type's name.
_ENUM_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


class DType:
    """The type of a tensor's elements.

    Args:
        type_enum: The number of the type in `types.proto`.

    Example:
        >>> tf.float32.is_floating, tf.float32.size, tf.float32.as_numpy_dtype
        (True, 4, <class 'numpy.float32'>)
        >>> tf.as_dtype("float32") is tf.float32
        True
    """

    __slots__ = ("_type_enum",)

    def __init__(self, type_enum: int) -> None:
        type_enum = int(type_enum)
        if type_enum % _REF not in _NAMES or type_enum > 2 * _REF:
            raise TypeError(f"No DType has the number {type_enum}")
        self._type_enum = type_enum

    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self._type_enum > _REF

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else _INTERN[self._type_enum + _REF]

    @property
    def base_dtype(self) -> DType:
        """The type itself, or for a reference type the type it refers to."""
        return _INTERN[self._type_enum - _REF] if self._type_enum > _REF else self

    @property
    def real_dtype(self) -> DType:
        """The type of a complex type's parts; other types are their own."""
        return {complex64: float32, complex128: float64}.get(self.base_dtype, self)

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        return self.base_dtype._type_enum not in (20, 21)

    @property
    def as_numpy_dtype(self) -> Any:
        return _NUMPY[self._type_enum % _REF]

    @property
    def as_datatype_enum(self) -> Any:
        return self._type_enum

    @property
    def enum_name(self) -> str:
        """The name in files: "DT_FLOAT", "DT_INT32_REF"."""
        name = _NAMES[self._type_enum % _REF]
        return "DT_" + _ENUM_NAMES.get(name, name.upper()) + ("_REF" if self._is_ref_dtype else "")

    @property
    def is_bool(self) -> builtins.bool:
        return self.base_dtype is bool

    @property
    def is_integer(self) -> builtins.bool:
        """Whether it is a plain (not quantised) integer type."""
        return self.is_numpy_compatible and not self.is_quantized and np.issubdtype(self.as_numpy_dtype, np.integer)

    @property
    def is_floating(self) -> builtins.bool:
        return self.base_dtype in (float16, float32, float64, bfloat16)

    @property
    def is_complex(self) -> builtins.bool:
        return self.base_dtype in (complex64, complex128)

    @property
    def is_quantized(self) -> builtins.bool:
        return self.base_dtype in QUANTIZED_DTYPES

    @property
    def is_unsigned(self) -> builtins.bool:
        return self.base_dtype in (uint8, uint16, uint32, uint64)

    @property
    def min(self) -> Any:
        """The lowest value that can be held."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The highest value that can be held."""
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if self.is_quantized or self.base_dtype in (bool, string, complex64, complex128, resource, variant):
            raise TypeError(f"Cannot find {which}imum value of {self}.")
        if self.base_dtype is bfloat16:
            return _np_bfloat16(float.fromhex("-0x1.FEp127" if which == "min" else "0x1.FEp127"))
        info = np.finfo if self.is_floating else np.iinfo
        value = getattr(info(self.as_numpy_dtype), which)
        return value

    @property
    def limits(self, clip_negative: builtins.bool = True) -> tuple[int, int]:
        """(lowest, highest) of the range that images of this type use."""
        low, high = _DTYPE_RANGE[self.as_numpy_dtype]
        return (0 if clip_negative else low), high

    def is_compatible_with(self, other: DTypeLike) -> builtins.bool:
        """Whether a value of `other` can stand where this type is wanted; a reference can stand for its base."""
        if other is self:
            return True
        other = as_dtype(other)
        return self._type_enum in (other.as_datatype_enum, other.base_dtype.as_datatype_enum)

    def __eq__(self, other: Any) -> builtins.bool:
        if isinstance(other, DType):
            return self._type_enum == other._type_enum
        if other is None:
            return False
        try:
            return self._type_enum == as_dtype(other)._type_enum
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._type_enum

    def __int__(self) -> int:
        return self._type_enum

    @property
    def name(self) -> str:
        return _NAMES[self._type_enum % _REF] + ("_ref" if self._is_ref_dtype else "")

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    @property
    def size(self) -> int:
        """Bytes an element takes; 1 for types without a fixed size."""
        if self.base_dtype in (variant, resource):
            return 1
        return np.dtype(self.as_numpy_dtype).itemsize


_INTERN = {number + ref: DType(number + ref) for number, _, _ in _TABLE for ref in (0, _REF)}

float32, float64, float16, bfloat16 = (_INTERN[n] for n in (1, 2, 19, 14))
int8, int16, int32, int64 = (_INTERN[n] for n in (6, 5, 3, 9))
uint8, uint16, uint32, uint64 = (_INTERN[n] for n in (4, 17, 22, 23))
complex64, complex128 = _INTERN[8], _INTERN[18]
string, bool, resource, variant = (_INTERN[n] for n in (7, 10, 20, 21))
qint8, quint8, qint16, quint16, qint32 = (_INTERN[n] for n in (11, 12, 15, 16, 13))
half, double = float16, float64

for _number, _name, _ in _TABLE:
    globals()[_name + "_ref"] = _INTERN[_number + _REF]
half_ref, double_ref = _INTERN[119], _INTERN[102]

QUANTIZED_DTYPES = frozenset([qint8, quint8, qint16, quint16, qint32])
_DTYPE_RANGE = {
    np.uint8: (0, 255),
    np.uint16: (0, 65535),
    np.int8: (-128, 127),
    np.int16: (-32768, 32767),
    np.int64: (-(2**63), 2**63 - 1),
    np.uint64: (0, 2**64 - 1),
    np.int32: (-(2**31), 2**31 - 1),
    np.uint32: (0, 2**32 - 1),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
}

_BY_KEY: dict = {}
for _dtype in _INTERN.values():
    _BY_KEY[_dtype._type_enum] = _dtype
    _BY_KEY[_dtype.name] = _dtype
_BY_KEY.update(
    {
        "half": half,
        "double": double,
        "float": float32,
        "half_ref": half_ref,
        "float_ref": _INTERN[101],
        "double_ref": double_ref,
    }
)
_BY_KEY.update({builtins.float: float32, builtins.bool: bool, builtins.object: string})
_BY_NUMPY = {np.dtype(t): _INTERN[n] for n, name, t in _TABLE if name != "variant"}
BY_ENUM_NAME = {dtype.enum_name: dtype for dtype in _INTERN.values()}


def as_dtype(type_value: DTypeLike) -> DType:
    """The DType for a DType, enum number, name, numpy or Python type.

    Args:
        type_value: What names the type: a DType, number, string, numpy or Python type.

    Returns:
        The DType.

    Raises:
        TypeError: If it names no type.

    Example:
        >>> tf.as_dtype(np.int64), tf.as_dtype("float32")
        (tf.int64, tf.float32)
    """
    if isinstance(type_value, DType):
        return type_value
    try:
        return _BY_KEY[type_value]
    except (KeyError, TypeError):
        pass
    if isinstance(type_value, np.dtype):
        found = _by_numpy(type_value)
    elif isinstance(type_value, type) and issubclass(type_value, np.generic):
        found = _by_numpy(np.dtype(type_value))
    elif hasattr(type_value, "dtype") and isinstance(getattr(type_value, "dtype", None), np.dtype):
        found = _by_numpy(type_value.dtype)
    else:
        found = None
    if found is None:
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found


def _by_numpy(numpy_dtype: np.dtype) -> DType | None:
    if numpy_dtype.kind in "SU":
        return string
    return _BY_NUMPY.get(numpy_dtype.newbyteorder("=") if numpy_dtype.byteorder not in "=|" else numpy_dtype)
