"""Traced functions with the values of their variables in them, for files and converters that know no variables."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.tensor_values import make_tensor_proto
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.inlining import inlined, with_values
from everflow.ops.functions.wrapped import WrappedFunction, function_from_graph_def
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef


def convert_variables_to_constants_v2(func: ConcreteFunction, lower_control_flow: bool = True) -> WrappedFunction:
    """A function of the same arguments that holds, as constants, what the variables and other tensors that `func` uses
    have now. Calls of functions in it are their bodies.

    Branches and loops stay ops with functions; `lower_control_flow` is for those who can't run such.
    """
    graph_def = frozen(func)
    stand_ins = set(func.graph._captures.values())
    inputs = [tensor.name for tensor in func.graph.inputs if tensor not in stand_ins]
    made = function_from_graph_def(graph_def, inputs, [tensor.name for tensor in func.outputs])
    made._signature = func._signature
    return made


def frozen(func: ConcreteFunction) -> GraphDef:
    """The body of a function as a GraphDef, with constants for everything from outside."""
    variables = {v.handle: v for v in func.variables}
    values = {inside.op.name: _value(outer, variables) for outer, inside in func.graph._captures.items()}
    handles = {
        inside.op.name: dtypes.as_dtype(values[inside.op.name].dtype)
        for outer, inside in func.graph._captures.items()
        if outer.dtype == dtypes.resource
    }
    whole = inlined(func.graph.as_graph_def())
    for node in whole.node:
        if node.name in values:
            node.CopyFrom(_constant(node.name, values[node.name]))
    return with_values(whole, handles, handles)


def _value(outer: Tensor, variables: dict):
    """What a tensor of the graph around is now, a variable's value for its handle."""
    if outer.dtype != dtypes.resource:
        return outer.numpy()
    if outer not in variables:
        raise ValueError(f"{outer!r} is a resource other than a variable, and can't be a constant")
    return variables[outer].numpy()


def _constant(name: str, value) -> NodeDef:
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtypes.as_dtype(value.dtype).as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return node
