"""Between row splits, lengths of rows and the row number of each value; rows repeated."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.sequences import int_tensor, repeat_with_axis


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of each value, e.g. [0, 0, 2, 2, 2] for splits [0, 2, 2, 5].

    Args:
        splits: The row splits.
        name: The name of the operation in the graph.
        out_type: The type of the result; that of the splits if None.

    Returns:
        A vector.

    Raises:
        ValueError: If the type isn't int32 or int64.

    Example:
        >>> sess.run(tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5]))
        array([0, 0, 2, 2, 2])
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.shape.rank is not None and splits.shape.size(0) == 0:
            raise ValueError("Invalid row_splits: []")
        lengths = splits[1:] - splits[:-1]
        out_type = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        rows = array.shape(splits, out_type=out_type)[-1] - 1
        return repeat_with_axis(math.range(rows), lengths, axis=0)


def lengths_to_splits(lengths):
    """Row splits from the length of each row."""
    return array.concat([[0], math.cumsum(lengths)], axis=-1)


def joined_splits(splits):
    """The row splits of ragged tensors one below the other, from those of each."""
    before, joined = splits[0][-1], [splits[0]]
    for below in splits[1:]:
        joined.append(below[1:] + before)
        before = before + below[-1]
    return array.concat(joined, axis=0)


def repeat_ranges(params, splits, repeats):
    """Each row of `params`, between one of `splits` and the next, as often as `repeats` says: a number, or one for each
    row. Rows stay whole: [0, 1, 0, 1, 2] for the rows [0, 1] and [2], twice and once.
    """
    splits = convert_to_tensor(splits, name="splits")
    repeats = convert_to_tensor(repeats, name="repeats", preferred_dtype=splits.dtype)
    if repeats.shape.rank == 0:
        again = repeat_with_axis(splits, repeats, axis=0)
        count = array.shape(again, out_type=repeats.dtype)[0]
        starts, limits = again[: count - repeats], again[repeats:]
    else:
        starts = repeat_with_axis(splits[:-1], repeats, axis=0)
        limits = repeat_with_axis(splits[1:], repeats, axis=0)
    one = array.ones((), splits.dtype)
    return array.gather(params, raw.RaggedRange(starts=starts, limits=limits, deltas=one).rt_dense_values)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Row splits from ascending row numbers, e.g. [0, 2, 2, 3] for [0, 0, 2].

    Args:
        segment_ids: The row of each value.
        num_segments: How many rows there are; one more than the last if None.
        out_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Raises:
        ValueError: If the type isn't int32 or int64.

    Example:
        >>> sess.run(tf.ragged.segment_ids_to_row_splits([0, 0, 2]))
        array([0, 2, 2, 3])
    """
    if out_type is None:
        out_type = (
            dtypes.int32 if isinstance(segment_ids, Tensor) and segment_ids.dtype == dtypes.int32 else dtypes.int64
        )
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = int_tensor(segment_ids, "segment_ids")
        segment_ids.shape.assert_has_rank(1)
        if num_segments is not None:
            num_segments = int_tensor(num_segments, "num_segments")
            num_segments.shape.assert_has_rank(0)
        lengths = math.bincount(segment_ids, minlength=num_segments, maxlength=num_segments, dtype=out_type)
        return array.concat([[0], math.cumsum(lengths)], axis=0)
