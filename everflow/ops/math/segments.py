"""Sums, means, products and extremes over segments: build functions and shape rules."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_value
from everflow.ops import array
from everflow.ops.array.ragged_rows import has_ragged_form
from everflow.ops.math import elementwise


def _sorted_segments(kind, meaning):
    def build(data, segment_ids, name=None):
        return getattr(raw, f"Segment{kind}")(data, segment_ids, name=name)

    build.__name__ = build.__qualname__ = f"segment_{kind.lower()}"
    build.__doc__ = f"{meaning} of the rows that share an id; ids ascend."
    return build


segment_sum = _sorted_segments("Sum", "The sum")
segment_mean = _sorted_segments("Mean", "The mean")
segment_prod = _sorted_segments("Prod", "The product")
segment_max = _sorted_segments("Max", "The maximum")
segment_min = _sorted_segments("Min", "The minimum")


def _unsorted_segments(kind, meaning):
    def build(data, segment_ids, num_segments, name=None):
        return getattr(raw, f"UnsortedSegment{kind}")(data, segment_ids, num_segments, name=name)

    build.__name__ = build.__qualname__ = f"unsorted_segment_{kind.lower()}"
    build.__doc__ = f"{meaning} of the elements that share an id, in any order; negative ids are left out."
    return has_ragged_form(build)


unsorted_segment_sum = _unsorted_segments("Sum", "The sum")
unsorted_segment_prod = _unsorted_segments("Prod", "The product")
unsorted_segment_max = _unsorted_segments("Max", "The maximum")
unsorted_segment_min = _unsorted_segments("Min", "The minimum")


def _segment_sizes(data, segment_ids, num_segments):
    """How many elements each segment has, at least 1, in a shape that divides the segments' sums."""
    ones = array.ones(array.shape_internal(segment_ids), dtype=data.dtype)
    sizes = unsorted_segment_sum(ones, segment_ids, num_segments)
    shape = [num_segments] + [1] * (data.shape.rank - segment_ids.shape.rank)
    return raw.Maximum(array.reshape(sizes, shape), 1)


@has_ragged_form
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the elements that share an id, in any order; 0 for segments without elements."""
    with name_scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sizes


@has_ragged_form
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the elements that share an id, divided by the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / elementwise.sqrt(sizes)


def _sparse_segments(kind, suffix, meaning):
    def build(data, indices, segment_ids, name=None, num_segments=None):
        if num_segments is None:
            return getattr(raw, f"SparseSegment{kind}")(data, indices, segment_ids, name=name)
        return getattr(raw, f"SparseSegment{kind}WithNumSegments")(data, indices, segment_ids, num_segments, name=name)

    build.__name__ = build.__qualname__ = f"sparse_segment_{suffix}"
    build.__doc__ = f"{meaning} of the rows `data[indices]` that share an id; ids ascend."
    return build


sparse_segment_sum = _sparse_segments("Sum", "sum", "The sum")
sparse_segment_mean = _sparse_segments("Mean", "mean", "The mean")
sparse_segment_sqrt_n = _sparse_segments("SqrtN", "sqrt_n", "The sum divided by the root of the number")


def _rows(count, data):
    return TensorShape([count]).concatenate(data[1:]) if data.rank is not None else unknown_shape()


@shape_rule("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")
def _segment_shape(op):
    data = op.inputs[0].shape.with_rank_at_least(1)
    op.inputs[1].shape.with_rank(1)
    return _rows(None, data)


def _count(tensor):
    tensor.shape.with_rank(0)
    value = known_value(tensor)
    if value is not None and value < 0:
        raise ValueError(f"Dimension size, given by scalar input, must be non-negative but is {value}")
    return None if value is None else int(value)


@shape_rule("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_segment_shape(op):
    data, ids = op.inputs[0].shape, op.inputs[1].shape
    count = _count(op.inputs[2])
    if ids.rank is None:
        return unknown_shape()
    if data.rank is None:
        return unknown_shape()
    data.with_rank_at_least(ids.rank)
    data[: ids.rank].merge_with(ids)
    return TensorShape([count]).concatenate(data[ids.rank :])


@shape_rule(
    *(f"SparseSegment{kind}{counted}" for kind in ("Sum", "Mean", "SqrtN") for counted in ("", "WithNumSegments")),
    "SparseSegmentMeanGrad",
    "SparseSegmentSqrtNGrad",
)
def _sparse_segment_shape(op):
    data = op.inputs[0].shape.with_rank_at_least(1)
    op.inputs[1].shape.with_rank(1).merge_with(op.inputs[2].shape.with_rank(1))
    return _rows(_count(op.inputs[3]) if len(op.inputs) > 3 else None, data)
