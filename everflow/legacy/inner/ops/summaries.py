"""What `tensorflow.python.ops.summary_ops_v2` has: names of both kinds of summaries that write themselves, and a few of its own."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

import json
import re

from everflow.framework import dtypes
from everflow.framework.scopes import add_to_collection, device, executing_eagerly
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.conditionals import smart_cond
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.io.summaries import summary_scope as family_scope
from everflow.platform import logging
from everflow.protos.summary_pb2 import SummaryMetadata
from everflow.summary import writing_ops
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
from everflow.summary.writing_ops import all_summary_ops as all_v2_summary_ops
from everflow.summary.writing_ops import write_graph as graph

_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")
get_step, set_step, summary_scope, write_raw_pb = (
    getattr(experimental, name) for name in ("get_step", "set_step", "summary_scope", "write_raw_pb")
)


def keras_model(name, data, step=None):
    """Write a Keras model's configuration as JSON; False, with a warning, where a model has none."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="graph_keras_model", content=b"1"))
    try:
        text = data.to_json()
    except Exception as e:
        logging.warn(f"The model {name} can't be written as a summary, since it can't be written as JSON: {e}")
        return False
    with summary_scope(name, "graph_keras_model", [data, step]) as (tag, _):
        return write(tag, constant(text, dtypes.string), step, metadata)


def summary_writer_function(name, tensor, function, family=None):
    """A bool tensor whose computation runs what `function(tag, scope)` draws, where summaries are recorded."""

    def record():
        with (
            family_scope(name, family, values=[tensor]) as (tag, scope),
            writing_ops.control_dependencies([function(tag, scope)]),
        ):
            return constant(True)

    if writing_ops.current.writer is None:
        return no_op()
    with device("cpu:0"):
        op = smart_cond(writing_ops.should_record_summaries(), record, lambda: constant(False), name="")
        if not executing_eagerly():
            add_to_collection(writing_ops.SUMMARIES, op)
    return op
