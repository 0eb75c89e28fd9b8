"""tensorflow.python.framework's function_def_to_graph and graph_to_function_def: bodies of functions as graphs, and back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.functions import FuncGraph, body_of, reference, to_function_def
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.protos import function_pb2, graph_pb2, node_def_pb2, op_def_pb2


def graph_to_function_def(
    graph: Any,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> function_pb2.FunctionDef:
    """The FunctionDef, called "_", that has these operations of a graph for its body."""
    if out_names is not None and len(out_names) != len(outputs):
        raise InvalidArgumentError(None, None, f"{len(out_names)} out_names are given for {len(outputs)} outputs")
    if out_names is not None and len(set(out_names)) < len(out_names):
        raise ValueError(f"Each of out_names has to be another one: {list(out_names)}")
    names = out_names or [_make_argname_from_tensor_name(tensor.name) for tensor in outputs]
    return to_function_def(graph, "_", inputs, outputs, names, operations=operations)


def _make_argname_from_tensor_name(name: str) -> str:
    """How a function names an argument or result that a tensor of this name is."""
    return name.removesuffix(":0").replace(":", "_o")


def _tensor_to_argdef(
    t: Tensor, name: str | None = None, used_names: set[str] | None = None
) -> op_def_pb2.OpDef.ArgDef:
    """The argument or result that a tensor is; one of `used_names` gets a number, and joins them."""
    found = name or _make_argname_from_tensor_name(t.name)
    if name is None and used_names is not None:
        plain, numbers = found, itertools.count()
        while found in used_names:
            found = f"{plain}_U{next(numbers)}"
        used_names.add(found)
    return op_def_pb2.OpDef.ArgDef(name=found, type=t.dtype.as_datatype_enum)


def _is_in_placeholders(op: Operation, func_arg_placeholders: Sequence[str]) -> bool:
    """Whether an operation gives one of the tensors that stand for a function's arguments."""
    return any(tensor.name in func_arg_placeholders for tensor in op.values())


def _get_node_def(op: Operation) -> node_def_pb2.NodeDef:
    """An operation as a node."""
    return op.node_def


def _get_op_def(op: Operation) -> op_def_pb2.OpDef:
    """The definition of an operation's type."""
    return op.op_def


def _create_input_dict(
    function_graph: Graph, func_arg_placeholders: Sequence[Any], initial_value: Mapping[str, str] | None = None
) -> dict[str, str]:
    """{how a graph names a tensor or node: how a function's body does}; its arguments are the same in both."""
    found = dict(initial_value or {})
    operations = {op: op.name for op in function_graph.get_operations()}
    for op in operations:
        if _is_in_placeholders(op, func_arg_placeholders):
            found[op.name] = op.name
            continue
        for tensor in op.outputs:
            found[tensor.name] = reference(tensor, operations)
            if tensor.value_index == 0:
                found[op.name] = found[tensor.name]
    return found


def is_function(fname: str | bytes) -> bool:
    """Whether a function of the default graph, or of one around it, is called so."""
    name = fname.decode() if isinstance(fname, bytes) else fname
    graph: Graph | None = get_default_graph()
    while graph is not None:
        if graph._is_function(name):
            return True
        graph = graph.outer_graph
    return False


def _get_num_args(arg_def: op_def_pb2.OpDef.ArgDef, node_def: node_def_pb2.NodeDef) -> int:
    """How many tensors an argument of an op type is in a node."""
    if arg_def.number_attr:
        return node_def.attr[arg_def.number_attr].i
    return len(node_def.attr[arg_def.type_list_attr].list.type) if arg_def.type_list_attr else 1


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
