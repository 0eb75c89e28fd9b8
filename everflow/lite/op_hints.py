"""tf.lite.OpHint: marks around a part of a graph that is one op of TensorFlow Lite, and graphs with such nodes.

The marks are identities with attributes: of which function call (a unique id) they are an input or output, and at which
place. Several marks at one place, as in an unrolled loop, are stacked, or only the first or last of them counts.
"""

from __future__ import annotations

import collections
import itertools
import json
import uuid
from dataclasses import dataclass, field

from everflow.ops import array
from everflow.protos.graph_pb2 import GraphDef

# What hints were told besides (`OpHint("f", alpha=2)`), by their unique ids: no attribute of the graph holds it.
settings: dict[str, dict] = {}

# What hints with hints inside tell of those: which inputs and outputs of them are their own, and how they follow on
# each other.
_MAPPINGS = {"parent_first_child_input", "parent_last_child_output", "internal_children_input_output"}


class OpHint:
    """Marks the inputs and outputs of a part of a graph that is one op in TensorFlow Lite.

    >>> hint = tf.lite.OpHint("cool_activation")
    >>> x, = hint.add_inputs(x)
    >>> y, = hint.add_outputs(tf.sin(x) * x)
    """

    FUNCTION_NAME_ATTR = "_tflite_function_name"
    FUNCTION_UUID_ATTR = "_tflite_function_uuid"
    FUNCTION_INPUT_INDEX_ATTR = "_tflite_function_input_index"
    FUNCTION_OUTPUT_INDEX_ATTR = "_tflite_function_output_index"
    FUNCTION_SORT_INDEX_ATTR = "_tflite_function_sort_index"
    FUNCTION_AGGREGATE_ATTR = "_tflite_function_aggregate"
    FUNCTION_LEVEL_ATTR = "_tflite_ophint_level"
    CHILDREN_INPUTS_MAPPINGS = "_tflite_children_ophint_inputs_mapping"
    TFLITE_INPUT_INDICES = "_tflite_input_indices"
    AGGREGATE_FIRST = "first"
    AGGREGATE_LAST = "last"
    AGGREGATE_STACK = "stack"

    class OpHintArgumentTracker:
        """Numbers the inputs, or the outputs, of one hint."""

        def __init__(
            self, function_name, unique_function_id, node_name_prefix, attr_name, level=1, children_inputs_mappings=None
        ):
            self._function_name, self._unique_function_id = function_name, unique_function_id
            self._node_name_prefix, self._attr_name, self._level = node_name_prefix, attr_name, level
            self._children_inputs_mappings = children_inputs_mappings
            self._used_global_indices = set()
            self._tag_to_global_index = {}
            self._tag_to_next_sort_index = collections.Counter()

        def _next_index(self, wanted):
            if wanted is None:
                wanted = next(i for i in itertools.count() if i not in self._used_global_indices)
            elif wanted in self._used_global_indices:
                raise ValueError(f"Index {wanted} is already used by an earlier call of add.")
            self._used_global_indices.add(wanted)
            return wanted

        def add(self, arg, tag=None, name=None, aggregate=None, index_override=None):
            """Mark one tensor; returns it behind its mark. Arguments of several tensors have `tag` and `aggregate`."""
            if tag is None and aggregate is not None:
                raise ValueError("You must specify `tag` if using aggregate.")
            if tag is not None and aggregate is None:
                raise ValueError("You must specify `aggregate` if using tag.")
            sort_index = None
            if tag is None:
                index = self._next_index(index_override)
            else:
                if tag not in self._tag_to_global_index:
                    self._tag_to_global_index[tag] = self._next_index(index_override)
                elif index_override not in (None, self._tag_to_global_index[tag]):
                    raise ValueError(f"Tag {tag!r} has index {self._tag_to_global_index[tag]}, not {index_override}")
                index = self._tag_to_global_index[tag]
                sort_index = self._tag_to_next_sort_index[tag]
                self._tag_to_next_sort_index[tag] += 1
            made = array.identity(
                arg,
                name=f"{self._node_name_prefix}-{self._function_name}-{self._unique_function_id}-{index}-{sort_index}-{name}",
            )
            marks = {
                OpHint.FUNCTION_NAME_ATTR: self._function_name.encode(),
                OpHint.FUNCTION_UUID_ATTR: self._unique_function_id.encode(),
                self._attr_name: index,
                OpHint.FUNCTION_LEVEL_ATTR: self._level,
            }
            if sort_index is not None:
                marks |= {
                    OpHint.FUNCTION_SORT_INDEX_ATTR: sort_index,
                    OpHint.FUNCTION_AGGREGATE_ATTR: aggregate.encode(),
                }
            if self._children_inputs_mappings is not None:
                marks[OpHint.CHILDREN_INPUTS_MAPPINGS] = json.dumps(self._children_inputs_mappings).encode()
            for key, value in marks.items():
                made.op._set_attr(key, value)
            return made

    def __init__(self, function_name, level=1, children_inputs_mappings=None, **kwargs):
        if (level > 1) != (children_inputs_mappings is not None):
            raise AssertionError(
                "children_inputs_mappings is for hints of a level above 1, which have other hints inside, and only those."
            )
        if children_inputs_mappings is not None and set(children_inputs_mappings) != _MAPPINGS:
            raise AssertionError(f"children_inputs_mappings must have {sorted(_MAPPINGS)}.")
        self._function_name = function_name
        self._unique_function_id = uuid.uuid1().hex
        settings[self._unique_function_id] = kwargs
        parts, inner = (function_name, self._unique_function_id), (level, children_inputs_mappings)
        self._inputs = OpHint.OpHintArgumentTracker(*parts, "InputHint", OpHint.FUNCTION_INPUT_INDEX_ATTR, *inner)
        self._outputs = OpHint.OpHintArgumentTracker(*parts, "OutputHint", OpHint.FUNCTION_OUTPUT_INDEX_ATTR, *inner)

    def add_input(self, *args, **kwargs):
        """Mark an input: add_input(tensor, tag=None, name=None, aggregate=None, index_override=None)."""
        return self._inputs.add(*args, **kwargs)

    def add_output(self, *args, **kwargs):
        """Mark an output, with the arguments of `add_input`."""
        return self._outputs.add(*args, **kwargs)

    def add_inputs(self, *args, **kwargs):
        """Mark several inputs; `names` has a name for each."""
        names = kwargs.pop("names", None) or itertools.repeat(None)
        return [self._inputs.add(arg, name=name) for arg, name in zip(args, names, strict=False)]

    def add_outputs(self, *args, **kwargs):
        """Mark several outputs; `names` has a name for each."""
        names = kwargs.pop("names", None) or itertools.repeat(None)
        return [self._outputs.add(arg, name=name) for arg, name in zip(args, names, strict=False)]


@dataclass
class Mark:
    """One identity of a hint: the node, its place among inputs or outputs, and how it goes with others at that place."""

    node: object
    index: int
    sort: int
    aggregate: str | None


@dataclass
class Hinted:
    """One marked part of a graph."""

    function: str
    unique: str
    inputs: dict = field(default_factory=dict)  # index: marks
    outputs: dict = field(default_factory=dict)

    def add(self, node, get) -> None:
        for attribute, places in (
            (OpHint.FUNCTION_INPUT_INDEX_ATTR, self.inputs),
            (OpHint.FUNCTION_OUTPUT_INDEX_ATTR, self.outputs),
        ):
            index = get(attribute)
            if index is not None:
                aggregate = get(OpHint.FUNCTION_AGGREGATE_ATTR)
                order = get(OpHint.FUNCTION_SORT_INDEX_ATTR) or 0
                mark = Mark(node, index, order, None if aggregate is None else aggregate.decode())
                places.setdefault(index, []).append(mark)
                places[index].sort(key=lambda m: m.sort)


def hinted_parts(nodes, getter) -> dict[str, Hinted]:
    """The marked parts of a graph by unique id; `getter(node)(attribute)` is the attribute's value or None."""
    found: dict[str, Hinted] = {}
    for node in nodes:
        get = getter(node)
        unique = get(OpHint.FUNCTION_UUID_ATTR)
        if unique is not None:
            unique = unique.decode()
            found.setdefault(unique, Hinted(get(OpHint.FUNCTION_NAME_ATTR).decode(), unique)).add(node, get)
    return found


def counted(marks) -> list:
    """The marks at one place that count."""
    if marks[0].aggregate == OpHint.AGGREGATE_STACK:
        return marks
    return [marks[-1 if marks[0].aggregate == OpHint.AGGREGATE_LAST else 0]]


def _attribute_of(node):
    def get(name):
        if name not in node.attr:
            return None
        value = node.attr[name]
        return value.i if value.HasField("i") else value.s

    return get


def convert_op_hints_to_stubs(session=None, graph_def=None, write_callback=lambda graph_def, comments: None):
    """A GraphDef in which every marked part is one node, named by its unique id, with the function's name as op type."""
    if (session is None) == (graph_def is None):
        both = session is not None
        raise ValueError(
            f"Must specify where the nodes are, with only one of session and graph_def: {'both' if both else 'none'} is given."
        )
    current = session.graph_def if session is not None else graph_def
    for part in hinted_parts(current.node, _attribute_of).values():
        current = _with_stub(current, part)
        write_callback(current, part.unique)
    return current


def _with_stub(graph_def, part):
    """The graph with one part as a node; what only that part needed goes away."""
    nodes = {node.name: GraphDef(node=[node]).node[0] for node in graph_def.node}
    stub = GraphDef().node.add(name=part.unique, op=part.function)
    for index in sorted(part.inputs):
        marks = counted(part.inputs[index])
        source = marks[0].node.name
        if marks[0].aggregate == OpHint.AGGREGATE_STACK:
            source = f"OpHintStack-{source}"
            pack = nodes[source] = GraphDef().node.add(name=source, op="Pack", input=[m.node.name for m in marks])
            pack.attr["N"].i, pack.attr["axis"].i = len(marks), 0
            pack.attr["T"].CopyFrom(marks[0].node.attr["T"])
        stub.input.append(source)
        stub.attr[OpHint.TFLITE_INPUT_INDICES].list.i.append(index)
    nodes[stub.name] = stub
    for place, index in enumerate(sorted(part.outputs)):
        marks = counted(part.outputs[index])
        output = stub.name if place == 0 else f"{stub.name}:{place}"
        if marks[0].aggregate == OpHint.AGGREGATE_STACK:
            name = f"OpHintUnstack-{marks[0].node.name}"
            unpack = nodes[name] = GraphDef().node.add(name=name, op="Unpack", input=[output])
            unpack.attr["num"].i, unpack.attr["axis"].i = len(marks), 0
            unpack.attr["T"].CopyFrom(marks[0].node.attr["T"])
            sources = [name if i == 0 else f"{name}:{i}" for i in range(len(marks))]
        else:
            sources = [output]
        for mark, source in zip(marks, sources, strict=True):
            del nodes[mark.node.name].input[:]
            nodes[mark.node.name].input.append(source)
    return _needed(graph_def, nodes)


def _needed(graph_def, nodes):
    """The nodes that the old graph's last nodes need: in the old order, but each after those it needs."""
    taken = {_node_of(edge) for node in graph_def.node for edge in node.input}
    needed: set = set()
    _visit([node.name for node in graph_def.node if node.name not in taken], nodes, needed)
    ordered = _visit([node.name for node in graph_def.node if node.name in needed], nodes, set())
    return GraphDef(node=ordered, versions=graph_def.versions, library=graph_def.library)


def _visit(names, nodes, done) -> list:
    """The named nodes and what they need, needed ones first."""
    found = []
    stack = [(name, False) for name in reversed(names)]
    while stack:
        name, ready = stack.pop()
        if ready:
            found.append(nodes[name])
        elif name not in done:
            done.add(name)
            stack.append((name, True))
            stack.extend((_node_of(edge), False) for edge in reversed(nodes[name].input))
    return found


def _node_of(edge: str) -> str:
    return edge.lstrip("^").partition(":")[0]
