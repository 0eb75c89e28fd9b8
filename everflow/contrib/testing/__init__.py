"""tf.contrib.testing: looking at event files in tests, and a writer that only remembers what it was given."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.testing.event_files import (
    assert_summary,
    latest_event_file,
    latest_events,
    latest_summaries,
    simple_values_from_events,
    to_summary_proto,
)
from everflow.contrib.testing.fake_summary_writer import FakeSummaryWriter
