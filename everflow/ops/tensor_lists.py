"""Lists of tensors as values of a graph: shapes and gradients."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape, scalar
from everflow.framework.static_values import known_value


@shape_rule("EmptyTensorList", "TensorListPushBack", "TensorListFromTensor", "TensorListLength")
def _scalar(op):
    return scalar()


@shape_rule("TensorListPopBack")
def _pop_shapes(op):
    return [scalar(), _element_shape(op.inputs[1])]


@shape_rule("TensorListGetItem")
def _item_shape(op):
    return _element_shape(op.inputs[2])


@shape_rule("TensorListStack")
def _stack_shape(op):
    element = _element_shape(op.inputs[1])
    count = op.attrs["num_elements"]
    return TensorShape([count if count >= 0 else None]).concatenate(element)


def _element_shape(tensor):
    known = known_value(tensor)
    if known is None or known.ndim == 0:
        return TensorShape(None)
    return TensorShape([None if d < 0 else int(d) for d in known])


@gradient("TensorListPushBack")
def _push_grad(op, d_list):
    return raw.TensorListPopBack(input_handle=d_list, element_shape=-1, element_dtype=op.attrs["element_dtype"])


@gradient("TensorListPopBack")
def _pop_grad(op, d_list, d_element):
    if d_list is None:
        d_list = raw.ZerosLike(x=op.outputs[0])
    if d_element is None:
        d_element = raw.ZerosLike(x=op.outputs[1])
    return raw.TensorListPushBack(input_handle=d_list, tensor=d_element), None


@gradient("TensorListStack")
def _stack_grad(op, d_tensor):
    return raw.TensorListFromTensor(tensor=d_tensor, element_shape=-1), None


@gradient("TensorListFromTensor")
def _from_tensor_grad(op, d_list):
    return raw.TensorListStack(input_handle=d_list, element_shape=-1, element_dtype=op.attrs["element_dtype"]), None


not_differentiable("EmptyTensorList", "TensorListLength")
