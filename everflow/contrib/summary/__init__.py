"""tf.contrib.summary: summaries that are written when they run, with or without a session."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  Names here.

from everflow.summary.writing_ops import (
    SummaryWriter,
    all_summary_ops,
    always_record_summaries,
    audio,
    create_db_writer,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    generic,
    histogram,
    image,
    import_event,
    initialize,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    scalar,
    should_record_summaries,
    summary_writer_initializer_op,
)
from everflow.summary.writing_ops import write_graph as graph
