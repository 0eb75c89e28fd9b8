"""Sums, means, products and extremes over segments: rows that share an id."""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.array.basic import scalar
from everflow.kernels.array.distinct import REPEATS
from everflow.kernels.math.dtypes import comparable, from_comparable, highest, lowest, widened
from everflow.kernels.registry import fresh


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _sorted_count(ids: torch.Tensor, at_least: int = 0) -> int:
    """The number of segments of ids that must ascend from zero."""
    if not ids.numel():
        return at_least
    count = int(ids[-1]) + 1
    if int(ids[0]) < 0:
        raise _invalid(
            f"Segment id {int(ids[0])} out of range [0, {count}), possibly because 'segment_ids' input is not sorted."
        )
    if (ids[1:] < ids[:-1]).any():
        raise _invalid("segment ids are not increasing")
    return max(count, at_least)


def _row_index(ids: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Ids spread over the shape of the rows they select, as scatter wants them."""
    return ids.to(torch.int64).reshape(-1, *[1] * (values.dim() - 1)).expand(values.shape)


def _reduce_rows(values: torch.Tensor, ids: torch.Tensor, count: int, how: str, start: float) -> torch.Tensor:
    """Rows of `values` brought together by id, beginning from `start`."""
    result = torch.full((count, *values.shape[1:]), start, dtype=values.dtype, device=values.device)
    if not values.numel():
        return result
    if how == "sum":
        return result.index_add_(0, ids.to(torch.int64), values)
    if how == "prod" and values.is_complex():
        for row, segment in zip(values, ids.tolist(), strict=True):
            result[segment] *= row
        return result
    return result.scatter_reduce_(0, _row_index(ids, values), values, how, include_self=True)


def _row_counts(ids: torch.Tensor, count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.bincount(ids.to(torch.int64), minlength=count).to(dtype)


def _by_row(counts: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return counts.reshape(-1, *[1] * (values.dim() - 1))


_STARTS = {"sum": lambda dtype: 0, "prod": lambda dtype: 1, "amax": lowest, "amin": highest}


def _sorted_segments(op_type: str, how: str, empty: int) -> None:
    """An op over ascending ids; ids that don't occur give `empty`."""

    @widened
    def reduce(data: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
        count = _sorted_count(segment_ids)
        counts = _row_counts(segment_ids, count, torch.int64)
        if how == "mean":
            total = _reduce_rows(data, segment_ids, count, "sum", 0)
            divisor = _by_row(counts.clamp(min=1), total)
            if data.is_floating_point() or data.is_complex():
                return total / divisor.to(data.dtype)
            return torch.div(total, divisor, rounding_mode="trunc").to(data.dtype)
        result = _reduce_rows(data, segment_ids, count, how, _STARTS[how](data.dtype))
        return torch.where(_by_row(counts, result) == 0, torch.full((), empty, dtype=data.dtype), result)

    def run(data: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
        if segment_ids.dim() != 1:
            raise _invalid("segment_ids should be a vector.")
        if not data.dim() or data.shape[0] != segment_ids.shape[0]:
            raise _invalid("segment_ids should be the same size as dimension 0 of input.")
        return reduce(data, segment_ids)

    fresh(op_type)(run)


for _op_type, _how, _empty in (
    ("SegmentSum", "sum", 0),
    ("SegmentMean", "mean", 0),
    ("SegmentProd", "prod", 1),
    ("SegmentMax", "amax", 0),
    ("SegmentMin", "amin", 0),
):
    _sorted_segments(_op_type, _how, _empty)


_ADD = {torch.float32: "add_singles", torch.float64: "add_doubles"}


def _sums(data: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor | None:
    """Sums of rows by compiled loops; None where there are none for these, or an id is out of range."""
    code = REPEATS.ready(ids.numel()) if data.dtype in _ADD and data.is_cpu else None
    if code is None or not data.numel():
        return None
    rest = data.shape[ids.dim() :]
    sums, rows, places = torch.zeros(count, *rest, dtype=data.dtype), data.contiguous(), ids.long().contiguous()
    add = getattr(code.free, _ADD[data.dtype])
    ended = add(rows.data_ptr(), places.data_ptr(), ids.numel(), rest.numel(), sums.data_ptr(), count)
    return None if ended < 0 else sums


def _unsorted_segments(op_type: str, how: str) -> None:
    """An op over ids in any order and of any rank. Negative ids are dropped; segments without rows keep the start
    value.
    """

    def reduce(data: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
        rows = data.reshape(ids.numel(), *data.shape[ids.dim() :])
        ids = ids.reshape(-1)
        if (ids < 0).any():
            kept = ids >= 0
            rows, ids = rows[kept], ids[kept]
        return _reduce_rows(rows, ids, count, how, _STARTS[how](data.dtype))

    def reduce_in_order(data: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
        return from_comparable(reduce(comparable(data), ids, count), data.dtype)

    whole = reduce_in_order if how in ("amax", "amin") else widened(reduce)

    def run(data: torch.Tensor, segment_ids: torch.Tensor, num_segments: torch.Tensor) -> torch.Tensor:
        count = scalar(num_segments, "num_segments")
        if count < 0:
            raise _invalid(f"Input num_segments == {count} must not be negative.")
        if data.shape[: segment_ids.dim()] != segment_ids.shape:
            raise _invalid(
                f"data.shape = {list(data.shape)} does not start with segment_ids.shape = {list(segment_ids.shape)}"
            )
        if how == "sum" and (sums := _sums(data, segment_ids, count)) is not None:
            return sums
        too_high = segment_ids >= count
        if too_high.any():
            at = too_high.nonzero()[0].tolist()
            raise _invalid(
                f"segment_ids[{','.join(map(str, at))}] = {int(segment_ids[tuple(at)])} is out of range [0, {count})"
            )
        return whole(data, segment_ids.to(torch.int64), count)

    fresh(op_type)(run)


for _op_type, _how in (
    ("UnsortedSegmentSum", "sum"),
    ("UnsortedSegmentProd", "prod"),
    ("UnsortedSegmentMax", "amax"),
    ("UnsortedSegmentMin", "amin"),
):
    _unsorted_segments(_op_type, _how)


def _divisor(kind: str, counts: torch.Tensor) -> torch.Tensor:
    """What a segment's sum is divided by: 1, its number of rows, or the root of it."""
    counts = counts.clamp(min=1)
    return counts if kind == "Mean" else torch.sqrt(counts)


def _sparse_segments(kind: str) -> None:
    @widened
    def reduce(data: torch.Tensor, indices: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
        total = _reduce_rows(data.index_select(0, indices.to(torch.int64)), ids, count, "sum", 0)
        if kind == "Sum":
            return total
        return total / _by_row(_divisor(kind, _row_counts(ids, count, data.dtype)), total)

    def run(
        data: torch.Tensor, indices: torch.Tensor, segment_ids: torch.Tensor, num_segments: torch.Tensor | None = None
    ) -> torch.Tensor:
        if indices.numel() != segment_ids.numel():
            raise _invalid("segment_ids and indices should have same size.")
        count = _sorted_count(segment_ids)
        if num_segments is not None:
            if count > int(num_segments):
                raise _invalid("segment ids must be < num_segments")
            count = int(num_segments)
        bad = (indices < 0) | (indices >= data.shape[0])
        if bad.any():
            at = int(bad.nonzero()[0])
            raise _invalid(f"Bad: indices[{at}] == {int(indices[at])} out of range [0, {data.shape[0]})")
        return reduce(data, indices, segment_ids, count)

    fresh(f"SparseSegment{kind}", f"SparseSegment{kind}WithNumSegments")(run)


for _kind in ("Sum", "Mean", "SqrtN"):
    _sparse_segments(_kind)


def _sparse_segment_grads(kind: str) -> None:
    def run(
        grad: torch.Tensor, indices: torch.Tensor, segment_ids: torch.Tensor, output_dim0: torch.Tensor
    ) -> torch.Tensor:
        size = int(output_dim0)
        bad = (indices < 0) | (indices >= size)
        if bad.any():
            raise _invalid(f"Index {int(indices[bad][0])} out of range [0, {size}).")
        if segment_ids.numel():
            if int(segment_ids[-1]) + 1 > grad.shape[0]:
                raise _invalid("Invalid number of segments")
            bad = (segment_ids < 0) | (segment_ids >= grad.shape[0])
            if bad.any():
                raise _invalid(f"Segment id {int(segment_ids[bad][0])} out of range [0, {grad.shape[0]}).")
        counts = _row_counts(segment_ids, grad.shape[0], grad.dtype)
        shares = (grad / _by_row(_divisor(kind, counts), grad)).index_select(0, segment_ids.to(torch.int64))
        return _reduce_rows(shares, indices, size, "sum", 0)

    fresh(f"SparseSegment{kind}Grad")(run)


for _kind in ("Mean", "SqrtN"):
    _sparse_segment_grads(_kind)
