"""Gradients of sums, means, products and extremes over segments."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.math import elementwise


@gradient("SegmentSum")
def _segment_sum_grad(op, grad):
    return array.gather(grad, op.inputs[1]), None


@gradient("SegmentMean")
def _segment_mean_grad(op, grad):
    data, ids = op.inputs
    rank = array.rank(data)
    ones_shape = array.concat([array.shape(ids), array.fill(array.expand_dims(rank - 1, 0), 1)], 0)
    ones = array.fill(ones_shape, constants.constant(1, dtype=grad.dtype.base_dtype))
    scaled = grad / raw.SegmentSum(ones, ids)
    return array.gather(scaled, ids), None


@gradient("SegmentMax", "SegmentMin")
def _segment_extreme_grad(op, grad):
    """Elements that share a segment's extreme share its gradient."""
    data, ids = op.inputs
    zeros = array.zeros_like(data)
    chosen = raw.Equal(data, array.gather(op.outputs[0], ids))
    count = raw.SegmentSum(elementwise.cast(chosen, grad.dtype), ids)
    shares = array.gather(grad / count, ids)
    return array.where(chosen, shares, zeros), None


def _first_size(tensor):
    return array.shape(tensor)[0]


@gradient("SparseSegmentSum", "SparseSegmentSumWithNumSegments")
def _sparse_segment_sum_grad(op, grad):
    data, indices, ids = op.inputs[:3]
    size = _first_size(data)
    result = raw.UnsortedSegmentSum(array.gather(grad, ids), indices, size)
    return (result, *[None] * (len(op.inputs) - 1))


@gradient("SparseSegmentMean", "SparseSegmentMeanWithNumSegments")
def _sparse_segment_mean_grad(op, grad):
    data, indices, ids = op.inputs[:3]
    size = _first_size(data)
    return (raw.SparseSegmentMeanGrad(grad, indices, ids, size), *[None] * (len(op.inputs) - 1))


@gradient("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments")
def _sparse_segment_sqrt_n_grad(op, grad):
    data, indices, ids = op.inputs[:3]
    size = _first_size(data)
    return (raw.SparseSegmentSqrtNGrad(grad, indices, ids, size), *[None] * (len(op.inputs) - 1))


def gather_dropping_negatives(params, ids, clipped=None, positive=None):
    """Rows of params by ids, zeros for negative ids: (rows, ids without negatives, which ids count, by element)."""
    if clipped is None:
        clipped = raw.Maximum(ids, array.zeros_like(ids))
    gathered = array.gather(params, clipped)
    if positive is None:
        positive = raw.GreaterEqual(ids, 0)
        if gathered.shape.rank is None or ids.shape.rank is None:
            raise TypeError("The gradient of unsorted segments needs inputs of known rank")
        for _ in range(gathered.shape.rank - ids.shape.rank):
            positive = array.expand_dims(positive, -1)
        positive = positive & array.ones_like(gathered, dtype=dtypes.bool)
    return array.where(positive, gathered, array.zeros_like(gathered)), clipped, positive


@gradient("UnsortedSegmentSum")
def _unsorted_segment_sum_grad(op, grad):
    return gather_dropping_negatives(grad, op.inputs[1])[0], None, None


@gradient("UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_segment_extreme_grad(op, grad):
    data, ids, count = op.inputs
    gathered, clipped, positive = gather_dropping_negatives(op.outputs[0], ids)
    chosen = raw.LogicalAnd(raw.Equal(data, gathered), positive)
    number = raw.UnsortedSegmentSum(elementwise.cast(chosen, grad.dtype), ids, count)
    shares, _, _ = gather_dropping_negatives(grad / number, None, clipped, positive)
    return array.where(chosen, shares, array.zeros_like(shares)), None, None


@gradient("UnsortedSegmentProd")
def _unsorted_segment_prod_grad(op, grad):
    """Each element's gradient is the product of the others; segments with one zero reach only that element, with more
    none.
    """
    data, ids, count = op.inputs
    is_zero = raw.Equal(data, 0)
    zeros = raw.UnsortedSegmentSum(elementwise.cast(is_zero, dtype=dtypes.int32), ids, count)
    grad = array.where(raw.Greater(zeros, 1), array.zeros_like(grad), grad)
    without_zeros = array.where(is_zero, array.ones_like(data), data)
    product = raw.UnsortedSegmentProd(without_zeros, ids, count)
    clipped = raw.Maximum(ids, array.zeros_like(ids))
    gathered_product = array.gather(op.outputs[0], clipped)
    gathered_nonzero = array.gather(product, clipped)
    others = gathered_product / data
    slope = array.where(is_zero, gathered_nonzero, others)
    return gather_dropping_negatives(grad, ids, clipped)[0] * slope, None, None
