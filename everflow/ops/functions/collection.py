"""The graphs of functions that run, collected while somebody has asked for them: what `tf.compat.v2.summary.trace_on`
and `context.export_run_metadata` show of a program that executes eagerly.
"""

from __future__ import annotations

from everflow.protos.config_pb2 import RunMetadata

_collected: dict[str, object] | None = None


def start() -> None:
    """Collect from here on."""
    global _collected
    _collected = {}


def stop() -> None:
    """Collect nothing more, and forget what was collected."""
    global _collected
    _collected = None


def active() -> bool:
    """Whether graphs are being collected."""
    return _collected is not None


def note(function) -> None:
    """A function is called: its graph is collected once."""
    if _collected is not None:
        _collected.setdefault(function.name, function)


def take() -> RunMetadata | None:
    """What was collected since the last time, None where nothing is being collected."""
    if _collected is None:
        return None
    metadata = RunMetadata()
    for function in filter(None, _collected.values()):
        graph = _graph_def(function)
        metadata.partition_graphs.append(graph)
        metadata.function_graphs.add(
            partition_graphs=[graph], pre_optimization_graph=graph, post_optimization_graph=graph
        )
    # Functions stay known, so that each is shown once.
    _collected.update(dict.fromkeys(_collected, None))
    return metadata


def _graph_def(function):
    """The body of a function as a graph, with its arguments and results as nodes."""
    body = function.body()
    graph = body.graph.as_graph_def()
    arguments = {t.op.name: index for index, t in enumerate(body.inputs)}
    for node in graph.node:
        if node.name in arguments:
            kind = node.attr["dtype"].type
            node.op = "_Arg"
            node.attr.clear()
            node.attr["T"].type = kind
            node.attr["index"].i = arguments[node.name]
    for index, (argument, tensor) in enumerate(zip(function.definition.signature.output_arg, body.outputs)):
        node = graph.node.add(name=f"{argument.name}_RetVal", op="_Retval", input=[tensor.name.removesuffix(":0")])
        node.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node.attr["index"].i = index
    return graph
