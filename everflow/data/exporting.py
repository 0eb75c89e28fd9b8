"""A dataset as a function that makes it again: what stands for it where a model that holds one is exported."""

from __future__ import annotations

from everflow.eager.mode import eager_mode
from everflow.eager.tensor import EagerTensor
from everflow.ops.functions.wrapped import function_from_graph_def
from everflow.protos.graph_pb2 import GraphDef

_RESULT = "_Retval"


def making(dataset):
    """A function without arguments, whose variant tensor stands for a dataset like this one."""
    if not isinstance(dataset._variant_tensor, EagerTensor):
        raise NotImplementedError(
            f"{dataset!r} belongs to a graph; only what was made executing eagerly can be exported as a function"
        )
    with eager_mode():
        graph_def = GraphDef.FromString(dataset._as_serialized_graph().numpy())
    made = next(node.input[0] for node in graph_def.node if node.op == _RESULT)
    kept = [node for node in graph_def.node if node.op != _RESULT]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    return function_from_graph_def(graph_def, inputs=[], outputs=made if ":" in made else f"{made}:0")
