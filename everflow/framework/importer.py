"""`import_graph_def`: the nodes of a GraphDef, checked, as operations of the default graph.

A GraphDef may come from anywhere, so each reference, attribute and type is checked before a node is added.
"""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everflow.framework import attributes, dtypes
from everflow.framework.builder import output_dtypes
from everflow.framework.composites import IndexedSlices, SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.devices import canonical_name
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.graph import GRAPH_DEF_VERSION
from everflow.framework.op_defs import OpDef, arg_dtypes
from everflow.framework.operation import Operation, Tensor, capture_frames
from everflow.framework.registry import infer_shapes
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue
from everflow.protos import attr_value_pb2, graph_pb2, op_def_pb2
from everflow.version import GRAPH_DEF_VERSION_MIN_PRODUCER

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.hints import Attributes, Element, TensorLike
    from everflow.framework.op_defs import AttrDef
    from everflow.protos import node_def_pb2

_NODE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_>.\-/]*$")
_COLOCATION = b"loc:@"
# Back edges of loops come from these, so a Merge does not wait for them.
MERGES = ("Merge", "RefMerge")
_LOOP_BACK = ("NextIteration", "RefNextIteration")
_KINDS = {
    "type": dtypes.DType,
    "int": int,
    "float": float,
    "bool": bool,
    "string": bytes,
    "shape": TensorShape,
    "tensor": TensorValue,
    "func": attr_value_pb2.NameAttrList,
}


def import_graph_def(
    graph_def: graph_pb2.GraphDef,
    input_map: Mapping[str, TensorLike] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: op_def_pb2.OpList | None = None,
) -> list[Element] | None:
    """Add the nodes of a GraphDef to the default graph, under the name scope `name` ("import" by default).

    Args:
        graph_def: The message.
        input_map: Tensors of this graph that take the place of tensors of the GraphDef, by their names there.
        return_elements: The names of operations ("a") and tensors ("a:0") to return.
        name: What is put before the nodes' names; an empty string for nothing.
        op_dict: No effect.
        producer_op_list: The op definitions of the program that wrote the GraphDef: defaults it didn't know are filled
            in.

    Returns:
        A list of what `return_elements` names, or None.

    Raises:
        TypeError: If an argument is of the wrong kind.
        ValueError: If a node can't be added, or a name isn't there.

    Example:
        >>> with tf.Graph().as_default() as drawn:
        ...     y = tf.add(tf.placeholder(tf.float32, name="x"), 1.0, name="y")
        >>> y, = tf.import_graph_def(drawn.as_graph_def(), {"x:0": tf.constant(2.0)}, ["y:0"])
        >>> y.name, sess.run(y)
        ('import/y:0', np.float32(3.0))
    """
    graph_def = _as_graph_def(graph_def)
    input_map = _check_input_map(input_map)
    return_elements = _check_return_elements(return_elements)
    graph = get_default_graph()
    graph._check_not_finalized()
    with name_scope(name, "import", list(input_map.values())) as scope:
        input_map = _tensors_of(input_map, name)
        _check_graph_of(input_map, graph)
        prefix = scope[:-1] if scope else ""
        with graph._lock:
            importer = _Importer(graph, graph_def, input_map, prefix, _stripped_defaults(producer_op_list))
            return importer.run(return_elements)


def _as_graph_def(graph_def: Any) -> graph_pb2.GraphDef:
    if isinstance(graph_def, graph_pb2.GraphDef):
        return graph_def
    # Some programs pass a file's bytes in another library's message class.
    if hasattr(graph_def, "SerializeToString") and type(graph_def).__name__ == "GraphDef":
        return graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    raise TypeError("graph_def must be a GraphDef proto.")


def _check_input_map(input_map: Any) -> dict[str, TensorLike]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError("input_map must be a dictionary from names to tensors.")
    return {k.decode() if isinstance(k, bytes) else k: v for k, v in input_map.items()}


def _check_return_elements(return_elements: Iterable[Any] | None) -> tuple[str, ...] | None:
    if return_elements is None:
        return None
    return_elements = tuple(return_elements)
    if not all(isinstance(x, (str, bytes)) for x in return_elements):
        raise TypeError("return_elements must be names, as strings.")
    return tuple(x.decode() if isinstance(x, bytes) else x for x in return_elements)


def _tensors_of(input_map: dict[str, TensorLike], name: str | None) -> dict[str, Tensor]:
    if all(isinstance(v, Tensor) for v in input_map.values()):
        return input_map
    if name == "":
        raise ValueError(
            "input_map has values that are no tensors yet, and with an empty `name` there is no scope to convert them in: "
            "pass tensors (tf.convert_to_tensor makes them), or a name."
        )
    with name_scope("_inputs"):
        converted = {
            k: v if isinstance(v, (IndexedSlices, SparseTensor)) else convert_to_tensor(v) for k, v in input_map.items()
        }
    tensors = {}
    for key, value in converted.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"input_map must map to tensors; {key!r} is mapped to a {type(value).__name__}.")
        tensors[key] = value
    return tensors


def _check_graph_of(input_map: dict[str, Tensor], graph: Graph) -> None:
    """Tensors of other graphs can't be inputs here, but in the body of a function, which takes them in."""
    for key, tensor in input_map.items():
        if isinstance(tensor, Tensor) and not tensor.is_in(graph) and not graph.building_function:
            raise ValueError(f"input_map maps {key!r} to {tensor}, which is of another graph than the nodes go to")


def _stripped_defaults(producer_op_list: op_def_pb2.OpList | None) -> dict[str, dict[str, attr_value_pb2.AttrValue]]:
    """{op type: {attribute: default}} of the producer, for attributes that this library may not know."""
    if producer_op_list is None:
        return {}
    if not isinstance(producer_op_list, op_def_pb2.OpList):
        raise TypeError("producer_op_list must be an OpList proto.")
    return {
        op.name: {a.name: a.default_value for a in op.attr if a.HasField("default_value")} for op in producer_op_list.op
    }


def split_input(text: str) -> tuple[str, int]:
    """(node name, output index) of an input string of a NodeDef; index -1 for a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, 0


def is_back_edge(node: node_def_pb2.NodeDef, source: node_def_pb2.NodeDef) -> bool:
    """Whether the way from one NodeDef to another goes back to the start of a loop."""
    return node.op in MERGES and source.op in _LOOP_BACK


class _Importer:
    """One import: the nodes that wait for their inputs, and the operations made so far."""

    def __init__(
        self,
        graph: Graph,
        graph_def: graph_pb2.GraphDef,
        input_map: Mapping[str, Tensor],
        prefix: str,
        producer_defaults: dict[str, dict[str, attr_value_pb2.AttrValue]],
    ) -> None:
        self.graph = graph
        self.nodes = list(graph_def.node)
        self.graph_def = graph_def
        self.input_map = dict(input_map)
        self.prefix = prefix
        self.producer_defaults = producer_defaults
        self.index: dict[str, int] = {}
        self.made: dict[str, Operation] = {}
        self.used: set[str] = set()
        self.placed: list[tuple[Operation, str]] = []
        self.colocated: list[Operation] = []
        self.frames = capture_frames(3)
        self.control = sorted(graph._current_control_dependencies(), key=lambda op: op._id)

    def run(self, return_elements: tuple[str, ...] | None) -> list[Element] | None:
        self._check_versions()
        self._import_functions()
        self._check_nodes()
        self._check_returned(return_elements or ())
        first, names = len(self.graph._ops), dict(self.graph._names_in_use)
        # A graph is as old as the oldest of its parts; what nodes may be may depend on it.
        versions, before = self.graph_def.versions, (self.graph._producer, self.graph._min_consumer)
        self.graph._producer = min(self.graph._producer, versions.producer)
        self.graph._min_consumer = max(self.graph._min_consumer, versions.min_consumer)
        try:
            closing = self._make_all()
            returned = None if return_elements is None else [self._returned(element) for element in return_elements]
        except Exception:
            self._take_back(first, names)
            self.graph._producer, self.graph._min_consumer = before
            raise
        for op, device in self.placed:
            self._place(op, device)
        for op in self.colocated:
            self._place_with_others(op)
        for op, _ in self.placed:
            self._enter_context(op)
        # Loops are closed last: a context around takes a value that it hasn't seen for one from outside.
        for op, slot, tensor in closing:
            op._update_input(slot, tensor)
        unmapped = (split_input(key) for key in self.input_map if key not in self.used)
        unused = sorted(f"{name}:{output}" for name, output in unmapped if not self._exists(name, output))
        if unused:
            raise ValueError(f"input_map has inputs that are not found in graph_def: [{', '.join(unused)}]")
        return returned

    def _make_all(self) -> list[tuple[Operation, int, Tensor]]:
        """Add the nodes; returns the edges that close loops, as (Merge, slot, tensor)."""
        back_edges = []
        for position in self._order():
            back_edges += self._make(self.nodes[position])
        closing = [(op, slot, self._output(op.name, source, output)) for op, slot, source, output in back_edges]
        for edge in closing:
            _check_edge(*edge)
        return closing

    def _take_back(self, first: int, names: dict[str, int]) -> None:
        """Leave the graph as it was: no node of a GraphDef is there unless all are."""
        for op in reversed(self.graph._ops[first:]):
            op._unlink()
            del self.graph._nodes_by_name[op.name]
        del self.graph._ops[first:]
        self.graph._names_in_use = names

    def _check_versions(self) -> None:
        """Refuse a file that says it can't be read by this version."""
        versions = self.graph_def.versions
        if versions.min_consumer > GRAPH_DEF_VERSION:
            raise ValueError(
                f"GraphDef min consumer version {versions.min_consumer} above current version {GRAPH_DEF_VERSION}: it was written for a newer one."
            )
        if versions.producer < GRAPH_DEF_VERSION_MIN_PRODUCER:
            raise ValueError(
                f"GraphDef producer version {versions.producer} is older than any that can be read: "
                f"{GRAPH_DEF_VERSION_MIN_PRODUCER} at least"
            )
        if GRAPH_DEF_VERSION in versions.bad_consumers:
            raise ValueError(f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}.")

    def _check_returned(self, return_elements: Iterable[str]) -> None:
        """What can be known of them before a node is added: a name that isn't there leaves the graph as it was."""
        for element in return_elements:
            name, colon, index = element.partition(":")
            if colon and not index.isdigit():
                raise ValueError(f"Cannot convert '{element}' to a tensor name.")
            if name not in self.index:
                raise ValueError(f"Requested return {'tensor' if colon else 'node'} '{element}' not found in graph def")

    def _exists(self, name: str, output: int) -> bool:
        return name in self.made and output < len(self.made[name].outputs)

    def _import_functions(self) -> None:
        if not self.graph_def.library.function:
            return
        from everflow.framework.functions import check_no_other, functions_from_library  # builds on this module

        functions = functions_from_library(self.graph_def.library)
        for function in functions:
            try:
                check_no_other(self.graph, function)
            except InvalidArgumentError as e:
                raise ValueError(e.message) from None
        for function in functions:
            if not self.graph._is_function(function.name):
                self.graph._add_function(function)

    def _check_nodes(self) -> None:
        for position, node in enumerate(self.nodes):
            if not _NODE_NAME.match(node.name):
                raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
            if node.name in self.index:
                raise ValueError(f"Node '{node.name}' is not unique")
            self.graph.definition_of(node.op)  # before anything is added: a NotFoundError leaves the graph as it was
            self.index[node.name] = position
        for node in self.nodes:
            control = False
            for text in node.input:
                source, output = split_input(text)
                if source not in self.index and self._key_of(source, output) is None:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
                if control and output >= 0:
                    raise ValueError(f"Node '{node.name}': Control dependencies must come after regular dependencies")
                control = control or output < 0
            for group in node.attr["_class"].list.s if "_class" in node.attr else ():
                if group.startswith(_COLOCATION) and group[len(_COLOCATION) :].decode() not in self.index:
                    raise ValueError(
                        f"Node '{node.name}' expects to be colocated with unknown node '{group[len(_COLOCATION) :].decode()}'"
                    )

    def _is_back_edge(self, node: node_def_pb2.NodeDef, source: str) -> bool:
        return is_back_edge(node, self.nodes[self.index[source]])

    def _order(self) -> list[int]:
        """Positions of the nodes so that inputs come first, else in the order of the file."""
        waiting = [0] * len(self.nodes)
        consumers: list[list[int]] = [[] for _ in self.nodes]
        for position, node in enumerate(self.nodes):
            for text in node.input:
                source, output = split_input(text)
                if source in self.index and (output < 0 or not self._is_back_edge(node, source)):
                    waiting[position] += 1
                    consumers[self.index[source]].append(position)
        ready = [p for p, count in enumerate(waiting) if count == 0]
        heapq.heapify(ready)
        order = []
        while ready:
            position = heapq.heappop(ready)
            order.append(position)
            for consumer in consumers[position]:
                waiting[consumer] -= 1
                if waiting[consumer] == 0:
                    heapq.heappush(ready, consumer)
        if len(order) < len(self.nodes):
            stuck = [self.nodes[p].name for p, count in enumerate(waiting) if count > 0]
            raise ValueError(f"{len(stuck)} nodes in a cycle: {', '.join(stuck[:5])}")
        return order

    def _make(self, node: node_def_pb2.NodeDef) -> list[tuple[Operation, int, str, int]]:
        """Add one node; returns the inputs that can be connected only when the loop is complete."""
        definition = self.graph.definition_of(node.op)
        name = f"{self.prefix}/{node.name}" if self.prefix else node.name
        with self._root_scope():
            name = self.graph.unique_name(name)
        attrs, output_shapes = self._attributes(definition, node, name)
        given: list[Tensor | None] = []
        control, back_edges = [], []
        for slot, text in enumerate(node.input):
            source, output = split_input(text)
            if output < 0:
                control.append(self._mapped_control(source))
            elif source in self.index and self._is_back_edge(node, source) and source not in self.made:
                back_edges.append((slot, source, output))
                given.append(None)
            else:
                given.append(self._output(node.name, source, output))
        inputs = [tensor for tensor in given if tensor is not None]
        if back_edges:
            if not inputs:
                raise ValueError(f"Node '{node.name}': a loop has no value to start with")
            # A stand-in until the loop's end exists: the value the loop starts with.
            inputs = [inputs[0] if tensor is None else tensor for tensor in given]
        self._check_inputs(definition, node, name, attrs, inputs)
        control = list(dict.fromkeys(control + self.control))
        op = Operation(
            self.graph, node.op, name, inputs, control, output_dtypes(definition, attrs), attrs, definition, self.frames
        )
        infer_shapes(op)
        _refine_shapes(op, output_shapes)
        self.graph._append(op)
        self.made[node.name] = op
        self.placed.append((op, node.device))
        return [(op, slot, source, output) for slot, source, output in back_edges]

    @contextlib.contextmanager
    def _root_scope(self) -> Iterator[None]:
        saved, self.graph._name_stack = self.graph._name_stack, ""
        try:
            yield
        finally:
            self.graph._name_stack = saved

    def _place(self, op: Operation, device: str) -> None:
        op._original_op = self.graph._default_original_op
        if self.graph._colocation_stack:
            # It goes where the scope around says, whatever the file does.
            op.attrs["_class"] = sorted(
                {group for other, _ in self.graph._colocation_stack for group in other.colocation_groups()}
            )
        if _others(op):
            self.colocated.append(op)
        else:
            op._device = device
            self.graph._apply_device_functions(op) if self.graph._device_stack else op._set_device_from_string(
                _canonical(device)
            )

    def _enter_context(self, op: Operation) -> None:
        op._control_flow_context = context = self.graph._control_flow_context
        if context is not None:
            context.AddOp(op)

    def _place_with_others(self, op: Operation) -> None:
        """Whatever device the file or the scopes around ask for: an op is where those are that it is colocated with."""
        devices = (self.graph.get_operation_by_name(name).device for name in _others(op))
        op._set_device_from_string(next(filter(None, devices), ""))

    def _key_of(self, source: str, output: int) -> str | None:
        """Under which name the input map has an input, which then needs no node here; None where it doesn't have it."""
        if output < 0:
            keys: tuple[str, ...] = (f"^{source}",)
        else:
            keys = (f"{source}:{output}", source) if output == 0 else (f"{source}:{output}",)
        return next((key for key in keys if key in self.input_map), None)

    def _mapped_control(self, source: str) -> Operation:
        key = self._key_of(source, -1)
        if key is None:
            return self.made[source]
        self.used.add(key)
        return self.input_map[key].op

    def _output(self, consumer: str, source: str, output: int) -> Tensor:
        if (key := self._key_of(source, output)) is not None:
            self.used.add(key)
            return self.input_map[key]
        op = self.made[source]
        if output >= len(op.outputs):
            raise ValueError(
                f"Node '{consumer}': Connecting to invalid output {output} of source node {source} which has {len(op.outputs)} outputs."
            )
        return op.outputs[output]

    def _attributes(
        self,
        definition: OpDef,
        node: node_def_pb2.NodeDef,
        name: str,
    ) -> tuple[Attributes, list[TensorShape] | None]:
        """(attributes as Python values, the shapes the file claims for the outputs)."""
        values, output_shapes = node_attributes(definition, node, name, self.producer_defaults.get(node.op, {}))
        if "_class" in values:
            values["_class"] = self._prefixed(values["_class"])
        return values, output_shapes

    def _prefixed(self, groups: Iterable[bytes]) -> list[bytes]:
        if not self.prefix:
            return list(groups)
        head = _COLOCATION + self.prefix.encode() + b"/"
        return [head + g[len(_COLOCATION) :] if g.startswith(_COLOCATION) else g for g in groups]

    def _check_inputs(
        self,
        definition: OpDef,
        node: node_def_pb2.NodeDef,
        name: str,
        attrs: Attributes,
        inputs: Sequence[Tensor],
    ) -> None:
        try:
            wanted = [dtype for arg in definition.inputs for dtype in arg_dtypes(arg, attrs)]
        except (KeyError, TypeError) as e:
            raise ValueError(
                f"NodeDef {name}: the types of its inputs don't follow from its attributes ({e})"
            ) from None
        if len(wanted) != len(inputs):
            expected = ", ".join(t.name for t in wanted)
            raise ValueError(
                f"NodeDef expected inputs '{expected}' do not match {len(inputs)} inputs specified; NodeDef: {name}"
            )
        for slot, (tensor, dtype) in enumerate(zip(inputs, wanted)):
            if tensor.dtype.base_dtype != dtype.base_dtype or (dtype._is_ref_dtype and not tensor.dtype._is_ref_dtype):
                raise ValueError(
                    f"Input {slot} of node {name} was passed {tensor.dtype.name} from {tensor.name} incompatible with expected {dtype.name}."
                )

    def _returned(self, element: str) -> Element:
        name, colon, index = element.partition(":")
        op = self.made[name]
        if not colon:
            return op
        if int(index) >= len(op.outputs):
            raise ValueError(f"Invalid return output {index} of node '{name}', which has {len(op.outputs)} output(s)")
        if element in self.input_map:
            return self.input_map[element]
        return op.outputs[int(index)]


def node_attributes(
    definition: OpDef,
    node: node_def_pb2.NodeDef,
    name: str,
    producer_defaults: Mapping[str, attr_value_pb2.AttrValue],
) -> tuple[Attributes, list[TensorShape] | None]:
    """(a NodeDef's attributes as Python values, what it leaves out by its default; the shapes it claims for its
    outputs). ValueError where they don't fit the op type.
    """
    values: Attributes = {}
    output_shapes = None
    for key, proto in node.attr.items():
        if key == "_output_shapes":
            output_shapes = [TensorShape(s) for s in proto.list.shape]
            continue
        try:
            value = attributes.from_proto(proto)
        except (TypeError, ValueError) as e:
            raise ValueError(f"Node '{node.name}': attr '{key}' can't be read: {e}") from None
        attr = definition.attr_by_name.get(key)
        if attr is None and not key.startswith("_"):
            default = producer_defaults.get(key)
            if default is not None and default == proto:
                continue
            raise ValueError(f"NodeDef mentions attr '{key}' not in op type {node.op}; NodeDef: {name}")
        if attr is not None:
            _check_kind(attr, value, name)
        values[key] = value
    for attr in definition.attrs:
        if attr.name not in values:
            if not attr.has_default:
                raise ValueError(f"NodeDef missing attr '{attr.name}' from op type {node.op}; NodeDef: {name}")
            values[attr.name] = list(attr.default) if isinstance(attr.default, list) else attr.default
    attributes.read_owners(node, values)
    return values, output_shapes


def _canonical(device: str) -> str:
    return canonical_name(device) if device else ""


def _others(op: Operation) -> list[str]:
    """Names of the operations that this one is colocated with, itself left out."""
    names = (group[len(_COLOCATION) :].decode() for group in op.colocation_groups())
    return [name for name in names if name != op.name]


def _check_edge(op: Operation, slot: int, tensor: Tensor) -> None:
    if tensor.dtype.base_dtype != op.inputs[slot].dtype.base_dtype:
        raise ValueError(
            f"Input {slot} of node {op.name} was passed {tensor.dtype.name} from {tensor.name} incompatible with expected {op.inputs[slot].dtype.name}."
        )


def _check_kind(attr: AttrDef, value: Any, name: str) -> None:
    kind = attr.type
    is_list = kind.startswith("list(")
    wanted = _KINDS[kind[5:-1] if is_list else kind]
    items = value if is_list and isinstance(value, list) else [value]
    fits = isinstance(value, list) == is_list and all(
        type(v) is wanted if wanted in (int, bool) else isinstance(v, wanted) for v in items
    )
    if not fits:
        raise ValueError(
            f"AttrValue had value {value!r} when '{kind}' expected for attr '{attr.name}'; NodeDef: {name}"
        )
    if attr.allowed is not None and any(v not in attr.allowed for v in items):
        shown = [v.name if isinstance(v, dtypes.DType) else v for v in items]
        raise ValueError(
            f"Value for attr '{attr.name}' of {shown} is not in the list of allowed values; NodeDef: {name}"
        )
    if attr.minimum is not None and (len(value) if is_list else value) < attr.minimum:
        raise ValueError(
            f"Value for attr '{attr.name}' of {value} must be at least minimum {attr.minimum}; NodeDef: {name}"
        )


def _refine_shapes(op: Operation, output_shapes: Sequence[TensorShape] | None) -> None:
    """Add what the file says of the outputs' shapes; ValueError where it contradicts what follows from the inputs."""
    if output_shapes is None:
        return
    if len(output_shapes) < len(op.outputs):
        raise ValueError(
            f"Node '{op.name}' has {len(op.outputs)} outputs but the _output_shapes attribute specifies shapes for {len(output_shapes)} outputs"
        )
    for i, (tensor, shape) in enumerate(zip(op.outputs, output_shapes)):
        try:
            tensor._shape = tensor.shape.merge_with(shape)
        except ValueError as e:
            raise ValueError(
                f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef for output #{i}: {e}"
            ) from None
