"""Between DType, numpy arrays and torch tensors: the form in which kernels see values."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import torch

from everflow.framework import dtypes

Strings: TypeAlias = np.ndarray  # a string tensor: an object array of bytes
AnyTensor: TypeAlias = torch.Tensor | Strings
SparseParts: TypeAlias = tuple[torch.Tensor, AnyTensor, torch.Tensor]  # indices, values, shape
Value: TypeAlias = (
    Any  # what a kernel takes and gives: a tensor of either kind, or the object that a ref, resource or variant is
)

# Quantised types are held as the integers they are made of.
_TORCH = {
    dtypes.float16: torch.float16,
    dtypes.float32: torch.float32,
    dtypes.float64: torch.float64,
    dtypes.bfloat16: torch.bfloat16,
    dtypes.complex64: torch.complex64,
    dtypes.complex128: torch.complex128,
    dtypes.int8: torch.int8,
    dtypes.int16: torch.int16,
    dtypes.int32: torch.int32,
    dtypes.int64: torch.int64,
    dtypes.uint8: torch.uint8,
    dtypes.uint16: torch.uint16,
    dtypes.uint32: torch.uint32,
    dtypes.uint64: torch.uint64,
    dtypes.bool: torch.bool,
    dtypes.qint8: torch.int8,
    dtypes.quint8: torch.uint8,
    dtypes.qint16: torch.int16,
    dtypes.quint16: torch.uint16,
    dtypes.qint32: torch.int32,
}
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype that holds values of a DType."""
    return _TORCH[dtypes.as_dtype(dtype).base_dtype]


def _slow_memory(shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(shape, strides, dtype=dtype)


# What torch's own compiler takes for its results: a third of the time.
strided_room = getattr(torch._C._dynamo.guards, "_empty_strided_cpu", _slow_memory)


def room(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A new tensor for a loop to fill: `torch.empty`, without what that takes for small ones."""
    if len(shape) == 1:
        return strided_room(shape, (1,), dtype)
    if 0 in shape:
        return torch.empty(shape, dtype=dtype)
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strided_room(shape, tuple(reversed(strides)), dtype)


def vector(*numbers: int) -> torch.Tensor:
    """A few numbers: `torch.tensor` takes three times as long."""
    return torch.from_numpy(np.array(numbers, np.int64))


def from_numpy(array: np.ndarray) -> Value:
    """A torch tensor over a numpy array's memory where that can be; string arrays stay as they are."""
    if array.dtype.kind in "OSU":
        return array
    if array.dtype == _BFLOAT16:
        return torch.from_numpy(np.require(array, requirements="C").view(np.int16)).view(torch.bfloat16)
    if array.dtype.names:  # a quantised type's structured form
        array = array.view(array.dtype[0])
    if not array.flags.writeable or any(s < 0 for s in array.strides) or not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
    return torch.from_numpy(array)


def to_numpy(tensor: AnyTensor, dtype: dtypes.DType | None = None) -> np.ndarray:
    """The numpy array of a kernel's value, sharing its memory where that can be."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    tensor = tensor.detach().cpu()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(_BFLOAT16)
    array = tensor.numpy()
    if dtype is not None and dtype.is_quantized:
        array = array.view(dtype.as_numpy_dtype)
    return array


_ASKING = 2  # uses of memory that a tensor alone has: the tensor, and who asks


def has_memory_alone(tensor: torch.Tensor) -> bool:
    """Whether no other tensor, and nobody outside of torch, looks at a tensor's memory, and it looks at all of it."""
    memory = tensor.untyped_storage()
    uses = torch._C._storage_Use_Count(memory._cdata)
    return memory.resizable() and uses <= _ASKING and memory.nbytes() == tensor.nbytes


def apart(value: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    """The value, copied if it is a view of the memory that is written: it would change while it is read."""
    if (
        written.numel()
        and value is not written
        and value.untyped_storage().data_ptr() == written.untyped_storage().data_ptr()
    ):
        return value.clone()
    return value
