"""tensorflow.python.eager.monitoring: counters and gauges of a process, a cell for each set of labels."""

from __future__ import annotations

import bisect
import threading
import weakref
from collections.abc import Callable
from typing import Any

from everflow.framework.errors import AlreadyExistsError
from everflow.framework.forking import renewed
from everflow.protos import summary_pb2

_taken: weakref.WeakValueDictionary[str, Metric] = weakref.WeakValueDictionary()


class CounterCell:
    """A number that only grows."""

    def __init__(self) -> None:
        self._value, self._lock = 0, renewed(threading.Lock())

    def increase_by(self, value: int) -> None:
        """Count so many more."""
        with self._lock:
            self._value += value

    def value(self) -> int:
        """How many there were."""
        return self._value


class GaugeCell:
    """A value that is set."""

    def __init__(self, empty: Any) -> None:
        self._value = empty

    def set(self, value: Any) -> None:
        """Have another value from now on."""
        self._value = type(self._value)(value)

    def value(self) -> Any:
        """What was set last."""
        return self._value


IntGaugeCell = StringGaugeCell = BoolGaugeCell = GaugeCell


class Buckets:
    """The limits between which a sampler counts."""

    def __init__(self, buckets: list[float]) -> None:
        self.limits = buckets


class ExponentialBuckets(Buckets):
    """So many buckets, each wider than the one before by a factor."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int) -> None:
        super().__init__([scale * growth_factor**i for i in range(bucket_count)])


class SamplerCell:
    """A histogram of values."""

    def __init__(self, buckets: Buckets) -> None:
        self._limits = [*buckets.limits, float("inf")]
        self._found = summary_pb2.HistogramProto(bucket=[0.0] * len(self._limits))
        self._lock = renewed(threading.Lock())

    def add(self, value: float) -> None:
        """Count a value."""
        with self._lock:
            found = self._found
            found.min = min(found.min, value) if found.num else value
            found.max = max(found.max, value) if found.num else value
            found.num += 1
            found.sum += value
            found.sum_squares += value * value
            found.bucket[bisect.bisect_right(self._limits, value)] += 1

    def value(self) -> summary_pb2.HistogramProto:
        """What was counted; buckets at the ends that nothing fell into are left away."""
        made = summary_pb2.HistogramProto()
        made.CopyFrom(self._found)
        made.bucket_limit.extend(min(limit, 1.7976931348623157e308) for limit in self._limits)
        return made


class Metric:
    """A quantity of the process by name: a cell for each set of labels."""

    make_cell: Callable[[], Any]

    def __init__(self, name: str, description: str, *labels: str) -> None:
        if len(labels) > 2:
            raise ValueError(f"A metric has two labels at most, not {list(labels)}")
        if name in _taken:
            raise AlreadyExistsError(None, None, f"There is a metric called {name!r} already")
        _taken[name] = self
        self._labels, self._cells = labels, {}

    def get_cell(self, *labels: str) -> Any:
        """The cell of these labels, one for each that the metric was made with."""
        if len(labels) != len(self._labels):
            raise ValueError(f"The metric has the labels {list(self._labels)}, and was given {list(labels)}")
        if labels not in self._cells:
            self._cells[labels] = self.make_cell()
        return self._cells[labels]


class Counter(Metric):
    """Counts."""

    def make_cell(self) -> CounterCell:
        return CounterCell()


class IntGauge(Metric):
    """Holds a number."""

    def make_cell(self) -> GaugeCell:
        return GaugeCell(0)


class BoolGauge(Metric):
    """Holds yes or no."""

    def make_cell(self) -> GaugeCell:
        return GaugeCell(False)


class StringGauge(Metric):
    """Holds a word."""

    def make_cell(self) -> GaugeCell:
        return GaugeCell("")


class Sampler(Metric):
    """Holds a histogram."""

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str) -> None:
        super().__init__(name, description, *labels)
        self._buckets = buckets

    def make_cell(self) -> SamplerCell:
        return SamplerCell(self._buckets)
