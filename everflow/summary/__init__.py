"""tf.summary: what to watch, and event files that TensorBoard reads."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.io.summaries import audio, histogram, image, merge, merge_all, scalar, tensor_summary, text
from everflow.protos.event_pb2 import Event, SessionLog, TaggedRunMetadata
from everflow.protos.summary_pb2 import Summary, SummaryDescription
from everflow.summary.reading import get_summary_description, summary_iterator
from everflow.summary.writer import FileWriter, FileWriterCache
from everflow.summary.writing_ops import all_summary_ops as all_v2_summary_ops
from everflow.summary.writing_ops import initialize
