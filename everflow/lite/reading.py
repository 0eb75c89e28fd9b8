"""From a frozen GraphDef to the operations that have to be converted: with all shapes, and everything constant computed."""

from __future__ import annotations

import numpy as np

from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.protos.graph_pb2 import GraphDef

# Whose value follows from the shape of their input alone.
_OF_SHAPES = {
    "Shape": lambda op, shape: np.array(shape, op.attrs["out_type"].as_numpy_dtype),
    "Size": lambda op, shape: np.array(int(np.prod(shape)), op.attrs["out_type"].as_numpy_dtype),
    "Rank": lambda op, shape: np.array(len(shape), np.int32),
}
# Not computed although their inputs may be constants: ranges for quantization, and ways through control flow.
_KEPT = frozenset(["Placeholder", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel",
                   "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"])  # fmt: skip
HINT = "_tflite_function_name"  # the attribute by which op hints are known
# Ops that hand on their first input.
PASSING = frozenset(
    ["Identity", "IdentityN", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault", "EnsureShape"]
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
        self.operations = self._fold()

    def _fold(self):
        known, computed, operations = {}, [], []  # known: tensor name to value, None where it will be computed
        for op in self.graph.get_operations():
            shape = op.inputs[0].shape if op.inputs else None
            if op.type in _OF_SHAPES and shape.is_fully_defined():
                known[op.outputs[0].name] = _OF_SHAPES[op.type](op, shape.as_list())
            elif _foldable(op) and all(t.name in known for t in op.inputs):
                known.update((t.name, None) for t in op.outputs)
            else:
                operations.append(op)
        wanted = {t for op in operations for t in op.inputs if t.name in known}
        wanted.update(self.tensor(name) for name in self.outputs if self.tensor(name).name in known)
        self._known = known
        for tensor in {self._root(t) for t in wanted}:
            if known[tensor.name] is not None:
                self.constants[name_of(tensor)] = known[tensor.name]
            elif tensor.op.type == "Const":
                self.constants[name_of(tensor)] = tensor.op.attrs["value"].array
            else:
                computed.append(tensor)
        if computed:
            from everflow.runtime.session import Session

            with Session(graph=self.graph) as sess:
                values = sess.run(computed, {self.graph.get_tensor_by_name(n): v for n, v in known.items() if v is not None})
            self.constants.update((name_of(t), np.asarray(v)) for t, v in zip(computed, values, strict=True))
        return operations

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
