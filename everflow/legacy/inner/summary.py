"""Names that summaries have inside TensorFlow only, for programs that import them from there."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

import re

from everflow.summary.v2 import create_file_writer as create_file_writer_v2
from everflow.summary.v2 import (
    create_noop_writer,
    experimental,
    record_if,
    run_metadata,
    run_metadata_graphs,
    trace_export,
    trace_off,
    trace_on,
    write,
)
from everflow.summary.writer import FileWriter as SummaryWriter
from everflow.summary.writer import FileWriterCache as SummaryWriterCache
from everflow.summary.writing_ops import all_summary_ops as all_v2_summary_ops

_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")
get_step, set_step, summary_scope, write_raw_pb = (
    getattr(experimental, name) for name in ("get_step", "set_step", "summary_scope", "write_raw_pb")
)
