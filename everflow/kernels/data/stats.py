"""Statistics of pipelines: what their datasets tell while they run, and the aggregator that adds it up for summaries.

An iteration has a recorder where `SetStatsAggregatorDataset` gave it one; else nothing is measured.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.kernels.data.datasets import Dataset, Element, Following, Iteration, dataset, text
from everflow.kernels.io.summaries import bucket_limits, put_buckets
from everflow.kernels.queues.queues import shared_resource
from everflow.kernels.registry import acting, kernel, reading
from everflow.protos.summary_pb2 import HistogramProto, Summary

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.io.summary_writers import SummaryWriter
    from everflow.kernels.tensors import Strings

_F = TypeVar("_F", bound=Callable[..., Any])

KIND = "stats aggregator"
_STRING_BYTES = 8  # of a string besides its characters


class _Histogram:
    """Values in buckets, as many as there are of them in memory whatever their number."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(bucket_limits()), np.int64)
        self._proto = HistogramProto(min=np.inf, max=-np.inf)

    def add(self, value: float) -> None:
        proto = self._proto
        proto.min, proto.max = min(proto.min, value), max(proto.max, value)
        proto.num, proto.sum, proto.sum_squares = proto.num + 1, proto.sum + value, proto.sum_squares + value * value
        self._counts[np.searchsorted(bucket_limits(), value, side="right")] += 1

    def proto(self) -> HistogramProto:
        made = HistogramProto()
        made.CopyFrom(self._proto)
        put_buckets(made, self._counts)
        return made


class Aggregator:
    """Histograms and numbers by name; where it has a writer, each change is written at once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = renewed(threading.Lock())
        self._histograms: dict[str, _Histogram] = {}
        self._scalars: dict[str, float] = {}
        self.writer: SummaryWriter | None = None

    def add_to_histogram(self, name: str, value: float, step: int) -> None:
        with self._lock:
            histogram = self._histograms.setdefault(name, _Histogram())
            histogram.add(value)
            if self.writer is not None:
                self._write(step, Summary.Value(tag=name, histo=histogram.proto()))

    def set_scalar(self, name: str, value: float, step: int) -> None:
        with self._lock:
            self._scalars[name] = value
            if self.writer is not None:
                self._write(step, Summary.Value(tag=name, simple_value=value))

    def increment(self, name: str, step: int) -> None:
        with self._lock:
            value = self._scalars[name] = self._scalars.get(name, 0.0) + 1
            if self.writer is not None:
                self._write(step, Summary.Value(tag=name, simple_value=value))

    def _write(self, step: int, value: Summary.Value) -> None:
        assert self.writer is not None
        self.writer.write(torch.tensor(step), summary=Summary(value=[value]))

    def summary(self) -> Summary:
        with self._lock:
            histograms = [Summary.Value(tag=name, histo=h.proto()) for name, h in sorted(self._histograms.items())]
            scalars = [Summary.Value(tag=name, simple_value=v) for name, v in sorted(self._scalars.items())]
            return Summary(value=histograms + scalars)


class Recorder:
    """What an iteration tells its aggregator, each name with a prefix."""

    def __init__(self, aggregator: Aggregator, prefix: str) -> None:
        self._aggregator = aggregator
        self._prefix = f"{prefix}::" if prefix else ""

    def add_to_histogram(self, name: str, value: float, step: int = 0) -> None:
        self._aggregator.add_to_histogram(self._prefix + name, value, step)

    def set_scalar(self, name: str, value: float, step: int = 0) -> None:
        self._aggregator.set_scalar(self._prefix + name, value, step)

    def increment(self, name: str, step: int = 0) -> None:
        self._aggregator.increment(self._prefix + name, step)


def counter(iteration: Iteration, made: Dataset) -> Callable[[str], None] | None:
    """A function that counts what happens in a dataset, by name; None where nobody wants to know."""
    stats, origin = iteration.stats, made.origin
    if stats is None or origin is None:
        return None
    return lambda what: stats.increment(f"{origin.told_name}::{what}")


def telling_threads(made: Dataset, calls: int) -> Dataset:
    """The same dataset, of `calls` calls at a time: how many of them go on is told with each element."""
    begin = made.start

    def start(iteration: Iteration) -> Following:
        following, stats = begin(iteration), iteration.stats
        if stats is None or made.origin is None:
            return following
        name, most = f"{made.origin.told_name}::thread_utilization", calls if calls > 0 else iteration.threads
        numbers = itertools.count(1)

        def told() -> Element:
            element = following()
            stats.set_scalar(name, min(1.0, getattr(following, "busy", 1) / most), next(numbers))
            return element

        return told

    made.start = start
    return made


def timed(call: _F, iteration: Iteration, name: str) -> _F:
    """A function that also tells how long each call took, where it has a name and somebody wants to know."""
    stats, numbers = iteration.stats, itertools.count(1)
    if stats is None or not name:
        return call

    def told(*arguments: Any) -> Any:
        begin = time.perf_counter()
        result = call(*arguments)
        stats.add_to_histogram(name, float(int(1e6 * (time.perf_counter() - begin))), next(numbers))
        return result

    return cast("_F", told)


@kernel("StatsAggregatorHandle", "ExperimentalStatsAggregatorHandle", "StatsAggregatorHandleV2", once=True)
def stats_aggregator_handle(*, node: Node, session: Session, container: str, shared_name: str) -> Aggregator:
    return shared_resource(KIND, node, session, container, shared_name, Aggregator)


@reading("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary")
def stats_aggregator_summary(iterator: Aggregator) -> Strings:
    return np.array(iterator.summary().SerializeToString(), object)


@acting("StatsAggregatorSetSummaryWriter")
def stats_aggregator_set_summary_writer(stats_aggregator: Aggregator, summary: SummaryWriter) -> None:
    stats_aggregator.writer = summary


@dataset("SetStatsAggregatorDataset", "ExperimentalSetStatsAggregatorDataset")
def set_stats_aggregator_dataset(
    input_dataset: Dataset, stats_aggregator: Aggregator, tag: Strings, counter_prefix: Strings
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        iteration.stats = Recorder(stats_aggregator, text(tag))
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)


def _measured(
    input_dataset: Dataset, tag: Strings, measure: Callable[[Following, Callable[[float], None]], Following]
) -> Dataset:
    """The same dataset; `measure(following, tell)` gives its elements and tells a number for each."""
    if tag.ndim:
        raise InvalidArgumentError(None, None, f"A tag is one string, not a tensor of shape {list(tag.shape)}")
    name = text(tag)

    def start(iteration: Iteration) -> Following:
        following, stats, count = input_dataset.start(iteration), iteration.stats, 0
        if stats is None:
            return following

        def tell(value: float) -> None:
            nonlocal count
            count += 1
            stats.add_to_histogram(name, value, count)

        return measure(following, tell)

    return Dataset(start, input_dataset.cardinality)


@dataset("LatencyStatsDataset", "ExperimentalLatencyStatsDataset")
def latency_stats_dataset(input_dataset: Dataset, tag: Strings) -> Dataset:
    def measure(following: Following, tell: Callable[[float], None]) -> Following:
        def timed() -> Element:
            begin = time.perf_counter()
            element = following()
            tell(float(int(1e6 * (time.perf_counter() - begin))))
            return element

        return timed

    return _measured(input_dataset, tag, measure)


@dataset("BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset")
def bytes_produced_stats_dataset(input_dataset: Dataset, tag: Strings) -> Dataset:
    def measure(following: Following, tell: Callable[[float], None]) -> Following:
        def weighed() -> Element:
            element = following()
            tell(float(sum(map(_bytes_of, element))))
            return element

        return weighed

    return _measured(input_dataset, tag, measure)


def _bytes_of(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return sum(_STRING_BYTES + len(text) for text in value.reshape(-1).tolist() if isinstance(text, bytes))
    return 0
