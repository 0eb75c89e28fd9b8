"""tensorflow.python.autograph.operators.data_structures: lists of Python, of the graph, and TensorArrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array
from everflow.ops.autograph import lists
from everflow.ops.autograph.lists import list_append  # noqa: F401  a name of this module
from everflow.ops.tensor_arrays.tensor_array import TensorArray


class ListPopOpts(NamedTuple):
    """What is known of a list that an element is taken from."""

    element_dtype: Any
    element_shape: Any


class ListStackOpts(NamedTuple):
    """What is known of a list that is stacked, and the function that was called for it."""

    element_dtype: Any
    original_call: Callable[[Any], Any]


def new_list(iterable: Iterable | None = None) -> Any:
    """A list of the elements: of Python, or of the graph where there are none."""
    elements = tuple(iterable) if iterable else ()
    return list(elements) if elements else tf_tensor_list_new(elements)


def tf_tensor_array_new(elements: Sequence, element_dtype: Any = None, element_shape: Any = None) -> TensorArray:
    """A TensorArray of the elements."""
    dtype, shape, given = _kind(elements, element_dtype, element_shape, "TensorArray")
    made = TensorArray(
        dtype, size=len(given), dynamic_size=True, infer_shape=element_shape is None, element_shape=shape
    )
    for position, element in enumerate(given):
        made = made.write(position, element)
    return made


def tf_tensor_list_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> Tensor:
    """A list of the graph with the elements."""
    if isinstance(elements, Tensor):
        if element_shape is not None:
            raise ValueError("A tensor tells the shape of its elements itself: don't give element_shape")
        return raw.TensorListFromTensor(tensor=elements, element_shape=array.shape(elements)[1:])
    if not elements and element_dtype is None:
        element_dtype = dtypes.variant
    dtype, shape, given = _kind(elements, element_dtype, element_shape, "list", of_one_shape=False)
    held = raw.EmptyTensorList(
        element_shape=convert_to_tensor(-1 if shape is None else shape, dtypes.int32),
        max_num_elements=-1,
        element_dtype=dtype,
    )
    for element in given:
        held = raw.TensorListPushBack(input_handle=held, tensor=element)
    return held


def _kind(
    elements: Sequence, dtype: Any, shape: Any, what: str, of_one_shape: bool = True
) -> tuple[dtypes.DType, Any, list[Tensor]]:
    """(type, shape, the elements as tensors); ValueError where they aren't of one kind."""
    given = [convert_to_tensor(element) for element in elements]
    if dtype is None and not given:
        raise ValueError(f"A {what} without elements needs element_dtype")
    found = {element.dtype.base_dtype for element in given} | ({dtypes.as_dtype(dtype)} if dtype is not None else set())
    if len(found) > 1:
        raise ValueError(f"The elements of a {what} must be of one type, not of {sorted(t.name for t in found)}")
    sizes = {tuple(element.shape.as_list()) for element in given}
    if shape is not None:
        sizes.add(tuple(shape))
    if len(sizes) > 1 and (of_one_shape or shape is not None):
        raise ValueError(f"The elements of a {what} must be of one shape, not of {sorted(sizes)}")
    return found.pop(), sizes.pop() if len(sizes) == 1 else None, given


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """(the list without an element, the element): the last where `i` is None, as lists of the graph have it only."""
    if not isinstance(opts, ListPopOpts):
        raise AssertionError(f"opts must be ListPopOpts, not {opts!r}")
    if isinstance(list_, TensorArray):
        raise ValueError("A TensorArray has no element that could be taken away")
    if not lists._is_list(list_):
        return list_, list_.pop() if i is None else list_.pop(i)
    if i is not None:
        raise NotImplementedError("Of a list of the graph only the last element can be taken away")
    return lists.list_pop(list_, (opts.element_dtype, opts.element_shape))


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The elements as one tensor; of a Python list what the function that was called makes of it."""
    if not isinstance(opts, ListStackOpts):
        raise AssertionError(f"opts must be ListStackOpts, not {opts!r}")
    if lists._is_list(list_) or isinstance(list_, TensorArray):
        return lists.stack(list_, opts.element_dtype)
    return opts.original_call(list_)
