"""Statistics of pipelines: an aggregator adds up what datasets tell, for summaries."""

from __future__ import annotations

from everflow.framework import raw_ops as raw


class StatsAggregatorV1:
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
