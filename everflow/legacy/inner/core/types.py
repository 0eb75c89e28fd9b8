"""Names that programs take from inside TensorFlow's modules `framework.dtypes` and `framework.tensor_util`: its tables of
types, and how 16-bit numbers are written into messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.dtypes import _DTYPE_RANGE as dtype_range
from everflow.framework.dtypes import _INTERN as _INTERN_TABLE
from everflow.framework.dtypes import _np_resource as np_resource
from everflow.protos import tensor_pb2

__all__ = [
    "TF_VALUE_DTYPES",
    "ExtractBitsFromBFloat16",
    "ExtractBitsFromFloat16",
    "FastAppendBFloat16ArrayToTensorProto",
    "GetFromNumpyDTypeDict",
    "SlowAppendBFloat16ArrayToTensorProto",
    "SlowAppendFloat16ArrayToTensorProto",
    "_INTERN_TABLE",
    "_NP_TO_TF",
    "_PYTHON_TO_TF",
    "_STRING_TO_TF",
    "_TF_TO_NP",
    "_TYPE_TO_STRING",
    "dtype_range",
    "np_resource",
]
# The types of values, without those of references.
TF_VALUE_DTYPES = {number for number in _INTERN_TABLE if number < 100}
_NO_VALUES = (dtypes.resource, dtypes.variant)
_TYPE_TO_STRING = {number: dtype.name for number, dtype in _INTERN_TABLE.items()}
_STRING_TO_TF = {name: _INTERN_TABLE[number] for number, name in _TYPE_TO_STRING.items()}
_TF_TO_NP = {n: dtype.as_numpy_dtype for n, dtype in _INTERN_TABLE.items() if dtype.base_dtype not in _NO_VALUES}
_NP_TO_TF = {kind: _INTERN_TABLE[number] for number, kind in _TF_TO_NP.items() if number < 100}
_NP_TO_TF |= {np.bool_: dtypes.bool, np.bytes_: dtypes.string, np.str_: dtypes.string, np.object_: dtypes.string}
_NP_TO_TF |= {np.longlong: dtypes.int64, np.ulonglong: dtypes.uint64}
_PYTHON_TO_TF = {float: dtypes.float32, bool: dtypes.bool, object: dtypes.string}


def ExtractBitsFromFloat16(x: Any) -> int:
    """The 16 bits of a number as float16, as a whole number."""
    return int(np.asarray(x, np.float16).view(np.uint16))


def ExtractBitsFromBFloat16(x: Any) -> int:
    """The 16 bits of a number as bfloat16, as a whole number."""
    return int(np.asarray(x, dtypes.bfloat16.as_numpy_dtype).view(np.uint16))


def SlowAppendFloat16ArrayToTensorProto(tensor_proto: tensor_pb2.TensorProto, proto_values: Iterable[Any]) -> None:
    """Add float16 numbers to a message."""
    tensor_proto.half_val.extend(ExtractBitsFromFloat16(x) for x in proto_values)


def SlowAppendBFloat16ArrayToTensorProto(tensor_proto: tensor_pb2.TensorProto, proto_values: Iterable[Any]) -> None:
    """Add bfloat16 numbers to a message."""
    tensor_proto.half_val.extend(ExtractBitsFromBFloat16(x) for x in proto_values)


FastAppendBFloat16ArrayToTensorProto = SlowAppendBFloat16ArrayToTensorProto


def GetFromNumpyDTypeDict(dtype_dict: Mapping[Any, Any], dtype: np.dtype) -> Any:
    """What a dictionary by types of numpy has for one, None where that is nothing."""
    return next((value for key, value in dtype_dict.items() if key == dtype), None)
