"""Bodies of functions drawn from Python: captures, the order of ops with state, and how a graph comes to know them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from everflow.framework import dtypes, nest, op_defs, strategy_context
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import Body, DrawnFunction, FuncGraph, body_of
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue
from everflow.ops import array

_numbers = itertools.count(1)

# Ops that are marked as having state, but whose order doesn't matter and that needn't run when nothing asks for them.
_FREE = frozenset(
    "VarHandleOp VariableV2 Variable VarIsInitializedOp Placeholder RandomUniform RandomUniformInt RandomStandardNormal "
    "ParameterizedTruncatedNormal TruncatedNormal RandomShuffle Multinomial RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2 "
    "TensorArrayV3 TensorArrayGradV3".split()
)

# Where a graph keeps its variable scopes and the variables that `get_variable` made.
VARIABLE_SCOPES = (("__varscope",), ("__variable_store",))

# Collections that a body shares with the graph around it; of the others it has a copy.
SHARED = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, *VARIABLE_SCOPES)

# How variables are read.
_READS = ("ReadVariableOp", "ResourceGather")

# Types of eager tensors that are no numbers or strings, and how many values one may have to be known in a body.
_OPAQUE = (dtypes.resource, dtypes.variant)
_MOST_KNOWN = 128


class Deferred(NamedTuple):
    """A value that a body gets at each call of it: what makes it, of what kind it is, and the inputs that stand for it."""

    make: Callable[[], Any]
    spec: Any
    inside: list[Tensor]

    def values(self) -> list[Tensor]:
        """The tensors of the value as it is now."""
        value = self.make()
        nest.assert_same_structure(self.spec, value, expand_composites=True)
        return [
            self._fitted(each, like) for each, like in zip(nest.flatten(value, expand_composites=True), self.inside)
        ]

    @staticmethod
    def _fitted(value, like):
        try:
            tensor = convert_to_tensor(value, dtype=like.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{value!r} can't become a tensor of type {like.dtype.name}: {error}") from None
        if not tensor.shape.is_compatible_with(like.shape):
            raise ValueError(f"A value of shape {tensor.shape} came where one of shape {like.shape} was announced")
        return tensor


class BodyGraph(FuncGraph):
    """The body of a traced function, a branch or a loop."""

    # Branches and loops in it are functional ops.
    draws_functions = True
    # Its ops with state run in the order in which they were made, and in any case. Branches in plain graphs leave that
    # to the program.
    orders_state = True
    # To capture by value means to read variables in the graph around.
    _copies_captured = False

    def __init__(self, name, outer_graph):
        super().__init__(name, outer_graph)
        self._deferred: dict[Any, tuple[Deferred, Any]] = {}
        # Operations of graphs around that a call has to wait for.
        self.control_captures: list[Operation] = []
        # Inputs that stand for arguments, and those of the call that it is drawn for.
        self.first_arguments: dict[Tensor, Tensor] = {}
        # Variables that are read in it, by identity.
        self.accessed: dict = {}
        # Handles of variables that are arguments, while it is drawn.
        self._variable_inputs: list[Tensor] = []
        for key in SHARED:
            outer_graph.get_collection_ref(key)
        self._collections = {k: v if k in SHARED else list(v) for k, v in outer_graph._collections.items()}
        self._variable_creator_stack = outer_graph._variable_creator_stack
        # `tf.device` says where a function runs, wherever it is called. But a function of an op has to see the ops, and
        # replicas are drawn for their devices.
        around = [] if outer_graph.executes else outer_graph._device_stack
        if any(callable(scope.request) for scope in around) or strategy_context.current() is not None:
            self._device_stack = list(around)

    def add_op(self, definition, inputs, dtypes, attrs, name, compute_device=True):
        if not (self._capture_by_value and definition.name in _READS):
            return super().add_op(definition, inputs, dtypes, attrs, name, compute_device)
        outside = {inside: outer for outer, inside in self._captures.items()}
        with self.outer_graph.as_default():
            read = self.outer_graph.add_op(definition, [outside.get(t, t) for t in inputs], dtypes, attrs, name)
        return self.capture(read.outputs[0], consumer=name).op

    def add_variable_input(self, handle, name):
        """An input for the handle of a variable that is given as an argument: uses of that variable take it."""
        tensor = self.add_input(handle.dtype, name, handle.shape)
        tensor.op._set_attr("_user_specified_name", name.encode())
        tensor._handle_data = handle._handle_data
        if self._captures.setdefault(handle, tensor) is tensor:
            self._variable_inputs.append(handle)

    def forget_variable_inputs(self):
        """What was given as an argument is not captured."""
        for handle in self._variable_inputs:
            del self._captures[handle]
        self._variable_inputs.clear()

    def belong_to(self, graph):
        """Be a part of a graph, as branches and loops are: collections are that graph's."""
        self.orders_state = getattr(graph, "orders_state", False)
        self._collections = graph._collections

    def control_dependencies(self, control_inputs):
        """As a graph's; on operations of graphs around, each call waits as a whole."""
        if control_inputs is None:
            return super().control_dependencies(None)
        inside = []
        for item in control_inputs:
            op = item if isinstance(item, (str, Operation)) or getattr(item, "is_eager", False) else item.op
            if isinstance(op, Operation) and op.graph is not self:
                self.control_captures.append(op)
            else:
                inside.append(item)
        return super().control_dependencies(inside)

    variables = property(lambda self: tuple(self.accessed.values()), doc="The variables that it uses.")
    trainable_variables = property(lambda self: tuple(v for v in self.variables if v.trainable))

    deferred = property(lambda self: [each for each, _ in self._deferred.values()])
    deferred_external_captures = property(lambda self: [each.make for each in self.deferred])
    deferred_internal_captures = property(lambda self: [tensor for each in self.deferred for tensor in each.inside])

    def capture_call_time_value(self, closure, spec, key=None):
        """What `closure` gives whenever the function is called, a nest of tensors of the kinds in `spec`; a `key` that
        was used before gives the same again.
        """
        key = object() if key is None else key
        if key not in self._deferred:
            inside = [
                self._placeholder(each.dtype, "Placeholder", each.shape)
                for each in nest.flatten(spec, expand_composites=True)
            ]
            self._deferred[key] = Deferred(closure, spec, inside), nest.pack_sequence_as(spec, inside, True)
        return self._deferred[key][1]

    def watch_variable(self, variable):
        """Note a variable as one that the body uses."""
        self.accessed.setdefault(id(variable), variable)

    def variable_accessed(self, variable):
        self.accessed.setdefault(id(variable), variable)
        if isinstance(self.outer_graph, BodyGraph):
            self.outer_graph.variable_accessed(variable)

    def take_gradient(self, gradient):
        """What stands in a derivative's body for a gradient outside: an input."""
        return self.add_input(gradient.dtype, "placeholder", gradient.shape)

    def repeat_constant(self, tensor):
        """A constant of another graph, drawn here anew."""
        op = tensor.op
        return self.add_op(op.definition, [], [t.dtype for t in op.outputs], dict(op.attrs), "Const").outputs[0]

    def _capture_name(self, tensor, consumer):
        if tensor.is_eager:
            return "unknown"
        if not consumer:
            return tensor.op.name
        inside = (
            consumer[:-1]
            if consumer.endswith("/")
            else f"{self._name_stack}/{consumer}"
            if self._name_stack
            else consumer
        )
        return f"{inside}/{tensor.op.name}"

    def _scoped(self, name):
        return f"{self._name_stack}/{name}" if self._name_stack else name

    def _stand_in(self, tensor, name):
        if not tensor.is_eager or tensor.dtype in _OPAQUE or tensor.shape.num_elements() > _MOST_KNOWN:
            return super()._stand_in(tensor, name)
        # It doesn't change any more, so what is small may be known while the body is drawn: shapes follow from it.
        attrs = {"dtype": tensor.dtype, "value": TensorValue(array=np.asarray(tensor.numpy()), dtype=tensor.dtype)}
        return self._at_root(
            lambda: Graph.add_op(self, op_defs.get("Const"), [], [tensor.dtype], attrs, name).outputs[0]
        )

    def _placeholder(self, dtype, name, shape=None):
        return self._at_root(lambda: super(BodyGraph, self)._placeholder(dtype, name, shape))

    def _at_root(self, make):
        """What `make()` draws, outside of scopes and waiting for nothing."""
        stack, self._name_stack = self._name_stack, ""
        try:
            with self.control_dependencies(None):
                return make()
        finally:
            self._name_stack = stack

    def body(self, inputs, outputs) -> Body:
        """What a function is made of, with the ops that have to run in any case."""
        return Body(self, list(inputs), list(outputs), list(self.control_outputs))


class PartGraph(BodyGraph):
    """The body of a branch or a loop; around it is the default graph where no other is given."""

    def __init__(self, name, outer_graph=None):
        super().__init__(name, outer_graph or get_default_graph())


# Classes for the kinds, so that what draws inside can ask where it is.
class CondBranchFuncGraph(PartGraph):
    """The body of a branch."""


class WhileCondFuncGraph(PartGraph):
    """The condition of a loop."""


class WhileBodyFuncGraph(PartGraph):
    """The body of a loop."""


def stateful_ops(graph):
    """Ops of a body that a call has to run."""
    return [op for op in graph.get_operations() if op.definition.is_stateful and op.type not in _FREE]


def order_stateful_ops(graph):
    """Let ops that use the same resource run in the order in which they were made, and so those whose state nobody
    sees.

    Returns those that have to run.
    """
    last = {}
    for op in graph.get_operations():
        if op.type in _FREE:
            continue
        uses = list(dict.fromkeys(t for t in op.inputs if t.dtype.name == "resource"))
        if not uses and op.definition.is_stateful and op._control_flow_context is None:
            uses = [None]
        for tensor in uses:
            before = last.get(tensor)
            if before is not None and before is not op and before._control_flow_context is op._control_flow_context:
                op._add_control_input(before)
            last[tensor] = op
    return sorted(stateful_ops(graph), key=lambda op: op.name)


def returned(graph, tensors):
    """The results of a body: each waits for the ops that have to run."""
    graph.control_outputs = order_stateful_ops(graph)
    results = [array.identity(t) for t in tensors]
    for result in results:
        for op in graph.control_outputs:
            result.op._add_control_input(op)
    return results


def finished(graph, tensors):
    """The results of a body: they wait for ops with state where the body orders them, and what makes them wait
    captures those of the graph around, under its name.
    """
    return returned(graph, tensors) if graph.orders_state else [graph.capture(t) for t in tensors]


def unique_name(text):
    """A function name that no other function of this process has."""
    return f"{text}_{next(_numbers)}"


def define(body: Body, name, *graphs, argument_names=(), keeping=()) -> DrawnFunction:
    """Make a function of a body, and let graphs and those around them call it; after the body's results it gives the
    tensors in `keeping`.
    """
    function = DrawnFunction(body._replace(outputs=[*body.outputs, *keeping]), name, argument_names)
    body.graph.outputs = list(body.outputs)
    for graph in graphs:
        while graph is not None:
            function.add_to_graph(graph)
            graph = graph.outer_graph
    return function


def as_stored(function, inputs) -> Body:
    """The body of a loop or a branch as TensorFlow differentiates it: read back from the definition, with the names in
    it, and without what the drawn one knows of variables' shapes. The user's lines stay.
    """
    variables = [t._handle_data and [(dtype, TensorShape(None)) for dtype, _ in t._handle_data] for t in inputs]
    body = body_of(function.definition, function._library, None, variables, [t.shape for t in inputs])
    for op in body.graph.get_operations():
        body.graph.unique_name(op.name)
    if isinstance(function, DrawnFunction):
        arguments = {t.op for t in function.body().inputs}
        drawn = (op for op in function.body().graph.get_operations() if op not in arguments)
        for node, op in zip(function.definition.node_def, drawn):
            body.graph.get_operation_by_name(node.name)._frames = op._frames
    return body


def add_placeholder(graph, like, dtype=None, name="placeholder"):
    """A further input of a body that is drawn already, for a value like this one."""
    attrs = {"dtype": dtype or like.dtype.base_dtype, "shape": TensorShape(like.shape if dtype is None else [])}
    with graph.control_dependencies(None):
        tensor = Graph.add_op(graph, op_defs.get("Placeholder"), [], [attrs["dtype"]], attrs, name).outputs[0]
    tensor._handle_data = like._handle_data if dtype is None else None
    return tensor


def is_kept(tensor):
    """Whether a value computed in a body can be handed out of it, for its derivative: resources and lists can't."""
    return tensor.dtype.base_dtype not in (dtypes.resource, dtypes.variant)


def intermediates_of(body):
    """What a body computes and neither takes nor gives."""
    known = {*body.inputs, *body.outputs}
    ops = (op for op in body.graph.get_operations() if op.type != "Identity")
    return [t for op in ops for t in op.outputs if t not in known and is_kept(t)]


def grow(op, outputs=(), inputs=(), **attrs):
    """Give an op that calls functions more outputs (like the body tensors given) and inputs. Returns the new outputs."""
    made = []
    for like in outputs:
        tensor = Tensor(op, len(op.outputs), like.dtype.base_dtype)
        tensor.set_shape(like.shape)
        tensor._handle_data = like._handle_data
        op.outputs.append(tensor)
        made.append(tensor)
    if inputs:
        op._inputs = type(op._inputs)([*op._inputs, *inputs])
        for tensor in inputs:
            tensor._consumers.append(op)
    op.attrs.update(attrs)
    op.graph._mutations += 1
    return made
