"""Sums, means, products and extremes over segments: build functions and shape rules."""

from __future__ import annotations

import inspect

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_value
from everflow.ops import array
from everflow.ops.array.ragged_rows import has_ragged_form
from everflow.ops.math import elementwise

_DOCUMENT = """{meaning}.

Args:
    {arguments}

Returns:
    A tensor with a row for each segment.

Example:
    >>> sess.run(tf.{name}({at}))
    {gives}
"""
_ARGUMENTS = {
    "data": "The rows.",
    "indices": "The rows to take.",
    "segment_ids": "The segment that each row belongs to.",
    "num_segments": "How many segments the result has.",
    "name": "The name of the operation in the graph.",
}


def _documented(build, name, meaning, at, gives):
    """The function with a name, and a docstring with an example: `at` some values it `gives` others."""
    build.__name__ = build.__qualname__ = name
    arguments = "\n    ".join(f"{argument}: {_ARGUMENTS[argument]}" for argument in inspect.signature(build).parameters)
    build.__doc__ = _DOCUMENT.format(meaning=meaning, arguments=arguments, name=name, at=at, gives=gives)
    return build


def _sorted_segments(kind, meaning, *, at, gives):
    def build(data, segment_ids, name=None):
        return getattr(raw, f"Segment{kind}")(data, segment_ids, name=name)

    meaning = f"{meaning} of the rows that share an id; ids ascend"
    return _documented(build, f"segment_{kind.lower()}", meaning, at, gives)


segment_sum = _sorted_segments(
    "Sum", "The sum", at="[1.0, 2.0, 5.0], [0, 0, 1]", gives="array([3., 5.], dtype=float32)"
)
segment_mean = _sorted_segments(
    "Mean", "The mean", at="[1.0, 2.0, 5.0], [0, 0, 1]", gives="array([1.5, 5. ], dtype=float32)"
)
segment_prod = _sorted_segments(
    "Prod", "The product", at="[1.0, 2.0, 5.0], [0, 0, 1]", gives="array([2., 5.], dtype=float32)"
)
segment_max = _sorted_segments(
    "Max", "The maximum", at="[1.0, 2.0, 5.0], [0, 0, 1]", gives="array([2., 5.], dtype=float32)"
)
segment_min = _sorted_segments(
    "Min", "The minimum", at="[1.0, 2.0, 5.0], [0, 0, 1]", gives="array([1., 5.], dtype=float32)"
)


def _unsorted_segments(kind, meaning, *, at, gives):
    def build(data, segment_ids, num_segments, name=None):
        return getattr(raw, f"UnsortedSegment{kind}")(data, segment_ids, num_segments, name=name)

    meaning = f"{meaning} of the elements that share an id, in any order; negative ids are left out"
    return has_ragged_form(_documented(build, f"unsorted_segment_{kind.lower()}", meaning, at, gives))


unsorted_segment_sum = _unsorted_segments(
    "Sum", "The sum", at="[1.0, 2.0, 5.0], [1, 0, 1], 2", gives="array([2., 6.], dtype=float32)"
)
unsorted_segment_prod = _unsorted_segments(
    "Prod", "The product", at="[1.0, 2.0, 5.0], [1, 0, 1], 2", gives="array([2., 5.], dtype=float32)"
)
unsorted_segment_max = _unsorted_segments(
    "Max", "The maximum", at="[1.0, 2.0, 5.0], [1, 0, 1], 2", gives="array([2., 5.], dtype=float32)"
)
unsorted_segment_min = _unsorted_segments(
    "Min", "The minimum", at="[1.0, 2.0, 5.0], [1, 0, 1], 2", gives="array([2., 1.], dtype=float32)"
)


def _segment_sizes(data, segment_ids, num_segments):
    """How many elements each segment has, at least 1, in a shape that divides the segments' sums."""
    ones = array.ones(array.shape_internal(segment_ids), dtype=data.dtype)
    sizes = unsorted_segment_sum(ones, segment_ids, num_segments)
    shape = [num_segments] + [1] * (data.shape.rank - segment_ids.shape.rank)
    return raw.Maximum(array.reshape(sizes, shape), 1)


@has_ragged_form
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the elements that share an id, in any order; 0 for segments without elements.

    Args:
        data: The rows.
        segment_ids: The segment that each row belongs to.
        num_segments: How many segments the result has.
        name: The name of the operation in the graph.

    Returns:
        A tensor with `num_segments` rows.

    Example:
        >>> sess.run(tf.unsorted_segment_mean([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1], 3))
        array([2.       , 2.6666667, 0.       ], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sizes


@has_ragged_form
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the elements that share an id, divided by the root of their number.

    Args:
        data: The rows.
        segment_ids: The segment that each row belongs to.
        num_segments: How many segments the result has.
        name: The name of the operation in the graph.

    Returns:
        A tensor with `num_segments` rows.

    Example:
        >>> sess.run(tf.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1], 3))
        array([2.      , 4.618802, 0.      ], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / elementwise.sqrt(sizes)


def _sparse_segments(kind, suffix, meaning, *, at, gives):
    def build(data, indices, segment_ids, name=None, num_segments=None):
        if num_segments is None:
            return getattr(raw, f"SparseSegment{kind}")(data, indices, segment_ids, name=name)
        return getattr(raw, f"SparseSegment{kind}WithNumSegments")(data, indices, segment_ids, num_segments, name=name)

    meaning = f"{meaning} of the rows `data[indices]` that share an id; ids ascend"
    return _documented(build, f"sparse_segment_{suffix}", meaning, at, gives)


sparse_segment_sum = _sparse_segments(
    "Sum", "sum", "The sum", at="[1.0, 2.0, 5.0], [0, 2], [0, 0]", gives="array([6.], dtype=float32)"
)
sparse_segment_mean = _sparse_segments(
    "Mean", "mean", "The mean", at="[1.0, 2.0, 5.0], [0, 2], [0, 0]", gives="array([3.], dtype=float32)"
)
sparse_segment_sqrt_n = _sparse_segments(
    "SqrtN",
    "sqrt_n",
    "The sum divided by the root of the number",
    at="[1.0, 2.0, 5.0], [0, 2], [0, 0]",
    gives="array([4.242641], dtype=float32)",
)


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
