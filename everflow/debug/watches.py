"""Which tensors a run dumps: watches in its RunOptions."""

from __future__ import annotations

import re

from everflow.platform.signatures import takes


class WatchOptions:
    """What a `watch_fn` returns: which nodes to watch, and what to dump of them."""

    @takes(
        """debug_ops=None, node_name_regex_whitelist=None, op_type_regex_whitelist=None,
        tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False""",
    )
    def __init__(self, debug_ops, **given):
        self.debug_ops = debug_ops if debug_ops else ["DebugIdentity"]
        self.__dict__.update(given)

    def __repr__(self):
        return f"WatchOptions({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _as_list(value):
    return [value] if isinstance(value, str) else list(value)


@takes(
    """run_options, node_name, output_slot=0, debug_ops="DebugIdentity", debug_urls=None,
    tolerate_debug_op_creation_failures=False, global_step=-1"""
)
def add_debug_tensor_watch(run_options, debug_ops, debug_urls, global_step, **given):
    """Watch one tensor: `debug_urls` (file:///some/folder) say where its dumps go."""
    watch = run_options.debug_options.debug_tensor_watch_opts.add(**given)
    run_options.debug_options.global_step = global_step
    watch.debug_ops.extend(_as_list(debug_ops))
    watch.debug_urls.extend(_as_list(debug_urls) if debug_urls else [])


def _watching(name, list_name, wanted, doc):
    """A function that watches tensors of a graph by patterns, whose parameters have these names."""
    patterns = [f"{what}_regex_{list_name}" for what in ("node_name", "op_type", "tensor_dtype")]

    @takes(
        f"""run_options, graph, debug_ops="DebugIdentity", debug_urls=None, {"=None, ".join(patterns)}=None,
        tolerate_debug_op_creation_failures=False, global_step=-1, reset_disk_byte_usage=False"""
    )
    def watch(run_options, graph, reset_disk_byte_usage, **settings):
        _watch(run_options, graph, [settings.pop(p) for p in patterns], wanted, settings, reset_disk_byte_usage)

    watch.__name__ = watch.__qualname__ = name
    watch.__doc__ = doc
    return watch


watch_graph = _watching(
    "watch_graph",
    "whitelist",
    True,
    "Watch all tensors of a graph, or those that all of the given patterns match (by name, op type, dtype).",
)
watch_graph_with_blacklists = _watching(
    "watch_graph_with_blacklists",
    "blacklist",
    False,
    "Watch all tensors of a graph but those that one of the given patterns matches.",
)


def _watch(run_options, graph, patterns, wanted, settings, reset_disk_byte_usage):
    """Watch outputs whose name, op type and dtype match all of the patterns, or (not `wanted`) none."""
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            facts = (op.name, op.type, tensor.dtype.name)
            if all(bool(re.match(pattern, fact)) is wanted for pattern, fact in zip(patterns, facts) if pattern):
                add_debug_tensor_watch(run_options, op.name, slot, **settings)
    if wanted and not any(patterns):
        # What is fed is no output of the graph that was drawn.
        add_debug_tensor_watch(run_options, "*", -1, **settings)
    if not run_options.debug_options.debug_tensor_watch_opts:
        raise ValueError("No node of the graph is watched: no output matches all of the patterns")
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage
