"""Calls of functions in a GraphDef replaced by the functions' bodies, and handles of variables by values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from everflow.framework import attributes, dtypes
from everflow.framework.functions import Body, DrawnFunction, GraphFunction, functions_from_library
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.protos.function_pb2 import FunctionDef
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef

_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
_BRANCHES = {"If": ("then_branch", "else_branch"), "StatelessIf": ("then_branch", "else_branch")}
_LOOPS = {"While": ("cond", "body"), "StatelessWhile": ("cond", "body")}


def inlined(graph_def: GraphDef, is_chosen: Callable[[GraphFunction], bool] = lambda function: True) -> GraphDef:
    """A GraphDef without calls of functions, or of those that are chosen: each is its body, below the name of the call
    and on its device where it asks for none, and an Identity for its results. Functions of branches and loops stay.
    """
    functions = {f.name: f for f in functions_from_library(graph_def.library)}
    made = GraphDef(versions=graph_def.versions, library=graph_def.library)
    waiting = list(graph_def.node)
    while waiting:
        node = waiting.pop(0)
        called = node.attr["f"].func.name if node.op in _CALLS else node.op
        if called in functions and is_chosen(functions[called]):
            waiting[:0] = _body_nodes(node, functions[called])
        else:
            made.node.add().CopyFrom(node)
    return made


def takes_handles(graph_def: GraphDef) -> Callable[[GraphFunction], bool]:
    """What says of a function of a GraphDef whether it takes handles, and doesn't call itself."""
    calls = {
        f.signature.name: {name for n in f.node_def for name in (n.op, *(a.func.name for a in n.attr.values()))}
        for f in graph_def.library.function
    }

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = calls.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def is_chosen(function: GraphFunction) -> bool:
        kinds = [argument.type for argument in function.definition.signature.input_arg]
        return dtypes.resource.as_datatype_enum in kinds and function.name not in reached(function.name)

    return is_chosen


def _body_nodes(call: NodeDef, function: GraphFunction) -> list[NodeDef]:
    inputs, outputs = function.body_tensors()
    data = [name for name in call.input if not name.startswith("^")]
    before = [name for name in call.input if name.startswith("^")]
    given = {tensor.op.name: name for tensor, name in zip(inputs, data, strict=True)}

    def renamed(name: str) -> str:
        control, name = ("^", name[1:]) if name.startswith("^") else ("", name)
        if name in given:
            return control + (given[name].partition(":")[0] if control else given[name])
        return f"{control}{call.name}/{name}"

    nodes = []
    for inner in function.body().graph.as_graph_def().node:
        if inner.name in given:
            continue
        node = NodeDef()
        node.CopyFrom(inner)
        node.name, node.input[:] = renamed(inner.name), [renamed(name) for name in inner.input]
        node.device = inner.device or call.device
        if not inner.input:
            node.input.extend(before)
        nodes.append(node)
    results = [renamed(t._as_node_def_input()) for t in outputs]
    controls = sorted({f"^{renamed(op.name)}" for op in function.body_controls()})
    return [*nodes, _result_node(call, results, [t.dtype for t in outputs], controls + before)]


def _result_node(call: NodeDef, results: list[str], types: list[dtypes.DType], controls: list[str]) -> NodeDef:
    """The node by the name of a call that has its results."""
    op = ("NoOp", "Identity")[len(results)] if len(results) < 2 else "IdentityN"
    node = NodeDef(name=call.name, op=op, device=call.device)
    node.input.extend(results + controls)
    if results:
        node.attr["T"].CopyFrom(attributes.to_proto(types[0] if len(types) == 1 else list(types)))
    return node


# --- values in place of handles -------------------------------------------------------------------


def with_values(graph_def: GraphDef, values: Iterable[str], types: dict[str, dtypes.DType]) -> GraphDef:
    """A GraphDef in which nodes that gave a variable's handle give its value: reads of these are Identities, and what
    branches and loops are given of them, too. `types` has the type of each.
    """
    return _Values(graph_def, dict.fromkeys(values), types).made


class _Values:
    """The handles that are values by now, by the names of tensors."""

    def __init__(self, graph_def: GraphDef, values: Iterable[str], types: dict[str, dtypes.DType]) -> None:
        self._types = {name: types[name] for name in values}
        self._functions = {f.name: f for f in functions_from_library(graph_def.library)}
        self.made = GraphDef(versions=graph_def.versions)
        self.made.library.CopyFrom(graph_def.library)
        rewrites: dict[str, Callable[[NodeDef], None]] = {
            "Identity": self._identity,
            "ReadVariableOp": self._read,
            "ResourceGather": self._gather,
            "VariableShape": self._shape,
            **dict.fromkeys(_BRANCHES, self._branches),
            **dict.fromkeys(_LOOPS, self._loop),
        }
        for original in graph_def.node:
            node = NodeDef()
            node.CopyFrom(original)
            if original.op in rewrites and any(name in self._types for name in original.input):
                rewrites[original.op](node)
            self.made.node.add().CopyFrom(node)

    def _become(self, node: NodeDef, op: str, **types: dtypes.DType) -> None:
        node.op = op
        node.attr.clear()
        for name, dtype in types.items():
            node.attr[name].type = dtype.as_datatype_enum

    def _identity(self, node: NodeDef) -> None:
        self._types[node.name] = self._types[node.input[0]]
        node.attr["T"].type = self._types[node.name].as_datatype_enum

    def _read(self, node: NodeDef) -> None:
        self._become(node, "Identity", T=self._types[node.input[0]])

    def _gather(self, node: NodeDef) -> None:
        indices = dtypes.as_dtype(node.attr["Tindices"].type)
        axis = self.made.node.add(name=f"{node.name}/axis", op="Const")
        axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
        axis.attr["value"].tensor.dtype = dtypes.int32.as_datatype_enum
        axis.attr["value"].tensor.tensor_shape.SetInParent()
        axis.attr["value"].tensor.int_val.append(0)
        node.input.insert(2, axis.name)
        self._become(node, "GatherV2", Tparams=self._types[node.input[0]], Tindices=indices, Taxis=dtypes.int32)

    def _shape(self, node: NodeDef) -> None:
        out_type = dtypes.as_dtype(node.attr["out_type"].type or dtypes.int32)
        self._become(node, "Shape", T=self._types[node.input[0]], out_type=out_type)

    def _branches(self, node: NodeDef) -> None:
        self._retype(node, "Tin", 1)
        for attr in _BRANCHES[node.op]:
            self._rewrite_function(node, attr, node.input[1:])

    def _loop(self, node: NodeDef) -> None:
        for place, name in enumerate(node.input):
            if name in self._types:
                self._types[f"{node.name}:{place}" if place else node.name] = self._types[name]
        self._retype(node, "T", 0)
        for attr in _LOOPS[node.op]:
            self._rewrite_function(node, attr, node.input)

    def _retype(self, node: NodeDef, attr: str, first: int) -> None:
        for place, name in enumerate(node.input[first:]):
            if name in self._types:
                node.attr[attr].list.type[place] = self._types[name].as_datatype_enum

    def _rewrite_function(self, node: NodeDef, attr: str, given: list[str]) -> None:
        """A form of a branch's or loop's function that takes values."""
        function = self._functions[node.attr[attr].func.name]
        inputs, outputs = function.body_tensors()
        arguments = {
            tensor.op.name: self._types[name]
            for tensor, name in zip(inputs, given, strict=False)
            if name in self._types
        }
        body = GraphDef()
        body.CopyFrom(function.body().graph.as_graph_def())
        body.library.CopyFrom(self.made.library)
        for inner in body.node:
            if inner.name in arguments:
                inner.attr["dtype"].type = arguments[inner.name].as_datatype_enum
        changed = _Values(inlined(body), arguments, arguments).made
        name = f"{function.name}_frozen"
        self.made.library.CopyFrom(changed.library)
        self.made.library.function.add().CopyFrom(_as_function(changed, name, inputs, outputs))
        node.attr[attr].func.name = name


def _as_function(graph_def: GraphDef, name: str, inputs: list, outputs: list) -> FunctionDef:
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
        body = Body(
            graph,
            [graph.get_tensor_by_name(t.name) for t in inputs],
            [graph.get_tensor_by_name(t.name) for t in outputs],
            [],
        )
        return DrawnFunction(body, name, [t.op.name for t in inputs]).definition
