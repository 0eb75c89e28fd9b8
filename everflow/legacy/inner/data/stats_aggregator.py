"""`tensorflow.python.data.experimental.ops.stats_aggregator`: which aggregator goes by the plain name."""

from __future__ import annotations

from everflow.data.experimental.stats import StatsAggregatorV1, StatsAggregatorV2
from everflow.eager import version_mark


def __getattr__(name: str) -> type:
    if name == "StatsAggregator":
        return StatsAggregatorV2 if version_mark.enabled() else StatsAggregatorV1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
