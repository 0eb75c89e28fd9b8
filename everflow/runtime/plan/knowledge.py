"""What can be known of a program's values once the shapes of its feeds are: shapes by the ops' own shape rules, values of shape arithmetic.

Loops are gone through as induction goes: a loop variable is assumed to keep the shape it enters with, and the assumption is dropped where
the body says otherwise. What TensorArrays and stacks give back is what was put in.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, registry
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor, infer_shapes
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.tensor_values import TensorValue
from everflow.kernels import tensors
from everflow.runtime.plan.binding import RENAMES, constant_value, is_once, is_pure
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, is_ref
from everflow.runtime.plan.rules import SHAPE_OPS, computed, shape_value
from everflow.runtime.plan.structure import CONTROL_FLOW, ENTER, MERGE, NEXT

# Larger constants are not shapes, nor axes, nor sizes: rules need not see them.
_LARGEST_SHOWN = 1 << 10
_MOST_PASSES = 6
# A disagreement between things put into one TensorArray or stack.
_MIXED = object()


def is_known(shape) -> bool:
    """Whether every side of a shape is known."""
    return shape is not None and shape.is_fully_defined()


class Knowledge:
    """`shapes`: edge → TensorShape; `results`: node → values of its outputs, for nodes that need not run."""

    def __init__(self, program: Program, session):
        self._program = program
        self._session = session
        self.shapes: dict = {}
        self.results: dict[Node, list] = {}
        self._assumed = {n: None for n in program.nodes if _is_loop_variable(n)}  # None: as it enters
        self._contents: dict = {}  # TensorArray or stack → (shape of what is in it, its value)
        while not self._settled():
            pass

    def _settled(self) -> bool:
        """Pass over the program until nothing new is learnt; whether all assumptions held."""
        self._contents = {}
        for _ in range(_MOST_PASSES):
            before = dict(self._contents)
            self._pass()
            if {k: v[0] for k, v in before.items()} == {k: v[0] for k, v in self._contents.items()}:
                break
        wrong = [n for n, assumed in self._assumed.items() if assumed is None and not self._holds(n)]
        for node in wrong:
            self._assumed[node] = node.output_shapes[0] or unknown_shape()
        return not wrong

    def _holds(self, merge: Node) -> bool:
        following = next((e for e in merge.inputs if e[0].type in NEXT), None)
        mine = self.shapes[merge, 0]
        return following is None or not is_known(mine) or self._same(self.shapes.get(following), mine)

    @staticmethod
    def _same(one, other) -> bool:
        return is_known(one) and is_known(other) and one.as_list() == other.as_list()

    def _pass(self) -> None:
        self._graph = Graph()
        self._tensors: dict = {}  # edge → the Tensor that stands for it
        self._values: dict = {}  # edge → kernel value
        self.shapes, self.results = {}, {}
        filled: dict = {}
        for node in self._program.nodes:
            shapes = [s if s is not None else unknown_shape() for s in node.output_shapes]
            values: list | None = None
            if node.type in (VALUE, "Const"):
                values = [constant_value(node, self._session)]
            elif node.type in MERGE:
                shapes[0] = self._merged(node, shapes[0])
            elif node.type in RENAMES and not is_ref(*node.inputs[0]):
                shapes = [self.shapes[node.inputs[0]]] * len(shapes)
                if node.type not in CONTROL_FLOW or (node.type in ENTER and node.attribute("is_constant")):
                    values = self._known([node.inputs[0]])
            elif node.type in _GIVING:
                shapes, values = self._given(node, shapes)
                if values is not None:
                    self.results[node] = values
            elif node.type != FEED and not is_once(node):
                shapes = self._inferred(node, shapes)
                values = self._computed(node, shapes)
                if values is not None:
                    self.results[node] = values
            if node.type in _TAKING:
                self._take(node, filled)
            for i, shape in enumerate(shapes):
                value = values[i] if values is not None else None
                self.shapes[node, i] = shape if value is None or not hasattr(value, "shape") else TensorShape(list(value.shape))
                if value is not None:
                    self._values[node, i] = value
        self._contents = filled

    def _known(self, edges) -> list | None:
        values = [self._values.get(e) for e in edges]
        return None if any(v is None for v in values) else values

    def _merged(self, node: Node, static):
        """A loop's variable: as it enters, or as the graph says; a branch's result: what both sides agree on."""
        if node in self._assumed:
            if self._assumed[node] is not None:
                return self._assumed[node]
            return self.shapes[next(e for e in node.inputs if e[0].type not in NEXT)]
        found = [self.shapes[e] for e in node.inputs]
        return found[0] if all(self._same(s, found[0]) for s in found) else static

    def _inferred(self, node: Node, static: list) -> list:
        rule = registry.find_shape_rule(node.type)
        if rule is None:
            return static
        inputs = [self._tensor(e) for e in node.inputs]
        shadow = Operation(self._graph, node.type, node.name, inputs, [], node.output_dtypes, node.op.attrs, node.definition, [])
        try:
            infer_shapes(shadow)
            return [t.shape.merge_with(s) for t, s in zip(shadow.outputs, static, strict=True)]
        except (ValueError, KeyError, AttributeError):  # what can't be known now, or fails, is told when the node runs
            return static

    def _tensor(self, edge) -> Tensor:
        """The Tensor that stands for an edge in shape rules: a small constant, or something of the known shape."""
        found = self._tensors.get(edge)
        if found is None:
            node, output = edge
            dtype = node.output_dtypes[output]
            value = self._values.get(edge)
            array = tensors.to_numpy(value, dtype.base_dtype) if value is not None else None
            op_type, attrs = "Placeholder", {}
            if isinstance(array, np.ndarray) and array.size <= _LARGEST_SHOWN:
                op_type, attrs = "Const", {"dtype": dtype, "value": TensorValue(array=array, dtype=dtype)}
            definition = self._graph.definition_of(op_type)
            found = Operation(self._graph, op_type, node.name, [], [], [dtype], attrs, definition, []).outputs[0]
            found._shape = self.shapes.get(edge) or unknown_shape()
            if dtype is dtypes.resource and node.op is not None:
                # Of a variable's handle rules ask what it holds.
                found._handle_data = node.op.outputs[output]._handle_data
            self._tensors[edge] = found
        return found

    def _computed(self, node: Node, shapes: list) -> list | None:
        """The results of a node that depends on shapes and constants only."""
        if node.type in SHAPE_OPS:
            if any(is_ref(*e) for e in node.inputs):
                return None
            values = [shape_value(node, self.shapes[e], i) for i, e in enumerate(node.inputs)]
            return None if any(v is None for v in values) else values
        if not node.inputs or not is_pure(node):
            return None
        values = self._known(node.inputs)
        return None if values is None else computed(node, values, self._session)

    # --- TensorArrays and stacks -------------------------------------------------------------

    def _container(self, edge):
        """What a handle stands for, through nodes that pass it on; gradients of an array are one array for each source."""
        node, output = edge
        while node.type in RENAMES:
            node, output = node.inputs[0]
        if node.type == "TensorArrayGradV3":
            return self._container(node.inputs[0]), node.attribute("source")
        return node

    def _take(self, node: Node, filled: dict) -> None:
        position, is_row = _TAKING[node.type]
        shape = self.shapes[node.inputs[position]] if position is not None else unknown_shape()
        if is_row and shape.ndims:
            shape = TensorShape(shape.as_list()[1:])
        elif is_row:
            shape = unknown_shape()
        value = self._values.get(node.inputs[position]) if node.type == "StackPushV2" else None
        key = self._container(node.inputs[0])
        if key not in filled:
            filled[key] = (shape.as_list() if is_known(shape) else _MIXED, value)
        else:
            held, old = filled[key]
            agrees = is_known(shape) and held == shape.as_list()
            same = value is not None and old is not None and hasattr(value, "equal") and value.shape == old.shape and bool(value.equal(old))
            filled[key] = (held if agrees else _MIXED, old if same else None)

    def _given(self, node: Node, static: list):
        shape, value = self._contents.get(self._container(node.inputs[0]), (_MIXED, None))
        shapes = static if shape is _MIXED else [TensorShape(shape), *static[1:]]
        return shapes, None if value is None else [value]


def _is_loop_variable(node: Node) -> bool:
    return node.type in MERGE and any(n.type in NEXT for n, _ in node.inputs)


# Ops that put something in: (input that goes in, whether each of its rows does).
_TAKING = {
    "StackPushV2": (1, False),
    "TensorArrayWriteV3": (2, False),
    "TensorArrayScatterV3": (2, True),
    "TensorArraySplitV3": (None, False),
}
# Ops that give one of the things put in.
_GIVING = frozenset(["StackPopV2", "TensorArrayReadV3"])
