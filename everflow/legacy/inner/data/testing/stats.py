"""`...kernel_tests.stats_dataset_test_base`: a TestCase that looks at what an aggregator was told.

Its handle is a serialised Summary, or, of an aggregator that writes as it is told, the folder of its event files.
"""

from __future__ import annotations

import os
import re

import numpy as np

from everflow.data.experimental.stats import StatsAggregatorV1, StatsAggregatorV2
from everflow.data.options import Options
from everflow.eager import version_mark
from everflow.framework import errors
from everflow.io.records import tf_record_iterator
from everflow.legacy.inner.data.testing.datasets import DatasetTestBase
from everflow.protos import event_pb2, summary_pb2
from everflow.test.modes import run_all_in_graph_and_eager_modes


def _events_from_file(filepath):
    """The events of a file."""
    return [event_pb2.Event.FromString(record) for record in tf_record_iterator(filepath)]


def _events_from_logdir(logdir):
    """The events of the one file in a folder."""
    names = sorted(os.listdir(logdir))
    if len(names) != 1:
        raise AssertionError(f"{logdir} should hold one event file, not {names}")
    return _events_from_file(os.path.join(logdir, names[0]))


class StatsDatasetTestBase(DatasetTestBase):
    """A test case of statistics. Tags are patterns, which a name's beginning must match.

    `num_events`, where it isn't -1, is how many events a folder holds by then, and `offset` which one is meant from the last.
    """

    @classmethod
    def setUpClass(cls):
        """Each test runs in a graph and eagerly, where version 1's behaviour is asked for."""
        super().setUpClass()
        if not version_mark.enabled():
            run_all_in_graph_and_eager_modes(cls)

    def datasetExperimentalStats(self, dataset, aggregator, prefix="", counter_prefix=""):
        """The same dataset, which tells an aggregator all but the latencies of its edges."""
        options, told = Options(), {"aggregator": aggregator, "prefix": prefix, "counter_prefix": counter_prefix}
        for name, value in {**told, "latency_all_edges": False}.items():
            setattr(options.experimental_stats, name, value)
        return dataset.with_options(options)

    def regexForNodeName(self, op_name, stats_type=""):
        """A pattern of the tag of an op's statistics: ops of a dataset's graph are numbered."""
        return rf"{op_name}/_\d+::{stats_type}" if stats_type else rf"{op_name}/_\d+"

    def getHandle(self, aggregator):
        """What the aggregator knows by now."""
        if isinstance(aggregator, StatsAggregatorV1):
            return self.evaluate(aggregator.get_summary())
        if isinstance(aggregator, StatsAggregatorV2):
            return aggregator._logdir
        raise TypeError(f"{aggregator!r} is no StatsAggregator")

    # --- by handle, whatever it is

    def assertStatisticsContains(self, handle, tag, num_events=-1, offset=0):
        """There is something with this tag."""
        self._found(handle, tag, num_events, offset)

    def assertStatisticsHasCount(self, handle, tag, count, num_events=-1, greater_than=False, offset=0):
        """A histogram has so many values, or at least so many."""
        self._check_count(self._found(handle, tag, num_events, offset), count, greater_than)

    def assertStatisticsHasSum(self, handle, tag, expected_value, num_events=-1, offset=0):
        """The values of a histogram add up to this."""
        self.assertEqual(expected_value, self._found(handle, tag, num_events, offset).histo.sum)

    def assertStatisticsHasScalarValue(self, handle, tag, expected_value, num_events=-1, offset=0):
        """A number is this."""
        self.assertEqual(expected_value, self._found(handle, tag, num_events, offset).simple_value)

    def assertStatisticsHasRange(self, handle, tag, min_value, max_value, num_events=-1, offset=0):
        """The values of a histogram lie between two numbers."""
        self._check_range(self._found(handle, tag, num_events, offset), min_value, max_value)

    def _check_count(self, value, count, greater_than):
        (self.assertGreaterEqual if greater_than else self.assertEqual)(value.histo.num, count)

    def _check_range(self, value, least, most):
        self.assertLessEqual(least, value.histo.min)
        self.assertGreaterEqual(most, value.histo.max)

    def _found(self, handle, tag, num_events, offset):
        return (
            self._in_summary(handle, tag)
            if isinstance(handle, bytes)
            else self._in_events(handle, tag, num_events, offset)
        )

    def _in_summary(self, summary_str, tag):
        values = summary_pb2.Summary.FromString(summary_str).value
        for value in values:
            if re.match(tag, value.tag):
                return value
        return self.fail(f"No {tag!r} among {[value.tag for value in values]}")

    def _in_events(self, logdir, tag, num_events, offset):
        events = _events_from_logdir(logdir)
        if num_events != -1:
            self.assertEqual(len(events), num_events)
            events = [events[num_events - offset - 1]]
        for event in reversed(events):
            for value in event.summary.value:
                if re.match(tag, value.tag):
                    return value
        return self.fail(f"No {tag!r} in the events of {logdir}")

    # --- of a summary, of a folder

    def _assertSummaryContains(self, summary_str, tag):
        self._in_summary(summary_str, tag)

    def _assertSummaryHasCount(self, summary_str, tag, expected_value, greater_than=False):
        self._check_count(self._in_summary(summary_str, tag), expected_value, greater_than)

    def _assertSummaryHasRange(self, summary_str, tag, min_value, max_value):
        self._check_range(self._in_summary(summary_str, tag), min_value, max_value)

    def _assertSummaryHasSum(self, summary_str, tag, expected_value):
        self.assertEqual(expected_value, self._in_summary(summary_str, tag).histo.sum)

    def _assertSummaryHasScalarValue(self, summary_str, tag, expected_value):
        self.assertEqual(expected_value, self._in_summary(summary_str, tag).simple_value)

    def _assertEventContains(self, logdir, tag, num_events, offset):
        self._in_events(logdir, tag, num_events, offset)

    def _assertEventHasCount(self, logdir, tag, count, num_events, greater_than, offset):
        self._check_count(self._in_events(logdir, tag, num_events, offset), count, greater_than)

    def _assertEventHasSum(self, logdir, tag, expected_value, num_events, offset):
        self.assertEqual(expected_value, self._in_events(logdir, tag, num_events, offset).histo.sum)

    def _assertEventHasRange(self, logdir, tag, min_value, max_value, num_events, offset):
        self._check_range(self._in_events(logdir, tag, num_events, offset), min_value, max_value)

    def _assertEventHasScalarValue(self, logdir, tag, expected_value, num_events, offset):
        self.assertEqual(expected_value, self._in_events(logdir, tag, num_events, offset).simple_value)

    # --- of datasets that call functions in parallel

    def parallelCallsStats(
        self, dataset_fn, dataset_names, num_output, function_processing_time=False, check_elements=True
    ):
        """A dataset, whose i-th element is i times the number i, tells how busy the threads of these datasets are, and
        how long their functions took.
        """
        aggregator = StatsAggregatorV1()
        following = self.getNext(self.datasetExperimentalStats(dataset_fn(), aggregator), requires_initialization=True)
        for i in range(num_output):
            element = self.evaluate(following())
            if check_elements:
                self.assertAllEqual(np.array([i] * i, np.int64), element)
            self._check_calls(aggregator, dataset_names, i + 1 if function_processing_time else None)
        with self.assertRaises(errors.OutOfRangeError):
            self.evaluate(following())
        self._check_calls(aggregator, dataset_names, num_output if function_processing_time else None)

    def _check_calls(self, aggregator, dataset_names, calls):
        handle = self.getHandle(aggregator)
        for name in dataset_names:
            if calls is not None:
                self.assertStatisticsHasCount(handle, "(.*)::execution_time$", float(calls), greater_than=True)
            self.assertStatisticsContains(handle, self.regexForNodeName(name, "thread_utilization"))
