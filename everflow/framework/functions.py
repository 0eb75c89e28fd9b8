"""Functions of a graph: bodies kept beside the nodes, that ops call by name.

A body is drawn in a `FuncGraph`, written as a FunctionDef, and read back into a graph when it is to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from everflow.framework import attributes, builder, errors, op_def_protos, op_defs
from everflow.framework.graph import Graph
from everflow.framework.importer import MERGES, is_back_edge
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.walking import inputs_first
from everflow.protos import attr_value_pb2, function_pb2, node_def_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import Attributes, GraphFunctionLike, ShapeLike
    from everflow.framework.op_defs import OpDef
    from everflow.framework.operation import Operation

# How a body names its arguments (tensors) and nodes (operations).
_References: TypeAlias = "dict[Tensor | Operation, str]"


class FuncGraph(Graph):
    """A function's body while it is drawn: tensors of the graph around become further inputs when they are used."""

    # The results in the structure in which the Python function gave them, and the arguments' kinds.
    structured_outputs: Any = None
    structured_input_signature: Any = None
    # Variables that are read in it; bodies of traced functions note them.
    variables: Sequence[Any] = ()
    # Captures whose values are made at each call.
    deferred_external_captures: Sequence[Any] = ()
    deferred_internal_captures: Sequence[Tensor] = ()

    def __init__(
        self,
        name: str,
        outer_graph: Graph | None = None,
        capture_by_value: bool = False,
        collections: dict[Any, list[Any]] | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        outer_graph = outer_graph or get_default_graph()
        self.outer_graph: Graph = outer_graph
        self._building_function = True
        self._capture_by_value = capture_by_value
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        # Ops that run in any case.
        self.control_outputs: list[Operation] = []
        # Outer tensor → the placeholder that stands for it here.
        self._captures: dict[Tensor, Tensor] = {}
        # Why a saved model can't hold it.
        self._saving_errors: set[str] = set()
        # Executing eagerly there are those of the whole program: a body knows those that it calls.
        self._functions = {} if outer_graph.executes else dict(outer_graph._functions)
        self._seed = outer_graph.seed
        self._container = outer_graph._container
        if collections is not None:
            self._collections = collections

    capture_by_value = property(lambda self: self._capture_by_value)
    # Whether what makes a tensor of the graph around is drawn again here.
    _copies_captured = capture_by_value
    captures = property(
        lambda self: list(self._captures.items()), doc="(tensor outside, what stands for it here) each."
    )
    external_captures = property(lambda self: list(self._captures), doc="What it uses of the graph around.")
    internal_captures = property(lambda self: list(self._captures.values()), doc="What stands for it here.")

    output_types = property(lambda self: [tensor.dtype for tensor in self.outputs])
    output_shapes = property(lambda self: [tensor.shape for tensor in self.outputs])
    saveable = property(lambda self: not self._saving_errors, doc="Whether a saved model can hold it.")
    saving_errors = property(lambda self: self._saving_errors, doc="Why it can't.")

    def mark_as_unsaveable(self, error_message: str) -> None:
        """Note why a saved model can't hold it."""
        self._saving_errors.add(error_message)

    def add_capture(self, tensor: Tensor, placeholder: Tensor) -> None:
        """Let an input stand for a tensor of the graph around."""
        self._captures[tensor] = placeholder
        self.inputs.append(placeholder)

    def pop_capture(self, tensor: Tensor) -> Tensor | None:
        """Forget a tensor of the graph around. Returns what stood for it, None where nothing did."""
        return self._captures.pop(tensor, None)

    def reset_captures(self, capture_list: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Use these pairs of a tensor outside and what stands for it, and no others."""
        self._captures = dict(capture_list)

    def clear_captures(self) -> None:
        """Forget what it uses of the graph around."""
        self._captures = {}

    def add_input(self, dtype: DType, name: str, shape: ShapeLike = None) -> Tensor:
        """A new input of the function."""
        tensor = self._placeholder(dtype, name, shape)
        self.inputs.append(tensor)
        return tensor

    def _placeholder(self, dtype: DType, name: str, shape: ShapeLike = None) -> Tensor:
        attrs = {"dtype": dtype, "shape": TensorShape(shape)}
        with self.control_dependencies(None):
            return Graph.add_op(self, op_defs.get("Placeholder"), [], [dtype], attrs, name).outputs[0]

    def add_op(
        self,
        definition: OpDef,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType],
        attrs: Attributes,
        name: str,
        compute_device: bool = True,
    ) -> Operation:
        inputs = [t if t.is_in(self) else self.capture(t, consumer=name) for t in inputs]
        for arg, tensor in zip(definition.inputs, inputs, strict=False):
            if arg.is_list:
                break
            if arg.is_ref and not tensor.dtype._is_ref_dtype:
                raise TypeError(
                    f"A function has the value of a variable of the graph around it, and can't change it: '{arg.name}' of "
                    f"a '{definition.name}' op wants the variable itself. Variables with use_resource=True can be changed."
                )
        return super().add_op(definition, inputs, dtypes, attrs, name, compute_device)

    def capture(self, tensor: Tensor, consumer: str | None = None, name: str | None = None) -> Tensor:
        """What a tensor of the graph around is in this body; `consumer` is the name of the op that asks, `name` how its
        stand-in is to be called.
        """
        if tensor.is_in(self):
            return tensor
        if tensor not in self._captures:
            self._check_not_inside(tensor)
            if self._copies_captured:
                for needed in inputs_first(tensor, self._outside_inputs):
                    self._captures[needed] = self._copied(needed)
                return self._captures[tensor]
            called = self._scoped(name) if name else self._capture_name(tensor, consumer)
            stand_in = self._stand_in(tensor, called)
            stand_in._handle_data = tensor._handle_data
            self._captures[tensor] = stand_in
        return self._captures[tensor]

    def _scoped(self, name: str) -> str:
        """The name of a stand-in that the op which asks for it has a word for."""
        return name

    def _stand_in(self, tensor: Tensor, name: str) -> Tensor:
        return self._placeholder(tensor.dtype.base_dtype, name, tensor.shape)

    def _check_not_inside(self, tensor: Tensor) -> None:
        """A tensor of a body that is drawn in this one has a value only while that runs."""
        graph = None if tensor.is_eager else tensor.graph
        while isinstance(graph, FuncGraph):
            if graph is self:
                raise errors.InaccessibleTensorError(
                    f"{tensor} is of another function or block of code, inside of this one: let that return it"
                )
            graph = graph.outer_graph

    def _capture_name(self, tensor: Tensor, consumer: str | None) -> str:
        return "Placeholder"

    def _outside_inputs(self, tensor: Tensor) -> list[Tensor]:
        """What has to be copied before a tensor can be."""
        return [t for t in tensor.op.inputs if not t.is_in(self) and t not in self._captures]

    def _copied(self, tensor: Tensor) -> Tensor:
        """The op that makes a tensor again in this body, where its inputs are copied already."""
        op = tensor.op
        if op.definition.is_stateful or op.type in ("Placeholder", "PlaceholderV2"):
            raise ValueError(f"Cannot capture a stateful node by value: {op.name!r}, a {op.type}")
        inputs = [self.capture(t) for t in op.inputs]
        made = Graph.add_op(
            self, op.definition, inputs, [t.dtype for t in op.outputs], dict(op.attrs), op.name.replace("/", "_")
        )
        return made.outputs[tensor.value_index]


class Body(NamedTuple):
    """A function's body as a graph: what goes in, what comes out, and the ops that run in any case."""

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    controls: list[Operation]


class GraphFunction:
    """A function by its FunctionDef: what a graph's library holds."""

    def __init__(
        self,
        definition: function_pb2.FunctionDef,
        library: MutableMapping[str, Any] | None = None,
        gradient_name: str = "",
        python_grad_func: Callable[..., Any] | None = None,
    ) -> None:
        self.definition = definition
        self.name = definition.signature.name
        self.gradient_name = gradient_name
        self.python_grad_func = python_grad_func
        self.op_definition = op_def_protos.from_proto(definition.signature)
        self._library = library if library is not None else {}
        self._body: Body | None = None
        # What runs it, once something does, by what keeps functions.
        self.plans: dict[Any, Any] = {}
        # Its gradient, once a kernel has drawn it.
        self.derivative = None

    def body(self) -> Body:
        """The body as a graph of its own."""
        if self._body is None:
            self._body = body_of(self.definition, self._library)
        return self._body

    def body_tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        """(inputs, outputs) of the body as a graph of its own."""
        body = self.body()
        return body.inputs, body.outputs

    def body_controls(self) -> list[Operation]:
        """The ops of the body that a call runs whether or not an output needs them."""
        return self.body().controls

    def add_to_graph(self, graph: Graph) -> None:
        """Let nodes of a graph call this function, and those it calls."""
        for function in [*self._library.values(), self]:
            graph._learn_function(function)


class DrawnFunction(GraphFunction):
    """A function that runs as the graph it was drawn in: shapes and the user's lines are known in it."""

    def __init__(self, body: Body, name: str, argument_names: Iterable[str] = ()) -> None:
        definition = to_function_def(body.graph, name, body.inputs, body.outputs, controls=body.controls)
        for index, argument in enumerate(argument_names):
            definition.arg_attr[index].attr["_user_specified_name"].s = argument.encode()
        super().__init__(definition, body.graph._functions)
        self._body = Body(body.graph, list(body.inputs), list(body.outputs), list(body.controls))


def check_no_other(graph: Graph, function: GraphFunctionLike) -> None:
    """InvalidArgumentError where a graph calls something else by a function's name."""
    known = graph._get_function(function.name)
    if known is None and op_defs.find(function.name) is not None:
        raise errors.InvalidArgumentError(
            None, None, f"Cannot add function '{function.name}' because an op with the same name already exists."
        )
    if known is not None and known is not function and known.definition != function.definition:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Cannot add function '{function.name}' because a different function with the same name already exists.",
        )


def functions_from_library(library: function_pb2.FunctionDefLibrary) -> list[GraphFunction]:
    """The functions of a GraphDef's library; each can call the others."""
    gradients = {g.function_name: g.gradient_func for g in library.gradient}
    made: dict[str, GraphFunction] = {}
    for definition in library.function:
        copy = function_pb2.FunctionDef()
        copy.CopyFrom(definition)
        made[definition.signature.name] = GraphFunction(copy, made, gradients.get(definition.signature.name, ""))
    return list(made.values())


# --- writing ---------------------------------------------------------------------------------


def to_function_def(
    graph: Graph,
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
    stateful: bool | None = None,
    controls: Iterable[Operation] = (),
    operations: Iterable[Operation] | None = None,
) -> function_pb2.FunctionDef:
    """The FunctionDef of a body: `inputs` are its placeholders, in order; `controls` the ops that run in any case;
    `operations` those of the graph that belong to it, all where that is None.
    """
    function = function_pb2.FunctionDef()
    signature = function.signature
    signature.name = name
    given: set[str] = set()
    references: _References = {}
    # Results take their names first, then arguments, then nodes; who comes later gets a number.
    names = out_names or [_argument_name(t.op.name, given) for t in outputs]
    for index, tensor in enumerate(inputs):
        arg = _argument_name(tensor.op.name, given)
        function.arg_attr[index].SetInParent()
        signature.input_arg.add(name=arg, type=tensor.dtype.as_datatype_enum)
        references[tensor] = arg
    input_ops = {t.op for t in inputs}
    nodes = [op for op in (graph.get_operations() if operations is None else operations) if op not in input_ops]
    for op in nodes:
        references[op] = _numbered(op.name, given)
    for op in nodes:
        function.node_def.append(_body_node(op, references))
    for op in controls:
        signature.control_output.append(op.name)
        function.control_ret[op.name] = references[op]
    for arg, tensor in zip(names, outputs):
        signature.output_arg.add(name=arg, type=tensor.dtype.base_dtype.as_datatype_enum)
        function.ret[arg] = reference(tensor, references)
    signature.is_stateful = any(op.definition.is_stateful for op in nodes) if stateful is None else stateful
    return function


def _argument_name(op_name: str, given: set[str]) -> str:
    """A name that is allowed for an argument: lower case, letters, digits and underscores; made unique."""
    name = "".join(c if c.isalnum() else "_" for c in op_name.lower())
    name = name if name[:1].isalpha() else f"arg_{name}"
    return _numbered(name, given)


def _numbered(name: str, given: set[str]) -> str:
    base, count = name, 0
    while name in given:
        name = f"{base}_{count}"
        count += 1
    given.add(name)
    return name


def reference(tensor: Tensor, references: _References) -> str:
    """How a body names one of its tensors: an argument, or node:output_arg:index."""
    if tensor in references:
        return references[tensor]
    position = tensor.value_index
    for arg in tensor.op.definition.outputs:
        count = len(op_defs.arg_dtypes(arg, tensor.op.attrs))
        if position < count:
            return f"{references[tensor.op]}:{arg.name}:{position}"
        position -= count
    raise AssertionError(f"{tensor.name} is not an output of its op type")


def _body_node(op: Operation, references: _References) -> node_def_pb2.NodeDef:
    node = node_def_pb2.NodeDef(name=references[op], op=op.type, device=op.device)
    node.input.extend(reference(t, references) for t in op.inputs)
    node.input.extend(
        "^" + references[c.outputs[0]] if c.outputs and c.outputs[0] in references else "^" + references[c]
        for c in op.control_inputs
    )
    for key, value in op.attrs.items():
        node.attr[key].CopyFrom(attributes.to_proto(value))
    attributes.write_owners(node, op.attrs)
    return node


# --- reading ---------------------------------------------------------------------------------


def body_of(
    function: function_pb2.FunctionDef,
    library: MutableMapping[str, Any],
    attrs: Mapping[str, attr_value_pb2.AttrValue] | None = None,
    handle_data: Iterable[Any] = (),
    shapes: Iterable[ShapeLike] | None = None,
    graph: Graph | None = None,
) -> Body:
    """A graph with a placeholder for each argument and the body's nodes.

    `handle_data` tells what the variables are whose handles go in; `shapes` what is known of the arguments, where it is
    more than the definition says. It is drawn into `graph`, or a new one.
    """
    graph = Graph() if graph is None else graph
    graph._functions = dict(library)
    attrs = {k: attributes.from_proto(v) for k, v in (attrs or {}).items()}
    tensors: dict[str, list[Tensor]] = {}
    inputs = []
    if shapes is None:
        shapes = function.attr["_input_shapes"].list.shape if "_input_shapes" in function.attr else ()
    shapes = iter(shapes)
    with graph.as_default():
        for arg in op_def_protos.from_proto(function.signature).inputs:
            made = [
                graph.add_op(
                    op_defs.get("Placeholder"),
                    [],
                    [t],
                    {"dtype": t, "shape": TensorShape(next(shapes, None))},
                    arg.name,
                ).outputs[0]
                for t in op_defs.arg_dtypes(arg, attrs)
            ]
            tensors[arg.name] = made
            inputs.extend(made)
        for tensor, data in zip(inputs, handle_data):
            tensor._handle_data = data
        nodes = {node.name: node for node in function.node_def}
        back_edges = []
        for node in _in_order(function, nodes):
            back_edges += _add_body_node(graph, node, tensors, attrs)
        for merge, slot, text in back_edges:
            merge._update_input(slot, _resolve(text, tensors)[0])
        outputs = [_resolve(function.ret[arg.name], tensors) for arg in function.signature.output_arg]
    controls = [graph._nodes_by_name[name] for name in function.control_ret.values()]
    return Body(graph, inputs, [t for group in outputs for t in group], controls)


def _in_order(
    function: function_pb2.FunctionDef,
    nodes: Mapping[str, node_def_pb2.NodeDef],
) -> list[node_def_pb2.NodeDef]:
    """The body's nodes, inputs first."""
    order, state = [], {}
    for start in function.node_def:
        stack = [(start, iter(start.input))]
        if start.name in state:
            continue
        state[start.name] = "open"
        while stack:
            node, pending = stack[-1]
            for text in pending:
                source = nodes.get(text.lstrip("^").split(":")[0])
                if source is None or state.get(source.name) == "done" or is_back_edge(node, source):
                    continue
                if state.get(source.name) == "open":
                    raise ValueError(
                        f"Function {function.signature.name}: its nodes {node.name!r} and {source.name!r} wait for each other"
                    )
                state[source.name] = "open"
                stack.append((source, iter(source.input)))
                break
            else:
                stack.pop()
                state[node.name] = "done"
                order.append(node)
    return order


def _resolve(text: str, tensors: Mapping[str, list[Tensor]]) -> list[Tensor]:
    """The tensors that a reference in a body means: an argument, or node:output_arg[:index]."""
    parts = text.split(":")
    if parts[0] not in tensors:
        raise ValueError(f"Reference to unknown {text!r} in a function's body")
    if len(parts) == 1:
        return tensors[parts[0]]
    found = tensors[":".join(parts[:2])] if len(parts) > 1 else tensors[parts[0]]
    return [found[int(parts[2])]] if len(parts) == 3 else found


def _add_body_node(
    graph: Graph, node: node_def_pb2.NodeDef, tensors: dict[str, list[Tensor]], function_attrs: Attributes
) -> list[tuple[Operation, int, str]]:
    """Add one node; returns (op, slot, reference) for the ends of loops, which are made later."""
    definition = graph.definition_of(node.op)
    attrs = {
        k: _substituted(attributes.from_proto(v), function_attrs) for k, v in node.attr.items() if k != "_output_shapes"
    }
    attributes.read_owners(node, attrs)
    inputs, control, back_edges = [], [], []
    for text in node.input:
        if text.startswith("^"):
            name = text[1:]
            control.append(graph._nodes_by_name[name] if name in graph._nodes_by_name else tensors[name][0].op)
        elif node.op in MERGES and inputs and text.split(":")[0] not in tensors:
            back_edges.append((len(inputs), text))
            inputs.append(inputs[0])  # until the loop's end exists
        else:
            inputs.extend(_resolve(text, tensors))
    attrs = builder.complete_attrs(definition, inputs, attrs)
    with graph.control_dependencies(control):
        op = graph.add_op(definition, inputs, builder.output_dtypes(definition, attrs), attrs, node.name + "/")
    op._set_device_from_string(node.device)
    position = 0
    tensors[node.name] = list(op.outputs)
    for arg in definition.outputs:
        count = len(op_defs.arg_dtypes(arg, attrs))
        tensors[f"{node.name}:{arg.name}"] = op.outputs[position : position + count]
        position += count
    return [(op, slot, text) for slot, text in back_edges]


def _substituted(value: Any, function_attrs: Attributes) -> Any:
    """A function's attribute used as a node's: `placeholder` names it."""
    if isinstance(value, str) and value in function_attrs:
        return function_attrs[value]
    return value


def call_attr(name: str) -> attr_value_pb2.NameAttrList:
    """The attribute by which an op names a function."""
    return attr_value_pb2.NameAttrList(name=name)
