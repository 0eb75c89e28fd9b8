"""TensorArrays and stacks: objects of one run that hold tensors by index or last-in-first-out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import UNKNOWN, same
from everflow.kernels.old_handles import OldHandle
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.tensors import AnyTensor, Value, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node


def _shape_of(value: AnyTensor) -> tuple[int, ...]:
    return tuple(value.shape)


def _zeros(dtype: DType, shape: Sequence[Any]) -> AnyTensor:
    if dtype is dtypes.string:
        return np.full(shape, b"", dtype=object)
    return torch.zeros(shape, dtype=torch_dtype(dtype))


class Array:
    """The elements of a TensorArray; None where nothing was written yet.

    Elements that were written all at once stay the rows of one tensor as long as nobody asks for one of them: to
    stack them again, and for machine code that goes through them, there is nothing to do then.
    """

    def __init__(
        self,
        dtype: DType,
        size: int,
        dynamic: bool,
        clear_after_read: bool,
        element_shape: TensorShape,
        identical: bool,
        accumulate: bool = False,
    ) -> None:
        self.dtype = dtype.base_dtype
        self._elements: list = [None] * size
        self._rows: torch.Tensor | None = None
        self.read = [False] * size
        self.dynamic = dynamic
        self.clear_after_read = clear_after_read
        self.element_shape = element_shape
        self.identical = identical
        self.fitting: Sequence[int] | None = None  # the shape that was written last
        # A gradient array sums what is written to one index.
        self.accumulate = accumulate
        self.gradients: dict[str, Array] = {}
        self.closed = False

    @property
    def elements(self) -> list:
        if self._rows is not None:
            self._elements, self._rows = list(self._rows.unbind(0)), None
        return self._elements

    @property
    def size(self) -> int:
        return len(self._elements)

    @property
    def has_rows(self) -> bool:
        return self._rows is not None

    def rows(self) -> torch.Tensor | None:
        """All elements as the rows of one tensor, if each is there and may be read."""
        if self.closed or any(self.read) and self.clear_after_read:
            return None
        if self._rows is None:
            elements = self._elements
            if not elements or any(not isinstance(e, torch.Tensor) or e.shape != elements[0].shape for e in elements):
                return None
            self._rows = torch.stack(elements)
        return self._rows

    def can_take_rows(self, dtype: DType, shape: TensorShape) -> bool:
        """Whether elements of this type and shape can be written to all places, since none is yet."""
        is_new = self._rows is None and not any(self.read) and all(e is None for e in self._elements)
        return is_new and not self.closed and dtype is self.dtype and self.element_shape.is_compatible_with(shape)

    def take_rows(self, rows: torch.Tensor) -> None:
        """Let the rows of a tensor be the elements, all at once."""
        self.grow(len(rows))
        if len(rows):
            self.check_shape(0, TensorShape(rows.shape[1:]))
        self._rows = rows

    def note_reads(self, positions: list[int]) -> None:
        """Some elements were read, by machine code."""
        for position in positions:
            self.read[position] = True
        if self.clear_after_read:
            if len(positions) == len(self._elements):
                self._elements, self._rows = [None] * len(self._elements), None
            else:
                for position in positions:
                    self.elements[position] = None

    def check_open(self) -> None:
        if self.closed:
            raise InvalidArgumentError(None, None, "TensorArray has already been closed.")

    def grow(self, size: int) -> None:
        missing = size - len(self._elements)
        if missing > 0:
            self.elements.extend([None] * missing)
            self.read.extend([False] * missing)

    def write(self, index: int, value: Value, dtype: DType) -> None:
        self.check_open()
        if dtype is not None and dtype.base_dtype is not self.dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"A TensorArray of {self.dtype.name} was given a value of {dtype.name} for index {index}; cast it before it is written",
            )
        if index < 0:
            raise InvalidArgumentError(
                None, None, f"Tried to write to index {index} of a TensorArray: indices must not be negative"
            )
        if index >= len(self.elements):
            if not self.dynamic:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Tried to write to index {index} of a TensorArray of size {len(self.elements)}; with dynamic_size=True it would grow",
                )
            self.grow(index + 1)
        if value.shape != self.fitting:
            self.check_shape(index, TensorShape(_shape_of(value)))
            self.fitting = value.shape
        if self.read[index] and self.clear_after_read:
            raise InvalidArgumentError(
                None, None, f"Could not write to TensorArray index {index} because it has already been read."
            )
        held = self.elements[index]
        if held is None:
            self.elements[index] = value
        elif self.accumulate:
            if _shape_of(held) != _shape_of(value):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Could not aggregate to TensorArray index {index} because the existing shape is {_shape_of(held)} but the new input shape is {_shape_of(value)}.",
                )
            self.elements[index] = held + value
        else:
            raise InvalidArgumentError(
                None, None, f"Could not write to TensorArray index {index} because it has already been written to."
            )

    def check_shape(self, index: int, shape: TensorShape) -> None:
        if not self.element_shape.is_compatible_with(shape):
            raise InvalidArgumentError(
                None,
                None,
                f"Could not write to TensorArray index {index} because the value shape is {shape} which is incompatible with the TensorArray's inferred element shape: {self.element_shape} (consider setting infer_shape=False).",
            )
        if self.identical and not self.element_shape.is_fully_defined():
            self.element_shape = self.element_shape.merge_with(shape)

    def get(self, index: int) -> Value:
        self.check_open()
        if not 0 <= index < len(self.elements):
            raise InvalidArgumentError(
                None, None, f"Tried to read from index {index} of a TensorArray of size {len(self.elements)}"
            )
        if self.read[index] and self.clear_after_read:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read index {index} twice: the first read cleared it. Make the TensorArray with clear_after_read=False to keep its elements",
            )
        value = self.elements[index]
        if value is None:
            if not self.element_shape.is_fully_defined():
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Could not read from TensorArray index {index}. Furthermore, the element shape is not fully defined: {self.element_shape}. It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.",
                )
            value = _zeros(self.dtype, self.element_shape.as_list())
        self.read[index] = True
        if self.clear_after_read:
            self.elements[index] = None
        return value

    def gradient(self, source: str, shape_to_prepend: tuple[int, ...] = ()) -> Array:
        self.check_open()
        if source not in self.gradients:
            array = Array(self.dtype, self.size, False, False, TensorShape(None), self.identical, accumulate=True)
            array.element_shape = TensorShape(shape_to_prepend).concatenate(self.element_shape)
            self.gradients[source] = array
            if not shape_to_prepend:
                # Elements known already give the gradients' shapes, so that unwritten ones read as zeros.
                for value in self._elements if self._rows is None else self._rows[:1]:
                    if value is not None and self.identical and not array.element_shape.is_fully_defined():
                        array.element_shape = array.element_shape.merge_with(TensorShape(_shape_of(value)))
        array = self.gradients[source]
        array.grow(self.size)
        return array


_FLOW = torch.zeros(())


@kernel("TensorArrayV3", "TensorArrayV2", "TensorArray")
def tensor_array(
    size: torch.Tensor,
    *,
    dtype: DType,
    element_shape: TensorShape,
    dynamic_size: bool,
    clear_after_read: bool,
    node: Node,
) -> tuple[Array, torch.Tensor] | Array:
    count = int(size)
    if count < 0:
        raise InvalidArgumentError(None, None, f"TensorArray size must be >= 0, but is {count}")
    array = Array(
        dtype, count, dynamic_size, clear_after_read, element_shape, node.attrs.get("identical_element_shapes", False)
    )
    return (array, _FLOW) if node.type == "TensorArrayV3" else array


@acting("TensorArrayGradV3", "TensorArrayGradV2", "TensorArrayGrad", result=UNKNOWN)
def tensor_array_grad(
    handle: Array, flow_in: torch.Tensor, *, source: str, node: Node
) -> tuple[Array, torch.Tensor] | Array:
    array = handle.gradient(source)
    return (array, _FLOW) if node.type == "TensorArrayGradV3" else array


@acting("TensorArrayGradWithShape", result=UNKNOWN)
def tensor_array_grad_with_shape(
    handle: Array, flow_in: torch.Tensor, shape_to_prepend: torch.Tensor, *, source: str
) -> tuple[Array, torch.Tensor]:
    return handle.gradient(source, tuple(shape_to_prepend.tolist())), _FLOW


@acting("TensorArrayReadV3", "TensorArrayReadV2", "TensorArrayRead", result=UNKNOWN, numbers=(1,))
def tensor_array_read(handle: Array, index: torch.Tensor | int, flow_in: torch.Tensor, *, dtype: DType) -> Value:
    if handle.dtype is not dtype.base_dtype:
        raise InvalidArgumentError(
            None, None, f"TensorArray dtype is {handle.dtype.name} but Op requested dtype {dtype.name}."
        )
    return handle.get(int(index))


@acting("TensorArrayWriteV3", "TensorArrayWriteV2", "TensorArrayWrite", result=same(3), keeps=(2,), numbers=(1,))
def tensor_array_write(
    handle: Array, index: torch.Tensor | int, value: AnyTensor, flow_in: torch.Tensor, *, T: DType
) -> torch.Tensor:
    handle.write(int(index), value, T)
    return flow_in


@acting("TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather")
def tensor_array_gather(
    handle: Array, indices: torch.Tensor, flow_in: torch.Tensor, *, dtype: DType, element_shape: TensorShape
) -> AnyTensor:
    if handle.dtype is not dtype.base_dtype:
        raise InvalidArgumentError(
            None, None, f"TensorArray dtype is {handle.dtype.name} but Op requested dtype {dtype.name}."
        )
    positions = indices.tolist()
    if not positions:
        shape = (
            handle.element_shape.merge_with(element_shape)
            if handle.element_shape.is_compatible_with(element_shape)
            else element_shape
        )
        if not shape.is_fully_defined():
            raise UnimplementedError(
                None,
                None,
                "TensorArray has size zero, but element shape is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.",
            )
        return _zeros(handle.dtype, [0, *shape.as_list()])
    if handle.has_rows and positions == list(range(handle.size)) and (rows := handle.rows()) is not None:
        handle.note_reads(positions)
        return rows.clone()
    return _stack([handle.get(i) for i in positions])


@acting("TensorArrayPack")
def tensor_array_pack(handle: Array, flow_in: torch.Tensor, *, dtype: DType, element_shape: TensorShape) -> AnyTensor:
    """All elements: what graphs had before they could gather some."""
    return tensor_array_gather(handle, torch.arange(handle.size), flow_in, dtype=dtype, element_shape=element_shape)


@acting("TensorArrayUnpack", result=same(2), keeps=(1,))
def tensor_array_unpack(handle: Array, value: AnyTensor, flow_in: torch.Tensor, *, T: DType) -> torch.Tensor:
    return tensor_array_scatter(handle, torch.arange(len(value)), value, flow_in, T=T)


def _stack(values: list[Value]) -> Value:
    first = _shape_of(values[0])
    for i, value in enumerate(values):
        if _shape_of(value) != first:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray has inconsistent shapes. Index 0 has shape: {list(first)} but index {i} has shape: {list(_shape_of(value))}",
            )
    return np.stack(values) if isinstance(values[0], np.ndarray) else torch.stack(values)


@acting("TensorArrayScatterV3", "TensorArrayScatterV2", "TensorArrayScatter", result=same(3), keeps=(2,))
def tensor_array_scatter(
    handle: Array, indices: torch.Tensor, value: AnyTensor, flow_in: torch.Tensor, *, T: DType
) -> torch.Tensor:
    positions = indices.tolist()
    if _shape_of(value)[:1] != (len(positions),):
        raise InvalidArgumentError(
            None,
            None,
            f"Expected len(indices) == values.shape[0], but saw: {len(positions)} vs. {_shape_of(value)[0] if _shape_of(value) else 'a scalar'}",
        )
    if positions and handle.dynamic:
        handle.grow(max(positions) + 1)
    if (
        isinstance(value, torch.Tensor)
        and positions == list(range(handle.size))
        and handle.can_take_rows(T.base_dtype, TensorShape(value.shape[1:]))
    ):
        handle.take_rows(value)
        return flow_in
    for index, element in zip(
        positions, value.unbind(0) if isinstance(value, torch.Tensor) else [np.asarray(v, dtype=object) for v in value]
    ):
        handle.write(index, element, T)
    return flow_in


@acting("TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat")
def tensor_array_concat(
    handle: Array, flow_in: torch.Tensor, *, element_shape_except0: TensorShape
) -> tuple[AnyTensor, torch.Tensor]:
    if not handle.elements:
        rest = handle.element_shape[1:] if handle.element_shape.rank else element_shape_except0
        if not rest.is_fully_defined():
            raise UnimplementedError(
                None, None, "TensorArray has size zero, but element_shape_except0 is not fully defined."
            )
        return _zeros(handle.dtype, [0, *rest.as_list()]), torch.zeros(0, dtype=torch.int64)
    values = [handle.get(i) for i in range(len(handle.elements))]
    for i, value in enumerate(values):
        if not _shape_of(value):
            raise InvalidArgumentError(
                None,
                None,
                f"A TensorArray is concatenated along the first axis of its elements, but the one at index {i} is a scalar; stack() takes scalars",
            )
        if _shape_of(value)[1:] != _shape_of(values[0])[1:]:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray has inconsistent shapes. Index 0 has (excepting dimension 0) shape: {list(_shape_of(values[0])[1:])} but index {i} has {list(_shape_of(value)[1:])}",
            )
    lengths = torch.tensor([_shape_of(v)[0] for v in values], dtype=torch.int64)
    return (np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(values)), lengths


@acting("TensorArraySplitV3", "TensorArraySplitV2", "TensorArraySplit", result=same(3), keeps=(1,))
def tensor_array_split(
    handle: Array, value: AnyTensor, lengths: torch.Tensor, flow_in: torch.Tensor, *, T: DType
) -> torch.Tensor:
    sizes = lengths.tolist()
    if not _shape_of(value):
        raise InvalidArgumentError(
            None,
            None,
            "A scalar can't be split over the elements of a TensorArray: the value needs a first axis to be cut along",
        )
    if sum(sizes) != _shape_of(value)[0]:
        raise InvalidArgumentError(
            None,
            None,
            f"The lengths to split into add up to {sum(sizes)}, but the value has shape {list(_shape_of(value))}: its first axis must be used up exactly",
        )
    if not handle.dynamic and len(sizes) != len(handle.elements):
        raise InvalidArgumentError(
            None,
            None,
            f"A value was split into {len(sizes)} parts for a TensorArray of size {len(handle.elements)}; with dynamic_size=True its size would follow",
        )
    start = 0
    for index, size in enumerate(sizes):
        handle.write(index, value[start : start + size], T)
        start += size
    return flow_in


@reading("TensorArraySizeV3", "TensorArraySizeV2", "TensorArraySize")
def tensor_array_size(handle: Array, flow_in: torch.Tensor) -> torch.Tensor:
    return torch.tensor(handle.size, dtype=torch.int32)


@acting("TensorArrayCloseV3", "TensorArrayCloseV2", "TensorArrayClose")
def tensor_array_close(handle: Array) -> None:
    handle.closed = True
    handle.elements.clear()
    handle.read.clear()


# --- stacks, on which loops save what their gradients need -----------------------------------


class Stack(OldHandle):
    """Values, the last one on top. Those that machine code pushed stay the rows of one tensor until one is popped."""

    container = b"_stacks"

    def __init__(self, dtype: DType, limit: int) -> None:
        self.name = f"Stack_{id(self)}"  # as long as it lives no other one has it
        self.dtype = dtype
        self.limit = limit
        self._values: list = []
        self._rows: torch.Tensor | None = None
        self.closed = False

    @property
    def values(self) -> list:
        if self._rows is not None:
            self._values, self._rows = list(self._rows.unbind(0)), None
        return self._values

    @property
    def is_empty(self) -> bool:
        return self._rows is None and not self._values

    def rows(self) -> torch.Tensor | None:
        """All values as rows, the last one on top, where they are of one shape."""
        if self._rows is None:
            values = self._values
            if not values or any(not isinstance(v, torch.Tensor) or v.shape != values[0].shape for v in values):
                return None
            self._values, self._rows = [], torch.stack(values)
        return self._rows

    def set_rows(self, rows: torch.Tensor) -> None:
        """Hold these rows instead of what there was."""
        self._values, self._rows = [], rows if len(rows) else None


@kernel("StackV2")
def stack(max_size: torch.Tensor, *, elem_type: DType) -> Stack:
    return Stack(elem_type, int(max_size))


@kernel("Stack")
def old_stack(*, elem_type: DType) -> Stack:
    return Stack(elem_type, -1)


@acting("StackPushV2", "StackPush", result=same(1), keeps=(1,))
def stack_push(handle: Stack, elem: Value) -> Value:
    if handle.closed:
        raise InvalidArgumentError(None, None, "Stack has already been closed.")
    if 0 <= handle.limit <= len(handle.values):
        raise InvalidArgumentError(None, None, f"Stack overflow: it holds its maximum size of {handle.limit} elements")
    handle.values.append(elem)
    return elem


@acting("StackPopV2", "StackPop", result=UNKNOWN)
def stack_pop(handle: Stack, *, elem_type: DType) -> Value:
    if elem_type is not handle.dtype:
        raise InvalidArgumentError(None, None, f"The stack holds {handle.dtype.name}, not {elem_type.name}")
    if not handle.values:
        raise InvalidArgumentError(None, None, "Stack is empty when calling Pop()")
    return handle.values.pop()


@acting("StackCloseV2", "StackClose")
def stack_close(handle: Stack) -> None:
    if handle.closed:
        raise FailedPreconditionError(None, None, "Stack has already been closed.")
    handle.closed = True
    handle.values.clear()
