"""Names that writers of summaries have inside TensorFlow only, for programs that import them from there."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.summary.writer import FileWriter as SummaryWriter
from everflow.summary.writer import FileWriterCache as SummaryWriterCache
