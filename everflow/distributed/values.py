"""Arrays as they travel: TensorProtos with raw contents, checked when they come in."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import array_of, as_bytes_array
from everflow.protos import tensor_pb2

_LARGEST = (1 << 31) - 1  # bytes that a proto can hold


def encode(array, dtype: dtypes.DType) -> tensor_pb2.TensorProto:
    """The TensorProto of an array."""
    array = np.asarray(array, dtype=object if dtype is dtypes.string else None)
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if dtype is dtypes.string:
        proto.string_val.extend(as_bytes_array(array).ravel().tolist())
    elif array.nbytes > _LARGEST:
        raise errors.InvalidArgumentError(
            None, None, f"A {dtype.name} tensor of shape {list(array.shape)} is larger than the 2 GB a message holds"
        )
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def decode(proto: tensor_pb2.TensorProto, dtype: dtypes.DType | None = None) -> np.ndarray:
    """The array of a TensorProto; InvalidArgumentError where it is broken or of another type than `dtype`."""
    if dtype is not None and proto.dtype != dtype.as_datatype_enum:
        raise errors.InvalidArgumentError(None, None, f"Tensor type {proto.dtype} came where {dtype.name} was expected")
    try:
        return array_of(proto)
    except (TypeError, ValueError) as e:
        raise errors.InvalidArgumentError(None, None, f"A tensor that came can't be read: {e}") from None
