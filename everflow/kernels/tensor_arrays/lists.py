"""Lists of tensors as values: what TensorArrays in functions are, and what functional loops keep of each iteration for
their gradients.

A list is never changed. One that is made from another takes over its elements, and the old one remembers how to get
back: so a loop that sets, pushes or pops one element after the other takes constant time for each. An element that was
reserved but not set is None, and reads as zeros.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.kernels.array.basic import zeros_like
from everflow.kernels.facts import Effect, same
from everflow.kernels.queues.queues import shape_text
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, Value, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape

_taking_over = renewed(threading.Lock())


class TensorList:
    """A list of tensors that stays as it is, whatever is made from it.

    `sizes` are those of an element as far as known, None for any; `most` is how many it may have, None for any number;
    `element_dtype` is the elements' where that was said.
    """

    __slots__ = ("_items", "_newer", "_undo", "element_dtype", "length", "most", "sizes")

    def __init__(
        self,
        items: Iterable[Value] = (),
        sizes: list[int] | None = None,
        most: int | None = None,
        dtype: DType | None = None,
    ) -> None:
        held = items if isinstance(items, list) else list(items)
        self._items: list[Value] | None = held
        self.length = len(held)
        self.sizes = sizes
        self.most = most
        self.element_dtype = dtype
        # Once another list has taken over the elements: that list, and which range of it stands for which elements
        # here.
        self._newer: Any = None
        self._undo: Any = None

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items())

    def items(self) -> list:
        """The elements, in a list of the caller's own."""
        with _taking_over:
            return list(self._owned())

    def __getitem__(self, index: int) -> Value:
        with _taking_over:
            at = self
            while at._items is None:
                start, end, before = at._undo
                if start <= index < start + len(before):
                    return before[index - start]
                if index >= start and end - start != len(before):
                    return self._owned()[index]  # elements behind a change of length have moved
                at = at._newer
            return at._items[index]

    def _owned(self) -> list[Value]:
        """The elements as a list of this one's own, copied from a newer list where that has taken them."""
        if self._items is None:
            undone, at = [], self
            while at._items is None:
                undone.append(at._undo)
                at = at._newer
            items = list(at._items)
            for start, end, before in reversed(undone):
                items[start:end] = before
            self._items, self._newer, self._undo = items, None, None
        return self._items

    def replaced(self, start: int, end: int, items: list[Value]) -> TensorList:
        """The list with other elements in a range; at its end they may be more or fewer."""
        with _taking_over:
            owned = self._owned()
            before = owned[start:end]
            owned[start:end] = items
            made = TensorList(owned, self.sizes, self.most, self.element_dtype)
            self._items, self._newer, self._undo = None, made, (start, start + len(items), before)
            return made

    def __add__(self, other: TensorList) -> TensorList:
        if self.length != other.length:
            raise InvalidArgumentError(
                None, None, f"Trying to add two lists of tensors of different lengths: {self.length}, {other.length}"
            )
        summed = (b if a is None else a if b is None else a + b for a, b in zip(self, other))
        return TensorList(summed, self.sizes, dtype=self.element_dtype)

    def zeros(self) -> TensorList:
        """A list as long as this one, of zeros."""
        return TensorList((None if x is None else zeros_like(x) for x in self), self.sizes, dtype=self.element_dtype)

    @property
    def shape(self) -> torch.Size:
        return torch.Size([])


def _error(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _agree(input_list: TensorList, dtype: DType) -> None:
    """Elements of a list are taken as what they are."""
    if input_list.element_dtype is not None and input_list.element_dtype is not dtype:
        raise _error(f"Invalid data types; op elements {dtype.name} but list elements {input_list.element_dtype.name}")


def _sizes(shape: torch.Tensor) -> list[int] | None:
    """Sizes from a shape tensor; None where the scalar -1 stands for any."""
    return None if shape.ndim == 0 else shape.tolist()


def _fit(one: list[int] | None, other: list[int] | None) -> list[int] | None:
    """What two descriptions of an element's sizes say together."""
    if one is None or other is None:
        return other if one is None else one
    if len(one) != len(other) or any(a != b and a >= 0 and b >= 0 for a, b in zip(one, other)):
        raise _error(
            f"Tried to get elements of shape {shape_text(other)} from a list with elements of shape {shape_text(one)}"
        )
    return [max(a, b) for a, b in zip(one, other)]


def _blank(items: Iterable[Value], sizes: list[int] | None, dtype: DType) -> AnyTensor:
    """The zeros that an element reads as which was never set."""
    for item in items:
        if item is not None:
            sizes = _fit(sizes, list(item.shape))
    if sizes is None or any(n < 0 for n in sizes):
        known = "<unknown>" if sizes is None else shape_text([None if n < 0 else n for n in sizes])
        raise _error(
            f"Trying to read an uninitialized tensor but element_shape is not fully defined: {known} and no list element is set."
        )
    return np.full(sizes, b"", object) if dtype is dtypes.string else torch.zeros(sizes, dtype=torch_dtype(dtype))


def _filled(items: list[Value], input_list: TensorList, element_shape: torch.Tensor, dtype: DType) -> list:
    """Elements with zeros for those that were never set."""
    if all(item is not None for item in items):
        return items
    blank = _blank(items, _fit(input_list.sizes, _sizes(element_shape)), dtype)
    return [blank if item is None else item for item in items]


def _stacked(items: list[Value], sizes: list[int] | None, dtype: DType) -> AnyTensor:
    if not items:
        if sizes is None or any(n < 0 for n in sizes):
            raise _error("Tried to stack elements of an empty list with non-fully-defined element_shape")
        return (
            np.empty([0, *sizes], object)
            if dtype is dtypes.string
            else torch.zeros([0, *sizes], dtype=torch_dtype(dtype))
        )
    _fit(sizes, list(items[0].shape))
    return torch.stack(items) if isinstance(items[0], torch.Tensor) else np.stack(items)


def _rows(tensor: AnyTensor) -> list[AnyTensor]:
    return list(tensor.unbind(0)) if isinstance(tensor, torch.Tensor) else [np.asarray(row, object) for row in tensor]


# --- growing and shrinking -----------------------------------------------------------------------


@fresh("EmptyTensorList")
def empty_tensor_list(
    element_shape: torch.Tensor, max_num_elements: torch.Tensor, *, element_dtype: DType
) -> TensorList:
    most = int(max_num_elements)
    return TensorList(sizes=_sizes(element_shape), most=None if most < 0 else most, dtype=element_dtype)


@fresh("TensorListReserve")
def tensor_list_reserve(element_shape: torch.Tensor, num_elements: torch.Tensor, *, element_dtype: DType) -> TensorList:
    return TensorList([None] * int(num_elements), _sizes(element_shape), dtype=element_dtype)


@kernel("TensorListPushBack", result=same(0, 1))
def tensor_list_push_back(input_handle: TensorList, tensor: Value, *, element_dtype: DType) -> TensorList:
    _agree(input_handle, element_dtype)
    if input_handle.length == input_handle.most:
        raise _error(
            f"Tried to push item into a full list: list size: {input_handle.length} max_num_elements: {input_handle.most}"
        )
    sizes = input_handle.sizes
    if sizes is not None and (
        len(sizes) != len(tensor.shape) or any(n not in (-1, m) for n, m in zip(sizes, tensor.shape))
    ):
        raise _error(
            "Tried to append a tensor with incompatible shape to a list. "
            f"Op element shape: {shape_text(tensor.shape)} list shape: {shape_text(sizes)}"
        )
    return input_handle.replaced(input_handle.length, input_handle.length, [tensor])


@kernel("TensorListPushBackBatch", result=same(0, 1))
def tensor_list_push_back_batch(input_handles: np.ndarray, tensor: AnyTensor, *, element_dtype: DType) -> np.ndarray:
    """A row of a tensor pushed to each of many lists."""
    if len(input_handles) != len(tensor):
        raise _error(f"{len(input_handles)} lists want as many rows, not {len(tensor)}")
    longer = np.empty(len(input_handles), object)
    longer[:] = [
        tensor_list_push_back(each, row, element_dtype=element_dtype)
        for each, row in zip(input_handles, _rows(tensor), strict=True)
    ]
    return longer


@kernel("TensorListPopBack", result=same(0))
def tensor_list_pop_back(
    input_handle: TensorList, element_shape: torch.Tensor, *, element_dtype: DType
) -> tuple[TensorList, Value]:
    end = input_handle.length
    if not end:
        raise _error("Trying to pop from an empty list.")
    _agree(input_handle, element_dtype)
    last = input_handle[end - 1]
    if last is None:
        last = _blank(input_handle, _fit(input_handle.sizes, _sizes(element_shape)), element_dtype)
    else:
        _fit(list(last.shape), _sizes(element_shape))
    return input_handle.replaced(end - 1, end, []), last


@kernel("TensorListResize", result=same(0), effect=Effect.PURE)
def tensor_list_resize(input_handle: TensorList, size: torch.Tensor) -> TensorList:
    wanted = int(size)
    if wanted < 0:
        raise _error(f"TensorListSlice expects size to be non-negative. Got: {wanted}")
    kept = min(wanted, input_handle.length)
    return input_handle.replaced(kept, input_handle.length, [None] * (wanted - kept))


@kernel("TensorListConcatLists", result=same(0, 1))
def tensor_list_concat_lists(input_a: Any, input_b: Any, *, element_dtype: DType) -> Any:
    if isinstance(input_a, np.ndarray) and np.shape(input_b) == input_a.shape:  # one pair after the other
        joined = np.empty(input_a.shape, dtype=object)
        for index in np.ndindex(*input_a.shape):
            joined[index] = tensor_list_concat_lists(input_a[index], input_b[index], element_dtype=element_dtype)
        return joined
    for each in (input_a, input_b):
        if not isinstance(each, TensorList):
            raise _error("Only a list can be concatenated to a list, not many of them")
        _agree(each, element_dtype)
    return TensorList([*input_a, *input_b], input_a.sizes, dtype=element_dtype)


# --- looking -------------------------------------------------------------------------------------


@fresh("TensorListLength")
def tensor_list_length(input_handle: TensorList) -> torch.Tensor:
    return torch.tensor(input_handle.length, dtype=torch.int32)


@fresh("TensorListElementShape")
def tensor_list_element_shape(input_handle: TensorList, *, shape_type: DType) -> torch.Tensor:
    return torch.tensor(-1 if input_handle.sizes is None else input_handle.sizes, dtype=torch_dtype(shape_type))


@kernel("TensorListGetItem", result=same(0))
def tensor_list_get_item(
    input_handle: TensorList, index: torch.Tensor, element_shape: torch.Tensor, *, element_dtype: DType
) -> Value:
    _agree(input_handle, element_dtype)
    if not 0 <= int(index) < input_handle.length:
        raise _error(f"Trying to access element {int(index)} in a list with {input_handle.length} elements.")
    item = input_handle[int(index)]
    return (
        _blank(input_handle, _fit(input_handle.sizes, _sizes(element_shape)), element_dtype) if item is None else item
    )


@fresh("TensorListStack")
def tensor_list_stack(
    input_handle: TensorList, element_shape: torch.Tensor, *, element_dtype: DType, num_elements: int
) -> AnyTensor:
    _agree(input_handle, element_dtype)
    if num_elements >= 0 and input_handle.length != num_elements:
        raise _error(
            f"Operation expected a list with {num_elements} elements but got a list with {input_handle.length} elements."
        )
    items = _filled(input_handle.items(), input_handle, element_shape, element_dtype)
    return _stacked(items, _fit(input_handle.sizes, _sizes(element_shape)), element_dtype)


@fresh("TensorListGather")
def tensor_list_gather(
    input_handle: TensorList, indices: torch.Tensor, element_shape: torch.Tensor, *, element_dtype: DType
) -> AnyTensor:
    _agree(input_handle, element_dtype)
    for index in indices.tolist():
        if not 0 <= index < input_handle.length:
            raise _error(f"Index {index} out of range; list only has {input_handle.length} elements.")
    # Elements that aren't gathered don't tell the shape of one that was never set.
    gathered = [input_handle[i] for i in indices.tolist()]
    items = _filled(gathered, input_handle, element_shape, element_dtype)
    return _stacked(items, _fit(input_handle.sizes, _sizes(element_shape)), element_dtype)


def _joined(
    input_list: TensorList, sizes: list[int] | None, leading: list[Any], dtype: DType
) -> tuple[AnyTensor, torch.Tensor]:
    """All elements one after the other along their first axis, and how long each is."""
    _agree(input_list, dtype)
    items = input_list.items()
    for i, item in enumerate(items):
        if item is None and i < len(leading):
            rest = _fit(sizes, input_list.sizes) or [-1]
            items[i] = _blank([], [leading[i], *rest[1:]], dtype)
    if any(item is None for item in items):
        blank = _blank(items, _fit(sizes, input_list.sizes), dtype)
        items = [blank if item is None else item for item in items]
    lengths = torch.tensor([len(item) for item in items], dtype=torch.int64)
    if not items:
        rest = (_fit(sizes, input_list.sizes) or [-1, -1])[1:]
        return _stacked([], rest, dtype), lengths
    if any(not item.ndim for item in items) or len({tuple(item.shape[1:]) for item in items}) > 1:
        shapes = ", ".join(shape_text(item.shape) for item in items)
        raise _error(f"Tried to concat tensors whose shapes differ behind their first axis: {shapes}")
    return (torch.cat(items) if isinstance(items[0], torch.Tensor) else np.concatenate(items)), lengths


@fresh("TensorListConcat")
def tensor_list_concat(
    input_handle: TensorList, *, element_dtype: DType, element_shape: TensorShape
) -> tuple[AnyTensor, torch.Tensor]:
    sizes = None if element_shape.ndims is None else [-1 if n is None else n for n in element_shape.as_list()]
    return _joined(input_handle, sizes, [], element_dtype)


@fresh("TensorListConcatV2")
def tensor_list_concat_v2(
    input_handle: TensorList, element_shape: torch.Tensor, leading_dims: torch.Tensor, *, element_dtype: DType
) -> tuple[AnyTensor, torch.Tensor]:
    return _joined(input_handle, _sizes(element_shape), leading_dims.tolist(), element_dtype)


# --- taking tensors apart ------------------------------------------------------------------------


@kernel("TensorListFromTensor", result=same(0))
def tensor_list_from_tensor(tensor: torch.Tensor, element_shape: torch.Tensor, *, element_dtype: DType) -> TensorList:
    if not tensor.ndim:
        raise _error("Tensor must be at least a vector, but saw shape: []")
    _fit(_sizes(element_shape), list(tensor.shape[1:]))
    return TensorList(_rows(tensor), _sizes(element_shape), dtype=element_dtype)


@kernel("TensorListSplit", result=same(0))
def tensor_list_split(
    tensor: torch.Tensor, element_shape: torch.Tensor, lengths: torch.Tensor, *, element_dtype: DType
) -> TensorList:
    if lengths.ndim != 1:
        raise _error(f"The lengths must be a vector; theirs is the shape {shape_text(lengths.shape)}")
    items, begin = [], 0
    for length in lengths.tolist():
        if length < 0:
            raise _error(f"Invalid value in lengths: {length}")
        if begin + length > len(tensor):
            raise _error(f"Attempting to slice [{begin}, {begin + length}] from tensor with length {len(tensor)}")
        items.append(tensor[begin : begin + length])
        begin += length
    if begin != len(tensor):
        raise _error(f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {begin}")
    for item in items:
        _fit(_sizes(element_shape), list(item.shape))
    return TensorList(items, _sizes(element_shape), dtype=element_dtype)


@kernel("TensorListSetItem", result=same(0, 2))
def tensor_list_set_item(
    input_handle: TensorList, index: torch.Tensor, item: torch.Tensor, *, element_dtype: DType
) -> TensorList:
    _agree(input_handle, element_dtype)
    if not 0 <= int(index) < input_handle.length:
        raise _error(f"Trying to modify element {int(index)} in a list with {input_handle.length} elements.")
    return input_handle.replaced(int(index), int(index) + 1, [item])


def _scattered(items: list[torch.Tensor | None], tensor: torch.Tensor, indices: torch.Tensor) -> list:
    """Elements with the rows of a tensor at these places; the list grows where it is too short."""
    places = indices.tolist()
    if any(i < 0 for i in places):
        raise _error("Indices in TensorListScatter must all be non-negative.")
    items = items + [None] * (max(places, default=-1) + 1 - len(items))
    for i, row in zip(places, _rows(tensor), strict=True):
        items[i] = row
    return items


@kernel("TensorListScatter", result=same(0))
def tensor_list_scatter(
    tensor: torch.Tensor, indices: torch.Tensor, element_shape: torch.Tensor, *, element_dtype: DType
) -> TensorList:
    return TensorList(_scattered([], tensor, indices), _sizes(element_shape), dtype=element_dtype)


@kernel("TensorListScatterV2", result=same(0))
def tensor_list_scatter_v2(
    tensor: torch.Tensor,
    indices: torch.Tensor,
    element_shape: torch.Tensor,
    num_elements: torch.Tensor,
    *,
    element_dtype: DType,
) -> TensorList:
    count = int(num_elements)
    items = _scattered([None] * max(count, 0), tensor, indices)
    if count >= 0 and len(items) > count:
        raise _error(f"TensorListScatter: Trying to scatter at index {int(indices.max())} in list with size {count}")
    return TensorList(items, _sizes(element_shape), dtype=element_dtype)


@kernel("TensorListScatterIntoExistingList", result=same(0, 1))
def tensor_list_scatter_into_existing_list(
    input_handle: TensorList, tensor: torch.Tensor, indices: torch.Tensor, *, element_dtype: DType
) -> TensorList:
    _agree(input_handle, element_dtype)
    scattered = _scattered(input_handle.items(), tensor, indices)
    return TensorList(scattered, input_handle.sizes, dtype=input_handle.element_dtype)
