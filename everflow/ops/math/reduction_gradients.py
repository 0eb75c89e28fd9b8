"""Gradients of reductions, running sums, positions and matrix products."""

from __future__ import annotations

import weakref

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.framework.scopes import colocate_with, device, get_default_graph
from everflow.framework.static_values import constant_value
from everflow.framework.tapes import is_asked
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.math import elementwise, matrix, reductions, sequences

# Per graph: (kept shape, tile counts) for a static shape and axes. TensorFlow makes the nodes that compute them once
# too.
_static_reductions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def kept_shape(input_shape, axes):
    """The shape of a reduction with 1 in place of the reduced axes, as a tensor."""
    input_shape = elementwise.cast(input_shape, dtypes.int32)
    axes = elementwise.cast(axes, dtypes.int32)
    rank = array.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = array.shape(axes)
    return array.dynamic_stitch([sequences.range(rank), axes], [input_shape, array.fill(axes_shape, 1)])


def _divided(x, y):
    """x // y for sizes, of which y may be 0."""
    return x // raw.Maximum(y, 1)


def _static_reduction(shape, axes):
    """(kept shape, tile counts) as arrays. The nodes that would compute them stay in the graph, as TensorFlow leaves
    them.
    """
    cache = _static_reductions.setdefault(get_default_graph(), {})
    key = (tuple(shape), tuple(axes))
    if key not in cache:
        kept_shape(np.array(shape, np.int32), list(axes))
        kept = np.array(shape, np.int32)
        kept[list(axes)] = 1
        raw.FloorDiv(np.array(shape, np.int32), raw.Maximum(kept, 1), name="floordiv")
        cache[key] = kept, np.array(shape, np.int32) // np.maximum(kept, 1)
    return cache[key]


@gradient("Sum")
def _sum_grad(op, grad):
    x = op.inputs[0]
    shape = x.shape
    if shape.rank is not None:
        axes = constant_value(op.inputs[1])
        if axes is not None:
            if np.array_equal(axes, np.arange(shape.rank)):
                grad = array.reshape(grad, [1] * shape.rank)
                if shape.is_fully_defined():
                    input_shape = constants.constant(shape.as_list(), dtype=dtypes.int32)
                else:
                    input_shape = array.shape(x)
                return [array.tile(grad, input_shape), None]
            if shape.is_fully_defined():
                kept, counts = _static_reduction(shape.as_list(), np.ravel(axes).tolist())
                return [array.tile(array.reshape(grad, kept), counts), None]
    input_shape = array.shape(x)
    with colocate_with(input_shape):
        kept = kept_shape(input_shape, op.inputs[1])
        counts = _divided(input_shape, kept)
    return [array.tile(array.reshape(grad, kept), counts), None]


@gradient("Mean")
def _mean_grad(op, grad):
    sum_grad = _sum_grad(op, grad)[0]
    x, y = op.inputs[0], op.outputs[0]
    input_size, output_size = x.shape.num_elements(), y.shape.num_elements()
    if input_size is not None and output_size is not None:
        factor = constants.constant(input_size // max(output_size, 1), dtype=sum_grad.dtype.base_dtype)
    else:
        input_shape, output_shape = array.shape(x), array.shape(y)
        input_size = reductions.reduce_prod(input_shape)
        factor = _divided(input_size, reductions.reduce_prod(output_shape))
    return elementwise_divided(sum_grad, factor), None


def elementwise_divided(x, factor):
    """x divided by a whole number in x's type."""
    return raw.RealDiv(x, elementwise.cast(factor, x.dtype), name="truediv")


@gradient("Max", "Min")
def _extreme_grad(op, grad):
    """Elements that share the extreme share the gradient."""
    x, y = op.inputs[0], op.outputs[0]
    input_shape = array.shape(x)
    kept = kept_shape(input_shape, op.inputs[1])
    y = array.reshape(y, kept)
    grad = array.reshape(grad, kept)
    chosen = elementwise.cast(raw.Equal(y, x), grad.dtype)
    count = array.reshape(reductions.reduce_sum(chosen, op.inputs[1]), kept)
    return [chosen / count * grad, None]


@gradient("Prod")
def _prod_grad(op, grad):
    """Each element's gradient holds the product of all others: a running product from either end, which zeros don't
    disturb.
    """
    x = op.inputs[0]
    input_shape = array.shape(x)
    axes = array.reshape(op.inputs[1], [-1])
    kept = kept_shape(input_shape, op.inputs[1])
    counts = _divided(input_shape, kept)
    grad = array.tile(array.reshape(grad, kept), counts)
    with device("/cpu:0"):
        rank = array.rank(x)
        axes = (axes + rank) % rank
        reduced = elementwise.cast(axes, dtypes.int32)
        others, _ = array.setdiff1d(sequences.range(0, rank), reduced)
        perm = array.concat([reduced, others], 0)
        reduced_size = reductions.reduce_prod(array.gather(input_shape, reduced))
        other_size = reductions.reduce_prod(array.gather(input_shape, others))
    permuted = array.transpose(x, perm)
    permuted_shape = array.shape(permuted)
    rows = array.reshape(permuted, (reduced_size, other_size))
    left = reductions.cumprod(rows, axis=0, exclusive=True)
    right = reductions.cumprod(rows, axis=0, exclusive=True, reverse=True)
    product = array.reshape(elementwise.conj(left) * elementwise.conj(right), permuted_shape)
    result = grad * array.transpose(product, array.invert_permutation(perm))
    return array.reshape(result, input_shape), None


@gradient("ArgMax", "ArgMin")
def _position_grad(op, grad):
    return [None, None]


@gradient("Cumsum")
def _cumsum_grad(op, grad):
    axis = op.inputs[1]
    return [reductions.cumsum(grad, axis, exclusive=op.attrs["exclusive"], reverse=not op.attrs["reverse"]), None]


@gradient("Cumprod")
def _cumprod_grad(op, grad):
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    product = reductions.cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    total = reductions.cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [total / x, None]


@gradient("CumulativeLogsumexp")
def _cumulative_logsumexp_grad(op, grad):
    """Done on logarithms, for positive and negative parts of the gradient apart."""
    x, axis = op.inputs
    result = op.outputs[0]
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    lowest = grad.dtype.min
    log_positive = array.where_v2(raw.Greater(grad, 0), raw.Log(grad), lowest)
    log_negative = array.where_v2(raw.Less(grad, 0), raw.Log(-grad), lowest)

    def scanned(log_part):
        return raw.Exp(
            reductions.cumulative_logsumexp(log_part - result, axis, exclusive=exclusive, reverse=not reverse) + x
        )

    positive = scanned(log_positive)
    return [positive - scanned(log_negative), None]


@gradient("MatMul")
def _matmul_grad(op, grad):
    a, b = (elementwise.conj(t) for t in op.inputs)
    transpose_a, transpose_b = op.attrs["transpose_a"], op.attrs["transpose_b"]

    def of_first():
        if transpose_a:
            return raw.MatMul(b, grad, transpose_a=transpose_b, transpose_b=True)
        return raw.MatMul(grad, b, transpose_b=not transpose_b)

    def of_second():
        if transpose_b:
            return raw.MatMul(grad, a, transpose_a=True, transpose_b=transpose_a)
        return raw.MatMul(a, grad, transpose_a=not transpose_a)

    return tuple(make() if is_asked(op, side) else None for side, make in enumerate((of_first, of_second)))


@gradient("BatchMatMul", "BatchMatMulV2")
def _batch_matmul_grad(op, grad):
    x, y = op.inputs
    adj_x, adj_y = op.attrs["adj_x"], op.attrs["adj_y"]
    if not adj_x and not adj_y:
        grad_x, grad_y = matrix.matmul(grad, y, adjoint_b=True), matrix.matmul(x, grad, adjoint_a=True)
    elif not adj_x:
        grad_x, grad_y = matrix.matmul(grad, y), matrix.matmul(grad, x, adjoint_a=True)
    elif not adj_y:
        grad_x, grad_y = matrix.matmul(y, grad, adjoint_b=True), matrix.matmul(x, grad)
    else:
        grad_x = matrix.matmul(y, grad, adjoint_a=True, adjoint_b=True)
        grad_y = matrix.matmul(grad, x, adjoint_a=True, adjoint_b=True)
    same = x.shape.is_fully_defined() and y.shape.is_fully_defined() and x.shape == y.shape
    if op.type == "BatchMatMul" or same:
        return grad_x, grad_y
    shape_x, shape_y = array.shape(x), array.shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x[:-2], shape_y[:-2])
    grad_x = array.reshape(reductions.reduce_sum(grad_x, axes_x), shape_x)
    return grad_x, array.reshape(reductions.reduce_sum(grad_y, axes_y), shape_y)


@gradient("SparseMatMul")
def _sparse_matmul_grad(op, grad):
    a, b = op.inputs
    transpose_a, transpose_b = op.attrs["transpose_a"], op.attrs["transpose_b"]
    sparse = {id(a): op.attrs["a_is_sparse"], id(b): op.attrs["b_is_sparse"], id(grad): grad._made_by == "ReluGrad"}

    def product(t1, t2, dtype, transpose_t1=False, transpose_t2=False):
        t1_sparse, t2_sparse = sparse[id(t1)], sparse[id(t2)]
        if transpose_t2:
            t2, transpose_t2 = array.transpose(t2), False
        result = matrix.matmul(
            t1, t2, transpose_a=transpose_t1, transpose_b=transpose_t2, a_is_sparse=t1_sparse, b_is_sparse=t2_sparse
        )
        return elementwise.cast(result, dtype) if result.dtype != dtype else result

    if not transpose_a and not transpose_b:
        return product(grad, b, a.dtype, transpose_t2=True), product(a, grad, b.dtype, transpose_t1=True)
    if not transpose_a:
        return product(grad, b, a.dtype), product(grad, a, b.dtype, transpose_t1=True)
    if not transpose_b:
        return product(b, grad, a.dtype, transpose_t2=True), product(a, grad, b.dtype)
    return (
        product(b, grad, a.dtype, transpose_t1=True, transpose_t2=True),
        product(grad, a, b.dtype, transpose_t1=True, transpose_t2=True),
    )


@gradient("Cross")
def _cross_grad(op, grad):
    u, v = op.inputs
    return raw.Cross(v, grad), raw.Cross(grad, u)
