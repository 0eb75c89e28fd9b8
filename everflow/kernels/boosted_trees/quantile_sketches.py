"""Approximate quantiles of weighted values that come in batches: summaries that are merged and compressed within a
known error.

A summary has for each of its values the weight at it and the lowest and highest rank it can have among all values.
Streams keep summaries in levels: each level that is too big is compressed and goes one up.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import NotFoundError
from everflow.framework.forking import renewed
from everflow.kernels.registry import acting, fresh, kernel, reading

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session


@dataclass(frozen=True)
class Summary:
    """Float32 arrays with an entry for each value, in the order of the values."""

    values: np.ndarray
    weights: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @classmethod
    def of_entries(cls, values: np.ndarray, weights: np.ndarray) -> Summary:
        """An exact summary of weighted values."""
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
        starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]) if len(values) else np.zeros(0, np.int64)
        merged = np.add.reduceat(weights, starts) if len(starts) else weights
        ends = np.cumsum(merged, dtype=np.float32)
        return cls(values[starts], merged, np.r_[np.float32(0), ends[:-1]].astype(np.float32), ends)

    @classmethod
    def of_tensor(cls, tensor: torch.Tensor) -> Summary:
        return cls(*(tensor[:, i].numpy() for i in range(4)))

    def tensor(self) -> torch.Tensor:
        return torch.from_numpy(
            np.stack([self.values, self.weights, self.lowest, self.highest], axis=1).astype(np.float32)
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def total(self) -> float:
        return self.highest[-1] if len(self) else np.float32(0)

    @property
    def after_lowest(self) -> np.ndarray:
        """The lowest rank that the next value can have."""
        return self.lowest + self.weights

    @property
    def before_highest(self) -> np.ndarray:
        """The highest rank that the previous value can have."""
        return self.highest - self.weights

    def taken(self, at: np.ndarray) -> Summary:
        return Summary(self.values[at], self.weights[at], self.lowest[at], self.highest[at])

    def merged(self, other: Summary) -> Summary:
        if not len(self):
            return other
        if not len(other):
            return self
        values = np.union1d(self.values, other.values)
        columns = [np.zeros(len(values), np.float32) for _ in range(3)]
        for mine, theirs in ((self, other), (other, self)):
            at = np.searchsorted(values, mine.values)
            place = np.searchsorted(theirs.values, mine.values)
            shared = theirs.values[np.minimum(place, len(theirs) - 1)] == mine.values
            # Between two values of the other summary, a value's rank there is at least after the one below and before
            # the one above.
            low = np.where(place > 0, theirs.after_lowest[place - 1], np.float32(0))
            high = np.where(
                place < len(theirs), theirs.before_highest[np.minimum(place, len(theirs) - 1)], theirs.total
            )
            columns[0][at] += mine.weights
            columns[1][at] += np.where(shared, mine.lowest, mine.lowest + low)
            columns[2][at] += np.where(shared, mine.highest, mine.highest + high)
        return Summary(values.astype(np.float32), *columns)

    def error(self) -> float:
        """How far off a rank can be, as a part of the total weight."""
        if not len(self):
            return 0.0
        spread = (self.highest - self.lowest - self.weights)[1:]
        gap = self.before_highest[1:] - self.after_lowest[:-1]
        return float(max(np.float32(0), np.max(np.maximum(spread, gap), initial=np.float32(0))) / self.total)

    def compressed(self, size: int, least_error: float = 0.0) -> Summary:
        """About `size` of the entries, its error higher by no more than needed; the first and last stay."""
        size = max(size, 2)
        count = len(self)
        if count <= size:
            return self
        allowed = np.float64(self.total) * max(1.0 / size, least_error)
        before, after = self.before_highest, self.after_lowest
        # Entries are skipped while the ranks stay close enough and not more than `count / size` of them at a time, on
        # average.
        kept, read, skipped = [0], 0, 0
        while read + 1 != count:
            following = read + 1
            while following != count and skipped < count and before[following] - after[read] <= allowed:
                skipped += size
                following += 1
            read = read + 1 if read == following - 1 else following - 1
            kept.append(read)
            skipped -= count
        if kept[-1] + 1 != count:
            kept.append(count - 1)
        return self.taken(np.array(kept))

    def boundaries(self, count: int) -> np.ndarray:
        """About so many values that cut the weight into equal parts."""
        return np.unique(self.compressed(count, np.float32(self.error() + 1.0 / count)).values)

    def quantiles(self, count: int) -> np.ndarray:
        """The values at 0/count, 1/count ... of the weight."""
        count, at, found = max(count, 2), 0, []
        if not len(self):
            return self.values
        middles = self.lowest + self.highest
        for rank in range(count + 1):
            twice = 2 * (rank * self.total / count)
            following = at + 1
            while following < len(self) and twice >= middles[following]:
                following += 1
            at = following - 1
            last = following == len(self)
            found.append(
                self.values[at if last or twice < self.after_lowest[at] + self.before_highest[following] else following]
            )
        return np.array(found, np.float32)


_EMPTY = Summary(*(np.zeros(0, np.float32) for _ in range(4)))


class Stream:
    """Values and summaries come in; a summary within the error comes out."""

    def __init__(self, error: float, max_elements: int) -> None:
        self._error = error
        self._block = _block_size(error, max_elements)
        self._buffer_size = min(2 * self._block, max_elements)
        self._levels: list[Summary] = []

    def add_values(self, values: np.ndarray, weights: np.ndarray) -> None:
        counted = weights > 0
        values, weights = values[counted], weights[counted]
        for start in range(0, len(values), self._buffer_size):
            stop = start + self._buffer_size
            self.add_summary(Summary.of_entries(values[start:stop], weights[start:stop]))

    def add_summary(self, summary: Summary) -> None:
        summary = summary.compressed(self._block, self._error)
        level = 0
        while len(summary):
            if level == len(self._levels):
                self._levels.append(_EMPTY)
            held = self._levels[level]
            summary = summary.merged(held)
            if not len(held) or len(summary) <= self._block + 1:
                self._levels[level] = summary
                return
            summary = summary.compressed(self._block, self._error)
            self._levels[level] = _EMPTY
            level += 1

    def finish(self) -> Summary:
        """The summary of all that came."""
        summary = _EMPTY
        for level in self._levels:
            summary = summary.merged(level)
        return summary


def _block_size(error: float, max_elements: int) -> int:
    """How many entries a level holds, so that the error over all levels stays within bounds."""
    if error <= np.finfo(np.float64).eps:
        return max(max_elements, 2)
    level, block = 1, 2
    while (1 << level) * block < max_elements:
        block = math.ceil(level / error) + 1
        level += 1
    return max(block, 2)


class QuantileStreams:
    """A stream for each feature, and the boundaries of buckets once they were asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = renewed(threading.RLock())
        self.streams: list[Stream] | None = None
        self.boundaries: list[np.ndarray] = []

    def create(self, error: float, count: int, max_elements: int) -> None:
        self._options = error, max_elements
        self.boundaries = [np.zeros(0, np.float32)] * count
        self.restart(count)

    def restart(self, count: int) -> None:
        self.streams = [Stream(*self._options) for _ in range(count)]

    def existing(self) -> list[Stream]:
        if self.streams is None:
            raise NotFoundError(
                None, None, f"The quantile streams {self.name} do not exist: they were not created in this session."
            )
        return self.streams


# --- kernels ----------------------------------------------------------------------------------


@kernel("BoostedTreesQuantileStreamResourceHandleOp", once=True)
def quantile_streams_handle(*, container: str, shared_name: str, node: Node, session: Session) -> QuantileStreams:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "quantile_streams", name, lambda: QuantileStreams(name))


@acting("BoostedTreesCreateQuantileStreamResource")
def create_quantile_streams(
    handle: QuantileStreams, epsilon: torch.Tensor, num_streams: torch.Tensor, *, max_elements: int
) -> None:
    with handle.lock:
        if handle.streams is None:
            handle.create(float(epsilon), int(num_streams), max_elements)


@reading("IsBoostedTreesQuantileStreamResourceInitialized")
def are_quantile_streams_initialized(handle: QuantileStreams) -> torch.Tensor:
    return torch.tensor(handle.streams is not None)


@fresh("BoostedTreesMakeQuantileSummaries")
def make_quantile_summaries(
    float_values: list[torch.Tensor], example_weights: torch.Tensor, epsilon: torch.Tensor
) -> list[torch.Tensor]:
    weights = example_weights.numpy().reshape(-1)
    summaries = []
    for feature in float_values:
        values = feature.numpy().reshape(-1)
        stream = Stream(float(epsilon), len(values) + 1)
        stream.add_values(values, np.broadcast_to(weights, values.shape))
        summaries.append(stream.finish().tensor())
    return summaries


@acting("BoostedTreesQuantileStreamResourceAddSummaries")
def add_summaries(handle: QuantileStreams, summaries: list[torch.Tensor]) -> None:
    with handle.lock:
        for stream, summary in zip(handle.existing(), summaries, strict=True):
            stream.add_summary(Summary.of_tensor(summary))


@acting("BoostedTreesQuantileStreamResourceFlush")
def flush_quantile_streams(handle: QuantileStreams, num_buckets: torch.Tensor, *, generate_quantiles: bool) -> None:
    with handle.lock:
        summaries = [stream.finish() for stream in handle.existing()]
        count = int(num_buckets)
        handle.boundaries = [
            np.unique(s.quantiles(count - 1)) if generate_quantiles else s.boundaries(count) for s in summaries
        ]
        handle.restart(len(summaries))


@acting("BoostedTreesFlushQuantileSummaries")
def flush_quantile_summaries(handle: QuantileStreams) -> list[torch.Tensor]:
    with handle.lock:
        summaries = [stream.finish().tensor() for stream in handle.existing()]
        handle.restart(len(summaries))
        return summaries


@reading("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
def get_bucket_boundaries(handle: QuantileStreams) -> list[torch.Tensor]:
    with handle.lock:
        handle.existing()
        return [torch.from_numpy(boundaries.copy()) for boundaries in handle.boundaries]


@acting("BoostedTreesQuantileStreamResourceDeserialize")
def deserialize_quantile_streams(handle: QuantileStreams, bucket_boundaries: list[torch.Tensor]) -> None:
    with handle.lock:
        handle.existing()
        handle.boundaries = [boundaries.numpy().copy() for boundaries in bucket_boundaries]


@fresh("BoostedTreesBucketize")
def bucketize(float_values: list[torch.Tensor], bucket_boundaries: list[torch.Tensor]) -> list[torch.Tensor]:
    """The bucket of each value: of the first boundary that isn't below it, or the last."""
    buckets = []
    for values, boundaries in zip(float_values, bucket_boundaries):
        at = torch.searchsorted(boundaries.contiguous(), values.contiguous())
        buckets.append(at.clamp_(max=max(len(boundaries) - 1, 0)).to(torch.int32))
    return buckets
