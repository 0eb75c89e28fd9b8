"""tensorflow.python.framework's function_def_to_graph and graph_to_function_def: bodies of functions as graphs, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework.functions import FuncGraph, body_of, reference, to_function_def
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.protos import function_pb2, graph_pb2


def graph_to_function_def(
    graph: Any,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> function_pb2.FunctionDef:
    """The FunctionDef, called "_", that has these operations of a graph for its body."""
    if out_names is not None and len(out_names) != len(outputs):
        raise ValueError(f"{len(out_names)} out_names are given for {len(outputs)} outputs")
    names = out_names or [tensor.name.removesuffix(":0").replace(":", "_o") for tensor in outputs]
    return to_function_def(graph, "_", inputs, outputs, names, operations=operations)


def function_def_to_graph(
    fdef: function_pb2.FunctionDef, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> FuncGraph:
    """The body of a function as a FuncGraph of its name; functions that it calls are those of the default graph."""
    return _drawn(fdef, input_shapes, copy_functions)[0]


def function_def_to_graph_def(
    fdef: function_pb2.FunctionDef, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> tuple[graph_pb2.GraphDef, dict[str, str]]:
    """(the body as a GraphDef, {how the body names a tensor or node: how a graph does})."""
    graph, tensors = _drawn(fdef, input_shapes, copy_functions)
    names = {text: tensor.name for text, tensor in tensors.items()}
    names.update((f"^{op.name}",) * 2 for op in graph.get_operations())
    return graph.as_graph_def(), names


def _drawn(
    fdef: function_pb2.FunctionDef, input_shapes: Sequence[Any] | None, copy_functions: bool
) -> tuple[FuncGraph, dict[str, Tensor]]:
    if input_shapes is not None and len(input_shapes) != len(fdef.signature.input_arg):
        raise ValueError(
            f"{len(input_shapes)} input_shapes are given for the {len(fdef.signature.input_arg)} arguments of"
            f" {fdef.signature.name}"
        )
    shapes = None if input_shapes is None else [TensorShape(shape) for shape in input_shapes]
    outer = get_default_graph()
    graph = FuncGraph(fdef.signature.name, outer)
    body = body_of(fdef, outer._functions if copy_functions else {}, shapes=shapes, graph=graph)
    graph.inputs, graph.outputs = body.inputs, body.outputs
    tensors = {arg.name: tensor for arg, tensor in zip(fdef.signature.input_arg, body.inputs)}
    operations = {op: op.name for op in graph.get_operations() if op.name not in tensors}
    tensors.update((reference(tensor, operations), tensor) for op in operations for tensor in op.outputs)
    return graph, tensors
