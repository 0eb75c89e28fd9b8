"""tensorflow.python.ops.list_ops: lists of tensors, with shapes of elements given as far as they are known."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.shapes import as_shape
from everflow.ops import array
from everflow.ops.tensor_arrays.lists import element_shape_argument


def _build_element_shape(given):
    """The argument of an op for a shape, part of it (None or -1 for what isn't known), None or a tensor."""
    if isinstance(given, Tensor):
        return given
    if isinstance(given, int):
        raise TypeError(f"element_shape is a list of sizes, a TensorShape, a tensor or None; got {given}")
    if isinstance(given, (list, tuple)):
        given = [None if isinstance(size, int) and size == -1 else size for size in given]
    return element_shape_argument(as_shape(given))


def empty_tensor_list(element_shape, element_dtype, max_num_elements=None, name=None):
    """A list without elements, of at most so many."""
    return raw.EmptyTensorList(
        element_shape=_build_element_shape(element_shape),
        max_num_elements=-1 if max_num_elements is None else max_num_elements,
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_reserve(element_shape, num_elements, element_dtype, name=None):
    """A list of so many elements without values."""
    return raw.TensorListReserve(
        element_shape=_build_element_shape(element_shape),
        num_elements=num_elements,
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_from_tensor(tensor, element_shape, name=None):
    """The rows of a tensor as a list."""
    return raw.TensorListFromTensor(tensor=tensor, element_shape=_build_element_shape(element_shape), name=name)


def tensor_list_get_item(input_handle, index, element_dtype, element_shape=None, name=None):
    """One element."""
    return raw.TensorListGetItem(
        input_handle=input_handle,
        index=index,
        element_shape=_build_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_pop_back(input_handle, element_dtype, name=None):
    """The list without its last element, and that element."""
    return raw.TensorListPopBack(input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name)


def tensor_list_gather(input_handle, indices, element_dtype, element_shape=None, name=None):
    """Some elements as one tensor."""
    return raw.TensorListGather(
        input_handle=input_handle,
        indices=indices,
        element_shape=_build_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_scatter(tensor, indices, element_shape=None, input_handle=None, name=None):
    """The rows of a tensor as elements at these places: of a new list, or of one there is."""
    if input_handle is not None:
        return raw.TensorListScatterIntoExistingList(
            input_handle=input_handle, tensor=tensor, indices=indices, name=name
        )
    return raw.TensorListScatterV2(
        tensor=tensor, indices=indices, element_shape=_build_element_shape(element_shape), num_elements=-1, name=name
    )


def tensor_list_stack(input_handle, element_dtype, num_elements=-1, element_shape=None, name=None):
    """All elements as one tensor."""
    return raw.TensorListStack(
        input_handle=input_handle,
        element_shape=_build_element_shape(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )


def tensor_list_concat(input_handle, element_dtype, element_shape=None, name=None):
    """All elements joined along their first dimension."""
    return raw.TensorListConcatV2(
        input_handle=input_handle,
        element_dtype=element_dtype,
        element_shape=_build_element_shape(element_shape),
        leading_dims=array.constant([], dtypes.int64),
        name=name,
    )[0]


def tensor_list_split(tensor, element_shape, lengths, name=None):
    """Parts of these lengths of a tensor as a list."""
    return raw.TensorListSplit(
        tensor=tensor, element_shape=_build_element_shape(element_shape), lengths=lengths, name=name
    )


def tensor_list_set_item(input_handle, index, item, resize_if_index_out_of_bounds=False, name=None):
    """The list with another element at one place, made longer for it if that is wanted."""
    if resize_if_index_out_of_bounds:
        length = raw.TensorListLength(input_handle=input_handle)
        size = array.where(index >= length, index + 1, length)
        input_handle = raw.TensorListResize(input_handle=input_handle, size=size)
    return raw.TensorListSetItem(input_handle=input_handle, index=index, item=item, name=name)
