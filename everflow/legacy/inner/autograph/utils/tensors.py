"""tensorflow.python.autograph.utils' `tensors` and `tensor_list`: kinds of tensors, and a list in the graph."""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def is_dense_tensor(t: Any) -> bool:
    """Whether it is a tensor, rather than something made of several."""
    return isinstance(t, Tensor)


def is_tensor_array(t: Any) -> bool:
    """Whether it is a TensorArray."""
    return isinstance(t, TensorArray)


def is_tensor_list(t: Any) -> bool:
    """Whether it is a list of the graph: of any other variant nothing tells it."""
    return isinstance(t, Tensor) and t.dtype == dtypes.variant and not t.shape.rank


def is_range_tensor(t: Any) -> bool:
    """Whether it is what `tf.range` made."""
    return isinstance(t, Tensor) and not t.is_eager and t.op.type == "Range"


class TensorList:
    """A list of the graph that is used as one of Python."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.dtype, self.shape = dtypes.as_dtype(dtype), shape
        self.clear()

    def append(self, value: Any) -> None:
        """Put an element at the end."""
        self.list_ = raw.TensorListPushBack(input_handle=self.list_, tensor=convert_to_tensor(value, self.dtype))

    def pop(self) -> Tensor:
        """Take the last element away."""
        self.list_, last = raw.TensorListPopBack(
            input_handle=self.list_, element_shape=array.constant(-1), element_dtype=self.dtype
        )
        return last

    def clear(self) -> None:
        """Take all elements away."""
        self.list_ = raw.EmptyTensorList(
            element_shape=convert_to_tensor(self.shape, dtypes.int32), max_num_elements=-1, element_dtype=self.dtype
        )

    def count(self) -> Tensor:
        """How many elements it has."""
        return raw.TensorListLength(input_handle=self.list_)

    def __getitem__(self, key: Any) -> Tensor:
        return raw.TensorListGetItem(
            input_handle=self.list_, index=key, element_shape=array.constant(-1), element_dtype=self.dtype
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        self.list_ = raw.TensorListSetItem(
            input_handle=self.list_, index=key, item=convert_to_tensor(value, self.dtype)
        )


def dynamic_list_append(target: Any, element: Any) -> Any:
    """A list, TensorArray or list of the graph with one element more."""
    if isinstance(target, TensorArray):
        return target.write(target.size(), element)
    if isinstance(target, Tensor):
        return raw.TensorListPushBack(input_handle=target, tensor=element)
    target.append(element)
    return target
