"""Ops on resource handles: static shapes of what a handle refers to, shape rules, gradients of reads."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.variables.assign import SCATTER_KINDS, check_scatter, check_scatter_nd

# Ops that hand a handle on as it is.
_PASSING = frozenset(("Identity", "Switch", "Merge", "Enter", "RefEnter", "NextIteration", "Exit"))


def handle_data(handle):
    """(shape, dtype) of the variable behind a handle, (unknown, None) where it can't be told."""
    seen = set()
    while handle not in seen:
        seen.add(handle)
        if handle._handle_data:
            ((dtype, shape),) = handle._handle_data
            return shape, dtype
        if handle.is_eager or handle.op.type not in _PASSING:
            break
        handle = handle.op.inputs[0]
    return TensorShape(None), None


@shape_rule("VarHandleOp")
def _handle_shape(op):
    op.outputs[0]._handle_data = [(op.attrs["dtype"], op.attrs["shape"])]
    return TensorShape([])


def variable_shape(handle, out_type=dtypes.int32):
    """The shape of the variable behind a handle as a tensor, a constant where the handle is the variable's own and its
    shape known.

    A handle that came into a branch, loop or function is asked when run.
    """
    shape, _ = handle_data(handle)
    if shape.is_fully_defined() and (handle.is_eager or handle.op.type == "VarHandleOp"):
        return constant(shape.as_list(), dtype=out_type)
    return raw.VariableShape(handle, out_type=out_type)


def _shape_behind(handle, dtype):
    """The shape of the variable behind a handle, which must be of a type where that is known."""
    shape, own = handle_data(handle)
    if own is not None and own.base_dtype != dtype.base_dtype:
        raise ValueError(f"The variable behind {handle.name} is of {own.name}; this op is for one of {dtype.name}")
    return shape


@shape_rule("ReadVariableOp")
def _read_shape(op):
    return _shape_behind(op.inputs[0], op.attrs["dtype"])


@shape_rule("VariableShape")
def _variable_shape_shape(op):
    return TensorShape([handle_data(op.inputs[0])[0].ndims])


@shape_rule("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
def _assign_shape(op):
    _shape_behind(op.inputs[0], op.inputs[1].dtype).merge_with(op.inputs[1].shape)
    return []


@shape_rule(*(f"ResourceScatter{kind}" for kind in SCATTER_KINDS))
def _scatter_shape(op):
    check_scatter(_shape_behind(op.inputs[0], op.inputs[2].dtype), op.inputs[1].shape, op.inputs[2].shape)
    return []


@shape_rule("ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub")
def _scatter_nd_shape(op):
    check_scatter_nd(_shape_behind(op.inputs[0], op.inputs[2].dtype), op.inputs[1].shape, op.inputs[2].shape)
    return []


not_differentiable("VarIsInitializedOp", "VariableShape")


@gradient("ReadVariableOp")
def _read_grad(op, grad):
    return grad


@gradient("ResourceGather")
def _gather_grad(op, grad):
    handle, indices = op.inputs
    params_shape = variable_shape(handle)
    size = array.expand_dims(array.size(indices), 0)
    values_shape = array.concat([size, params_shape[1:]], 0)
    values = array.reshape(grad, values_shape)
    indices = array.reshape(indices, size)
    return [IndexedSlices(values, indices, params_shape), None]


@gradient("ResourceGatherNd")
def _gather_nd_grad(op, grad):
    handle, indices = op.inputs
    shape = raw.VariableShape(handle, out_type=indices.dtype)
    if indices.shape.ndims == 2 and indices.shape.dims[-1].value == 1:
        return [IndexedSlices(grad, array.squeeze(indices, axis=-1), shape), None]
    return [array.scatter_nd(indices, grad, shape), None]
