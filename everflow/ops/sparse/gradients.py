"""Gradients of sparse ops: for the values, and where there is one, for the dense operand."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.registry import gradient, not_differentiable
from everflow.ops import array, math
from everflow.ops.math.reduction_gradients import kept_shape
from everflow.ops.sparse.functions import sparse_reorder

not_differentiable("SparseAddGrad", "SparseConcat")


@gradient("SparseReorder")
def _reorder_grad(op, _, values_grad):
    indices, _, dense_shape = op.inputs
    positions = math.range(array.shape(indices)[0])
    order = sparse_reorder(SparseTensor(indices, positions, dense_shape)).values
    return None, array.gather(values_grad, array.invert_permutation(order)), None


@gradient("SparseAdd")
def _add_grad(op, *grads):
    a_indices, b_indices = op.inputs[0], op.inputs[3]
    a_grad, b_grad = raw.SparseAddGrad(
        backprop_val_grad=grads[1], a_indices=a_indices, b_indices=b_indices, sum_indices=op.outputs[0]
    )
    a_grad.set_shape(op.inputs[1].shape)
    b_grad.set_shape(op.inputs[4].shape)
    return None, a_grad, None, None, b_grad, None, None


@gradient("SparseTensorDenseAdd")
def _dense_add_grad(op, grad):
    return None, array.gather_nd(grad, op.inputs[0]), None, grad


@gradient("SparseReduceSum")
def _reduce_sum_grad(op, grad):
    indices, _, dense_shape, axes = op.inputs
    kept = kept_shape(dense_shape, axes)
    spread = array.reshape(grad, kept)
    scale = dense_shape // math.cast(kept, dtypes.int64)
    return None, array.gather_nd(spread, indices // scale), None, None


@gradient("SparseSlice")
def _slice_grad(op, *grads):
    indices, values, _, start, _ = op.inputs
    values_grad = raw.SparseSliceGrad(
        backprop_val_grad=grads[1], input_indices=indices, input_start=start, output_indices=op.outputs[0]
    )
    values_grad.set_shape(values.shape)
    return None, values_grad, None, None, None


@gradient("SparseTensorDenseMatMul")
def _matmul_grad(op, grad):
    a_indices, a_values, a_shape, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    for kind in {op.inputs[1].dtype.base_dtype, b.dtype.base_dtype}:
        if kind.is_complex and (adjoint_a or adjoint_b):
            raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients with adjoints")
    b_grad = raw.SparseTensorDenseMatMul(
        a_indices=a_indices, a_values=a_values, a_shape=a_shape, b=grad, adjoint_a=not adjoint_a
    )
    if adjoint_b:
        b_grad = array.transpose(b_grad)
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    grad_rows = array.gather(grad, columns if adjoint_a else rows)
    b_rows = array.gather(b if not adjoint_b else array.transpose(b), rows if adjoint_a else columns)
    return None, math.reduce_sum(grad_rows * b_rows, axis=1), None, b_grad


@gradient("SparseDenseCwiseAdd")
def _cwise_add_grad(op, grad):
    raise NotImplementedError(f"{op.name!r} has no gradient, as its type, SparseDenseCwiseAdd, has none")


@gradient("SparseDenseCwiseMul")
def _cwise_mul_grad(op, grad):
    return _cwise_grad(op, grad, True)


@gradient("SparseDenseCwiseDiv")
def _cwise_div_grad(op, grad):
    return _cwise_grad(op, grad, False)


def _cwise_grad(op, grad, is_product):
    x_indices, x_values, x_shape, y = op.inputs
    y_shape = math.cast(array.shape(y), dtypes.int64)
    missing = array.expand_dims(math.subtract(array.size(x_shape), array.size(y_shape), name="sub"), 0)
    whole = array.concat([array.ones(missing, dtype=x_shape.dtype), y_shape], 0)
    # Where each value's partner stands in y: along dimensions that y lacks or repeats, at 0.
    scaled = x_indices // (x_shape // whole)
    places = array.slice_(scaled, array.concat([[0], missing], 0), [-1, -1])
    partners = array.gather_nd(y, places)
    if is_product:
        x_grad, y_values = grad * partners, grad * x_values
    else:
        x_grad, y_values = grad / partners, grad * (math.negative(x_values) / math.square(partners))
    y_grad = raw.SparseTensorDenseAdd(a_indices=places, a_values=y_values, a_shape=y_shape, b=array.zeros_like(y))
    return None, x_grad, None, y_grad


@gradient("SparseSoftmax")
def _softmax_grad(op, grad):
    indices, shape, out = op.inputs[0], op.inputs[2], op.outputs[0]
    total = raw.SparseReduceSum(
        input_indices=indices, input_values=out * grad, input_shape=shape, reduction_axes=[-1], keep_dims=True
    )
    rest = raw.SparseDenseCwiseAdd(sp_indices=indices, sp_values=grad, sp_shape=shape, dense=math.negative(total))
    return None, rest * out, None


@gradient("SparseFillEmptyRows")
def _fill_empty_rows_grad(op, _, values_grad, *rest):
    parts = raw.SparseFillEmptyRowsGrad(reverse_index_map=op.outputs[3], grad_values=values_grad)
    return None, parts.d_values, None, parts.d_default_value


@gradient("SparseToDense")
def _to_dense_grad(op, grad):
    indices, shape, _, _ = op.inputs
    values_grad = array.gather_nd(grad, indices)
    default_grad = math.reduce_sum(grad) - math.reduce_sum(values_grad)
    return array.zeros_like(indices), array.zeros_like(shape), values_grad, default_grad
