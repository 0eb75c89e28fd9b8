"""Shape rules of the optimizers' update ops: slots and gradient have the variable's shape, everything else is a scalar."""

from __future__ import annotations

from everflow.framework import op_defs
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops.variables.handles import handle_data

_DENSE = [name for name in op_defs.names() if name.startswith(("Apply", "ResourceApply"))]
_SPARSE = [name for name in op_defs.names() if name.startswith(("SparseApply", "ResourceSparseApply"))]


def _shape_of_variable(op):
    """The shape that the variable and its slots have in common, and the number of inputs that are these."""
    shape, count = TensorShape(None), 0
    for tensor, arg in zip(op.inputs, op.definition.inputs, strict=True):
        if tensor.dtype.name == "resource":
            shape = shape.merge_with(handle_data(tensor)[0])
        elif arg.is_ref:
            shape = shape.merge_with(tensor.shape)
        else:
            break
        count += 1
    return shape, count


def _check_scalars(op, count):
    for tensor, arg in zip(op.inputs[count:], op.definition.inputs[count:], strict=True):
        if arg.name not in ("grad", "delta", "indices"):
            tensor.shape.with_rank(0)


def _input(op, *names):
    return next(t for t, arg in zip(op.inputs, op.definition.inputs, strict=True) if arg.name in names)


def _result(op, shape):
    return shape if op.outputs else []


@shape_rule(*_DENSE)
def _dense_shape(op):
    shape, count = _shape_of_variable(op)
    _check_scalars(op, count)
    return _result(op, shape.merge_with(_input(op, "grad", "delta").shape))


@shape_rule(*_SPARSE)
def _sparse_shape(op):
    shape, count = _shape_of_variable(op)
    _check_scalars(op, count)
    grad, indices = _input(op, "grad").shape, _input(op, "indices").shape.with_rank(1)
    if grad.ndims is not None and shape.ndims is not None:
        grad[:1].merge_with(indices)
        shape[1:].merge_with(grad[1:])
    return _result(op, shape)
