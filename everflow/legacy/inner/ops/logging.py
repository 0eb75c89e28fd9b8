"""Names of `tensorflow.python.ops.logging_ops` that have others outside."""

from __future__ import annotations

from everflow.contrib.deprecated import merge_all_summaries
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.ops.io.printing import placeholder_for as _generate_placeholder_string
from everflow.ops.io.printing import print as print_v2

__all__ = ["_generate_placeholder_string", "get_summary_op", "print_v2"]


def get_summary_op():
    """The op that gives all summaries, made when it is first asked for; None where there are no summaries."""
    kept = get_collection(GraphKeys.SUMMARY_OP)
    if kept:
        return kept[0]
    op = merge_all_summaries()
    if op is not None:
        add_to_collection(GraphKeys.SUMMARY_OP, op)
    return op
