"""Which tensors a run dumps: watches in its RunOptions."""

from __future__ import annotations

import re


class WatchOptions:
    """What a `watch_fn` returns: which nodes to watch, and what to dump of them."""

    def __init__(
        self,
        debug_ops=None,
        node_name_regex_whitelist=None,
        op_type_regex_whitelist=None,
        tensor_dtype_regex_whitelist=None,
        tolerate_debug_op_creation_failures=False,
    ):
        self.debug_ops = debug_ops if debug_ops else ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self):
        return f"WatchOptions({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _as_list(value):
    return [value] if isinstance(value, str) else list(value)


def add_debug_tensor_watch(
    run_options,
    node_name,
    output_slot=0,
    debug_ops="DebugIdentity",
    debug_urls=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
):
    """Watch one tensor: `debug_urls` (file:///some/folder) say where its dumps go."""
    watch = run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )
    run_options.debug_options.global_step = global_step
    watch.debug_ops.extend(_as_list(debug_ops))
    watch.debug_urls.extend(_as_list(debug_urls) if debug_urls else [])


def watch_graph(
    run_options,
    graph,
    debug_ops="DebugIdentity",
    debug_urls=None,
    node_name_regex_whitelist=None,
    op_type_regex_whitelist=None,
    tensor_dtype_regex_whitelist=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
    reset_disk_byte_usage=False,
):
    """Watch all tensors of a graph, or those that all of the given patterns match (by name, op type, dtype)."""
    patterns = (node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    settings = (debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    _watch(run_options, graph, patterns, True, settings, reset_disk_byte_usage)


def watch_graph_with_blacklists(
    run_options,
    graph,
    debug_ops="DebugIdentity",
    debug_urls=None,
    node_name_regex_blacklist=None,
    op_type_regex_blacklist=None,
    tensor_dtype_regex_blacklist=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
    reset_disk_byte_usage=False,
):
    """Watch all tensors of a graph but those that one of the given patterns matches."""
    patterns = (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    settings = (debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    _watch(run_options, graph, patterns, False, settings, reset_disk_byte_usage)


def _watch(run_options, graph, patterns, wanted, settings, reset_disk_byte_usage):
    """Watch outputs whose name, op type and dtype match all of the patterns, or (not `wanted`) none."""
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            facts = (op.name, op.type, tensor.dtype.name)
            if all(bool(re.match(pattern, fact)) is wanted for pattern, fact in zip(patterns, facts) if pattern):
                add_debug_tensor_watch(run_options, op.name, slot, *settings)
    if not run_options.debug_options.debug_tensor_watch_opts:
        raise ValueError("No node of the graph is watched: no output matches all of the patterns")
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage
