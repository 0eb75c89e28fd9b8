"""Lists of tensors as values: what functional loops keep of each iteration for their gradients.

A list is never changed. One that is pushed to shares what it had with the old one, so that pushing takes constant time.
"""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import kernel
from everflow.kernels.tensors import torch_dtype


class TensorList:
    """A list by its last element and the list before it."""

    __slots__ = ("before", "last", "length")

    def __init__(self, before=None, last=None):
        self.before = before
        self.last = last
        self.length = 0 if before is None else before.length + 1

    def __iter__(self):
        items, at = [], self
        while at.before is not None:
            items.append(at.last)
            at = at.before
        return reversed(items)

    def __add__(self, other):
        if self.length != other.length:
            raise InvalidArgumentError(
                None, None, f"Trying to add two lists of tensors of different lengths: {self.length}, {other.length}"
            )
        return list_of(a + b for a, b in zip(self, other))

    def zeros(self):
        """A list as long as this one, of zeros."""
        return list_of(x.zeros() if isinstance(x, TensorList) else torch.zeros_like(x) for x in self)

    @property
    def shape(self):
        return torch.Size([])


def list_of(items) -> TensorList:
    """A list of these tensors."""
    made = TensorList()
    for item in items:
        made = TensorList(made, item)
    return made


@kernel("EmptyTensorList")
def empty_tensor_list(element_shape, max_num_elements):
    return TensorList()


@kernel("TensorListPushBack")
def tensor_list_push_back(input_handle, tensor):
    return TensorList(input_handle, tensor)


@kernel("TensorListPopBack")
def tensor_list_pop_back(input_handle, element_shape):
    if input_handle.before is None:
        raise InvalidArgumentError(None, None, "Trying to pop from an empty list.")
    return input_handle.before, input_handle.last


@kernel("TensorListLength")
def tensor_list_length(input_handle):
    return torch.tensor(input_handle.length, dtype=torch.int32)


@kernel("TensorListStack")
def tensor_list_stack(input_handle, element_shape, *, element_dtype, num_elements):
    items = list(input_handle)
    if num_elements >= 0 and len(items) != num_elements:
        raise InvalidArgumentError(
            None, None, f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
        )
    if not items:
        if element_shape.ndim == 0 or (element_shape < 0).any():
            raise InvalidArgumentError(None, None, "Tried to stack elements of an empty list with non-fully-defined element_shape")
        return torch.zeros([0, *element_shape.tolist()], dtype=torch_dtype(element_dtype))
    return torch.stack(items)


@kernel("TensorListFromTensor")
def tensor_list_from_tensor(tensor, element_shape):
    return list_of(tensor.unbind(0))


@kernel("TensorListGetItem")
def tensor_list_get_item(input_handle, index, element_shape):
    return list(input_handle)[int(index)]
