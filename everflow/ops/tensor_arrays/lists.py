"""Lists of tensors as values of a graph: shapes and gradients.

What is known of a list's elements is said by the op that began it; rules follow a handle back to that.
"""

from __future__ import annotations

import weakref

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.functions import FuncGraph
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape, scalar
from everflow.framework.static_values import known_value
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.shape_rules import scalar_output

shape_rule(
    *(
        "EmptyTensorList",
        "TensorListLength",
        "TensorListReserve",
        "TensorListResize",
    ),
    *("TensorListScatter", "TensorListScatterV2"),
    "TensorListScatterIntoExistingList",
)(scalar_output)


# Where ops that begin lists say the shape of elements; other ops hand the list on that they are given first.
_BEGINNINGS = {
    "EmptyTensorList": 0,
    "TensorListReserve": 0,
    "TensorListFromTensor": 1,
    "TensorListSplit": 1,
    "TensorListScatter": 2,
    "TensorListScatterV2": 2,
}
_HANDING_ON = frozenset(
    [
        "AddN",
        "Identity",
        "ZerosLike",
        "TensorListPushBack",
        "TensorListPopBack",
        "TensorListSetItem",
        "TensorListResize",
        "TensorListConcatLists",
        "TensorListPushBackBatch",
        "Pack",
    ]
    + ["TensorListScatterIntoExistingList"]
)
# Op → the one that began its list, by a weak reference: graphs live no longer for it.
_begun_by: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _beginning(handle):
    """The op that began a list, or another one where that can't be told."""
    op, passed = handle.op, []
    if op.type == "TensorListPopBack" and handle.value_index:
        return op  # an element, which is a list itself
    while (known := _begun_by.get(op, _unknown)()) is None:
        outside = _captured(op) if op.type == "Placeholder" else None
        if outside is None and op.type not in _HANDING_ON:
            break
        passed.append(op)
        op = op.inputs[0].op if outside is None else outside.op
    began = known or op
    for later in passed:
        _begun_by[later] = weakref.ref(began)
    return began


def _unknown():
    """What a reference to nothing gives."""
    return None


def _captured(op):
    """The list of the graph around that an input of a function's body stands for, or None."""
    captures = op.graph._captures if isinstance(op.graph, FuncGraph) else {}
    return next((t for t, inside in captures.items() if inside.op is op and not t.is_eager), None)


def _listed_shape(handle, said=None, dtype=None):
    """What is known of the elements of a list: by what is said of it here, and when it began."""
    began = _beginning(handle)
    shape = TensorShape(None) if said is None else _element_shape(said)
    if began.type not in _BEGINNINGS:
        return shape
    own = began.attrs["element_dtype"]
    if dtype is not None and dtype.base_dtype != own:
        raise ValueError(f"The list has elements of {own.name}; this op is for elements of {dtype.name}")
    return shape.merge_with(_element_shape(began.inputs[_BEGINNINGS[began.type]]))


@shape_rule("TensorListPushBack")
def _push_shape(op):
    _listed_shape(op.inputs[0], dtype=op.inputs[1].dtype)
    return scalar()


@shape_rule("TensorListConcatLists")
def _concat_lists_shape(op):
    for handle in op.inputs:
        _listed_shape(handle, dtype=op.attrs["element_dtype"])
    first, second = (handle.shape for handle in op.inputs)
    return [first.merge_with(second)]


@shape_rule("TensorListSplit")
def _split_shape(op):
    rows = op.inputs[0].shape.with_rank_at_least(1)
    if rows.rank is not None:
        # How many rows a part has is told by the lengths, which need not be known.
        TensorShape([None]).concatenate(rows[1:]).merge_with(_element_shape(op.inputs[1]))
    return scalar()


@shape_rule("TensorListPushBackBatch")
def _push_batch_shape(op):
    return op.inputs[0].shape.with_rank(1)


@shape_rule("TensorListFromTensor")
def _from_tensor_shape(op):
    rows = op.inputs[0].shape
    if rows.rank:
        rows[1:].merge_with(_element_shape(op.inputs[1]))
    return scalar()


@shape_rule("TensorListSetItem")
def _set_shape(op):
    op.inputs[2].shape.merge_with(_listed_shape(op.inputs[0]))
    return scalar()


@shape_rule("TensorListPopBack")
def _pop_shapes(op):
    return [scalar(), _listed_shape(op.inputs[0], op.inputs[1], op.attrs["element_dtype"])]


@shape_rule("TensorListGetItem")
def _item_shape(op):
    return _listed_shape(op.inputs[0], op.inputs[2], op.attrs["element_dtype"])


@shape_rule("TensorListStack")
def _stack_shape(op):
    element = _listed_shape(op.inputs[0], op.inputs[1], op.attrs["element_dtype"])
    count = op.attrs["num_elements"]
    return TensorShape([count if count >= 0 else None]).concatenate(element)


@shape_rule("TensorListGather")
def _gather_shape(op):
    return (
        op.inputs[1]
        .shape.with_rank(1)
        .concatenate(_listed_shape(op.inputs[0], op.inputs[2], op.attrs["element_dtype"]))
    )


@shape_rule("TensorListElementShape")
def _shape_of_shape(op):
    return TensorShape([_listed_shape(op.inputs[0]).ndims])


@shape_rule("TensorListConcat")
def _concat_shapes(op):
    return _joined_shapes(op.attrs["element_shape"])


@shape_rule("TensorListConcatV2")
def _concat_v2_shapes(op):
    return _joined_shapes(_listed_shape(op.inputs[0], op.inputs[1], op.attrs["element_dtype"]))


def _joined_shapes(element):
    joined = TensorShape(None) if element.ndims is None else TensorShape([None, *element.as_list()[1:]])
    return [joined, TensorShape([None])]


def _element_shape(tensor):
    known = known_value(tensor)
    if known is None:
        return TensorShape([None] * length if (length := tensor.shape.rank and tensor.shape.size(0)) else None)
    if known.ndim == 0:
        return TensorShape(None)
    return TensorShape([None if d < 0 else int(d) for d in known])


def element_shape_argument(shape):
    """A shape as lists' ops take that of their elements: -1 for what isn't known, and a tensor of its own for a
    scalar's.
    """
    if shape.rank is None:
        return -1
    return [-1 if d is None else d for d in shape.as_list()] or constant([], dtype=dtypes.int32)


@gradient("TensorListPushBack")
def _push_grad(op, d_list):
    element_shape = array.shape(op.inputs[1])
    return raw.TensorListPopBack(
        input_handle=d_list, element_shape=element_shape, element_dtype=op.attrs["element_dtype"]
    )


@gradient("TensorListPopBack")
def _pop_grad(op, d_list, d_element):
    if d_list is None:
        d_list = raw.ZerosLike(x=op.outputs[0])
    if d_element is None:
        d_element = raw.ZerosLike(x=op.outputs[1])
    return raw.TensorListPushBack(input_handle=d_list, tensor=d_element), None


@gradient("TensorListStack")
def _stack_grad(op, d_tensor):
    return raw.TensorListFromTensor(tensor=d_tensor, element_shape=element_shape_argument(d_tensor.shape[1:])), None


@gradient("TensorListFromTensor")
def _from_tensor_grad(op, d_list):
    tensor = op.inputs[0]
    count = tensor.shape.size(0) if tensor.shape.rank is not None else None
    d_tensor = raw.TensorListStack(
        input_handle=d_list,
        element_shape=_without_first(tensor),
        element_dtype=tensor.dtype.base_dtype,
        num_elements=-1 if count is None else count,
    )
    return d_tensor, None


@gradient("TensorListSetItem")
def _set_grad(op, d_list):
    _, index, item = op.inputs
    d_rest = raw.TensorListSetItem(input_handle=d_list, index=index, item=array.zeros_like(item))
    d_item = raw.TensorListGetItem(
        input_handle=d_list, index=index, element_shape=array.shape(item), element_dtype=item.dtype
    )
    return d_rest, None, d_item


@gradient("TensorListGetItem")
def _get_grad(op, d_item):
    count = raw.TensorListLength(input_handle=op.inputs[0])
    shape = raw.TensorListElementShape(input_handle=op.inputs[0], shape_type=dtypes.int32)
    blank = raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=d_item.dtype)
    return raw.TensorListSetItem(input_handle=blank, index=op.inputs[1], item=d_item), None, None


@gradient("TensorListGather")
def _gather_grad(op, d_tensor):
    shape = raw.TensorListElementShape(input_handle=op.inputs[0], shape_type=dtypes.int32)
    count = raw.TensorListLength(input_handle=op.inputs[0])
    blank = raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=d_tensor.dtype)
    return raw.TensorListScatterIntoExistingList(input_handle=blank, tensor=d_tensor, indices=op.inputs[1]), None, None


def _without_first(tensor):
    """The shape of the elements that a tensor's first dimension counts."""
    return raw.Slice(input=array.shape(tensor), begin=[1], size=[-1])


def _gathered(d_list, tensor, indices):
    return raw.TensorListGather(
        input_handle=d_list, indices=indices, element_shape=_without_first(tensor), element_dtype=tensor.dtype
    )


@gradient("TensorListScatter", "TensorListScatterV2")
def _scatter_grad(op, d_list):
    tensor, indices, *rest = op.inputs
    return _gathered(d_list, tensor, indices), None, *[None for _ in rest]


@gradient("TensorListScatterIntoExistingList")
def _scatter_into_grad(op, d_list):
    _, tensor, indices = op.inputs
    d_tensor = _gathered(d_list, tensor, indices)
    d_rest = raw.TensorListScatterIntoExistingList(
        input_handle=d_list, tensor=array.zeros_like(tensor), indices=indices
    )
    return d_rest, d_tensor, None


@gradient("TensorListResize")
def _resize_grad(op, d_list):
    return raw.TensorListResize(input_handle=d_list, size=raw.TensorListLength(input_handle=op.inputs[0])), None


@gradient("TensorListConcat", "TensorListConcatV2")
def _concat_grad(op, d_tensor, d_lengths):
    shape = raw.TensorListElementShape(input_handle=op.inputs[0], shape_type=dtypes.int32)
    d_list = raw.TensorListSplit(tensor=d_tensor, element_shape=shape, lengths=op.outputs[1])
    return d_list, *[None for _ in op.inputs[1:]]


@gradient("TensorListSplit")
def _split_grad(op, d_list):
    tensor, _, lengths = op.inputs
    shape = array.concat([[-1], _without_first(tensor)], axis=0)
    joined = raw.TensorListConcatV2(
        input_handle=d_list, element_shape=shape, leading_dims=lengths, element_dtype=tensor.dtype
    )
    return joined.tensor, None, None


not_differentiable("EmptyTensorList", "TensorListLength", "TensorListReserve", "TensorListElementShape")
