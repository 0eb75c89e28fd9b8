"""Statistics of pipelines: an aggregator adds up what datasets tell, for summaries."""

from __future__ import annotations

import tempfile

from everflow.data.options import Aggregating
from everflow.framework import raw_ops as raw
from everflow.summary.v2 import create_file_writer

_DEFAULT_MAX_QUEUE = 10


class StatsAggregatorV1(Aggregating):
    """Adds up statistics of the iterators over datasets that are given it by their options.

    Example:
        >>> aggregator = tf.data.experimental.StatsAggregator()
        >>> options = tf.data.Options()
        >>> options.experimental_stats.aggregator = aggregator
        >>> dataset = tf.data.Dataset.range(3).with_options(options)
    """

    def __init__(self):
        self._resource = raw.StatsAggregatorHandle()

    def get_summary(self):
        """A string tensor: a Summary of all that was told so far."""
        return raw.StatsAggregatorSummary(iterator=self._resource)


class StatsAggregatorV2(Aggregating):
    """Writes statistics of iterators as they come, to the event files of a folder of its own, `_logdir`."""

    def __init__(self):
        self._resource = raw.StatsAggregatorHandleV2()
        self._logdir = tempfile.mkdtemp()
        self._summary_writer = create_file_writer(self._logdir, max_queue=_DEFAULT_MAX_QUEUE)
        raw.StatsAggregatorSetSummaryWriter(stats_aggregator=self._resource, summary=self._summary_writer._resource)


StatsAggregator = StatsAggregatorV1


def set_stats_aggregator(stats_aggregator, prefix="", counter_prefix=""):
    """The same dataset, which tells an aggregator how it runs."""

    def apply(dataset):
        return dataset._then(
            raw.SetStatsAggregatorDataset,
            stats_aggregator=stats_aggregator._resource,
            tag=prefix,
            counter_prefix=counter_prefix,
        )

    return apply
