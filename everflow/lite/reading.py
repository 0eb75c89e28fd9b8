"""From a frozen GraphDef to the operations to be converted: with all shapes, and all constants computed."""

from __future__ import annotations

import numpy as np

from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.protos.graph_pb2 import GraphDef
from everflow.runtime.session import Session

# Whose value follows from the shape of their input alone.
_OF_SHAPES = {
    "Shape": lambda op, shape: np.array(shape, op.attrs["out_type"].as_numpy_dtype),
    "Size": lambda op, shape: np.array(int(np.prod(shape)), op.attrs["out_type"].as_numpy_dtype),
    "Rank": lambda op, shape: np.array(len(shape), np.int32),
}
# Not computed although their inputs may be constants: ranges for quantization, and ways through control flow.
_KEPT = frozenset(
    """Placeholder FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel
    Switch Merge Enter Exit NextIteration LoopCond""".split()
)
HINT = "_tflite_function_name"  # the attribute by which op hints are known
# Ops that hand on their first input.
PASSING = frozenset(
    """Identity IdentityN StopGradient PreventGradient CheckNumerics Snapshot PlaceholderWithDefault
    EnsureShape""".split()
)


def name_of(tensor) -> str:
    """A tensor's name in a model: that of its op, with the output's number where it isn't the first."""
    return tensor.op.name if tensor.value_index == 0 else tensor.name


class Reading:
    """A graph as the converter sees it: `operations` to be converted, in order, and `constants` that they use, by name."""

    def __init__(self, graph_def, inputs: dict, outputs: list):
        """`inputs` has the type and shape of each input by name; what lies before an input is cut off."""
        self.inputs, self.outputs = inputs, outputs
        self.graph = Graph()
        with self.graph.as_default():
            import_graph_def(_with_inputs(graph_def, inputs, outputs), name="")
        self.constants: dict[str, np.ndarray] = {}
        # Of a Switch or Merge whose way is known: (the tensor that goes in, the output it comes from).
        self.passing: dict = {}
        self._known: dict[str, np.ndarray | None] = {}
        self.operations = self._fold()

    def _fold(self):
        """Find what is known, tensors by name with a value or None; returns the operations to be computed."""
        known, dead, operations = self._known, set(), []
        for op in self.graph.get_operations():
            shape = op.inputs[0].shape if op.inputs else None
            if op.type in ("Switch", "Merge") and self._follow(op, dead):
                source, output = self.passing[op]
                if source.name in known:
                    known[output.name] = None
                else:
                    operations.append(op)
            elif any(t.name in dead for t in op.inputs):
                dead.update(t.name for t in op.outputs)
            elif op.type in _OF_SHAPES and shape.is_fully_defined():
                known[op.outputs[0].name] = _OF_SHAPES[op.type](op, shape.as_list())
            elif _foldable(op) and all(t.name in known for t in op.inputs):
                known.update((t.name, None) for t in op.outputs)
            else:
                operations.append(op)
        wanted = {t: None for op in operations for t in op.inputs if t.name in known}
        wanted.update((self.tensor(name), None) for name in self.outputs if self.tensor(name).name in known)
        tensors = list(dict.fromkeys(self._root(t) for t in wanted))
        self.constants.update((name_of(t), value) for t, value in zip(tensors, self._values(tensors), strict=True))
        return operations

    def _follow(self, op, dead) -> bool:
        """Whether it is known which way a value goes at a Switch or Merge; the other way is dead."""
        if op.type == "Switch" and op.inputs[1].name in self._known and op.inputs[0].name not in dead:
            taken = int(self._values([op.inputs[1]])[0])
            self.passing[op] = op.inputs[0], op.outputs[taken]
            dead.add(op.outputs[1 - taken].name)
            return True
        alive = [t for t in op.inputs if t.name not in dead]
        if op.type == "Merge" and len(alive) == 1:
            self.passing[op] = alive[0], op.outputs[0]
            return True
        return False

    def _values(self, tensors) -> list:
        """The values of known tensors."""
        found = {t: self._known[t.name] for t in tensors}
        found.update((t, t.op.attrs["value"].array) for t in tensors if t.op.type == "Const")
        computed = [t for t, value in found.items() if value is None]
        if computed:
            with Session(graph=self.graph) as sess:
                feeds = {self.graph.get_tensor_by_name(n): v for n, v in self._known.items() if v is not None}
                values = sess.run(computed, feeds)
            found.update((t, np.asarray(value)) for t, value in zip(computed, values, strict=True))
        return [found[t] for t in tensors]

    def _root(self, tensor):
        """The constant that a constant is, by another name: variables are read through identities."""
        while tensor.op.type in PASSING and tensor.value_index == 0 and name_of(tensor) not in self.outputs:
            tensor = tensor.op.inputs[0]
        return tensor

    def name_of_input(self, tensor) -> str:
        """The name of the array that an operation takes where the graph has this tensor."""
        return name_of(self._root(tensor) if tensor.name in self._known else tensor)

    def tensor(self, name):
        return self.graph.get_tensor_by_name(name if ":" in name else f"{name}:0")


def _foldable(op) -> bool:
    return (
        HINT not in op.attrs
        and not op.definition.is_stateful
        and op.type not in _KEPT
        and bool(op.outputs)
        and not any(t.dtype.name in ("resource", "variant") for t in op.outputs)
    )


def _with_inputs(graph_def, inputs, outputs):
    """The part of a graph that outputs need, with placeholders as inputs."""
    changed = GraphDef(versions=graph_def.versions, library=graph_def.library)
    for name, (dtype, shape) in inputs.items():
        made = changed.node.add(name=name, op="Placeholder")
        made.attr["dtype"].type = dtype.as_datatype_enum
        made.attr["shape"].shape.SetInParent()
        for size in shape:
            made.attr["shape"].shape.dim.add(size=size)
    for node in graph_def.node:
        if node.name not in inputs:
            made = changed.node.add()
            made.CopyFrom(node)
            made.ClearField("device")
            # An order of ops is nothing that a model of TensorFlow Lite could keep.
            del made.input[:]
            made.input.extend(edge for edge in node.input if not edge.startswith("^"))
            made.attr.pop("_class", None)
            made.attr.pop("_output_shapes", None)
    return extract_sub_graph(changed, [*inputs, *(name.partition(":")[0] for name in outputs)])
