"""Shape propagation: what follows from the shapes of the feeds, by the ops' own shape rules, and the values of shape
arithmetic on the way.

Loops are gone through as induction goes: a loop variable is assumed to keep the shape it enters with, and the
assumption is dropped where the body says otherwise. What TensorArrays and stacks give back is what was put in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes, registry
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.registry import infer_shapes
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.tensor_values import TensorValue
from everflow.kernels import tensors
from everflow.kernels.facts import Effect
from everflow.runtime.plan.binding import CONSTANTS, constant_value
from everflow.runtime.plan.containers import GATHERS, LOADS, PUTS, SIZES, container_of
from everflow.runtime.plan.program import (
    FEED,
    IF,
    LOOP,
    VARIABLE,
    Block,
    Edge,
    Node,
    Program,
    is_known,
    is_ref,
    loop_variables,
)
from everflow.runtime.plan.simplify import SHAPE_OPS, computed, shape_value

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState

# Larger constants are not shapes, nor axes, nor sizes: rules need not see them.
_LARGEST_SHOWN = 1 << 10
# Each layer of loops takes two or three, since what one puts into an array is what the next is made of.
_MOST_PASSES = 24
# A disagreement between things put into one TensorArray or stack.
_MIXED = object()
_SHAPE_OPS = frozenset(SHAPE_OPS.split())


def propagate_shapes(program: Program, state: SessionState) -> int:
    """Write into a program what can be known of its shapes, and constants where what was pushed onto a stack is known.
    Gives how many
    shapes were found."""
    found = _Propagation(program, state)
    count = 0
    for node in program.nodes():
        shapes = [found.shapes.get((node, i), shape) for i, shape in enumerate(node.output_shapes)]
        count += sum(is_known(new) and not is_known(old) for new, old in zip(shapes, node.output_shapes, strict=True))
        node.output_shapes = shapes
    _replace_known_loads(program, found.loaded)
    return count


def _replace_known_loads(program: Program, loaded: dict[Node, object]) -> None:
    """Put constants for what is popped from stacks where it is always the same; who pushed it then need not."""
    for node, value in loaded.items():
        program.replace((node, 0), (program.constant(value, node.output_dtypes[0], node), 0), drop=False)
        node.wanted = False
    if not loaded:
        return
    read = {container_of(n) for n in program.nodes() if n.type in LOADS and n not in loaded}
    for node in list(program.nodes()):
        if node.block is None or container_of_or_none(node) in read:
            continue
        if node.type.startswith("StackPush"):
            program.replace((node, 0), node.inputs[1], drop=False)
            node.wanted = False
            program.erase(node)
        elif node in loaded and not node.is_used():
            program.erase(node)


def container_of_or_none(node: Node) -> tuple[Any, ...] | None:
    return container_of(node) if node.type in PUTS or node.type in LOADS else None


class _Propagation:
    """`shapes`: edge → TensorShape; `loaded`: node that pops from a stack → the value that it always gives."""

    def __init__(self, program: Program, state: SessionState) -> None:
        self._program = program
        self._state = state
        self.shapes: dict[Edge, TensorShape] = {}
        self.loaded: dict[Node, Value] = {}
        self._assumed: dict[Node, TensorShape] = {}  # loop variable → its shape, where it does not stay as it enters
        self._contents: dict = {}  # TensorArray or stack → (shape of what is in it, its value)
        while not self._settled():
            pass

    def _settled(self) -> bool:
        """Pass over the program until nothing new is learnt; whether all assumptions held."""
        self._contents = {}
        for _ in range(_MOST_PASSES):
            before = {k: v[0] for k, v in self._contents.items()}
            self._wrong: list[Node] = []
            self._pass()
            if before == {k: v[0] for k, v in self._contents.items()}:
                break
        for node in self._wrong:
            self._assumed[node] = node.output_shapes[0] or unknown_shape()
        return not self._wrong

    def _pass(self) -> None:
        self._graph = Graph()
        self._tensors: dict[Edge, Tensor] = {}  # edge → the Tensor that stands for it
        self._values: dict[Edge, Value] = {}
        self.shapes, self.loaded = {}, {}
        self._filled: dict = {}
        self._block(self._program.top)
        self._contents = self._filled

    def _block(self, block: Block) -> None:
        for node in block:
            shapes = [s if s is not None else unknown_shape() for s in node.output_shapes]
            values: list[Value] | None = None
            if node.type in CONSTANTS:
                values = [constant_value(node, self._state)]
            elif node.type == VARIABLE:
                shapes = [self.shapes[node, 0]]
            elif node.type == LOOP:
                shapes = self._loop(node)
            elif node.type == IF:
                shapes = self._branch(node, shapes)
            elif node.blocks:
                self._block(node.blocks[0])
            elif node.facts.renames and not is_ref(*node.inputs[0]):
                shapes = [self.shapes[node.inputs[0]]]
                values = self._known(node.inputs[:1])
            elif node.type in LOADS:
                shapes, values = self._load(node, shapes)
            elif node.type in GATHERS:
                shapes = self._gather(node, shapes)
            elif node.type in SIZES:
                values = self._size(node)
            elif node.type != FEED and node.inputs:
                shapes = self._inferred(node, shapes)
                values = self._computed(node, shapes)
            if node.type in PUTS:
                self._put(node)
            for i, shape in enumerate(shapes):
                value = values[i] if values is not None else None
                self.shapes[node, i] = (
                    shape if value is None or not hasattr(value, "shape") else TensorShape(list(value.shape))
                )
                if value is not None:
                    self._values[node, i] = value

    def _known(self, edges: Iterable[Edge]) -> list[Value] | None:
        values = [self._values.get(e) for e in edges]
        return None if any(v is None for v in values) else values

    # --- loops and branches ----------------------------------------------------------------------

    def _loop(self, loop: Node) -> list[TensorShape]:
        condition, body = loop.blocks
        variables = loop_variables(loop)
        for variable, start in zip(variables, loop.inputs, strict=True):
            self.shapes[variable, 0] = self._assumed[variable] if variable in self._assumed else self.shapes[start]
        self._block(condition)
        results = [self.shapes[e] for e in condition.end.inputs[1:]]
        self._block(body)
        for variable, following in zip(variables, body.end.inputs, strict=True):
            mine = self.shapes[variable, 0]
            if variable not in self._assumed and is_known(mine) and not _same(self.shapes[following], mine):
                self._wrong.append(variable)
        return results

    def _branch(self, branch: Node, static: list[TensorShape]) -> list[TensorShape]:
        for block in branch.blocks:
            self._block(block)
        sides = [[self.shapes.get(e) for e in block.end.inputs] for block in branch.blocks]
        return [one if _same(one, other) else shape for one, other, shape in zip(*sides, static, strict=True)]

    # --- single nodes ------------------------------------------------------------------------------

    def _inferred(self, node: Node, static: list[TensorShape]) -> list[TensorShape]:
        rule = registry.find_shape_rule(node.type)
        if rule is None or node.op is None or node.type != node.op.type or all(is_known(s) for s in static):
            return static
        inputs = [self._tensor(e) for e in node.inputs]
        shadow = Operation(
            self._graph, node.type, node.name, inputs, [], node.output_dtypes, node.op.attrs, node.definition, []
        )
        try:
            infer_shapes(shadow)
            return [t.shape.merge_with(s) for t, s in zip(shadow.outputs, static, strict=True)]
        except (ValueError, KeyError, AttributeError):  # what can't be known now, or fails, is told when the node runs
            return static

    def _tensor(self, edge: Edge) -> Tensor:
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
            if dtype is dtypes.resource and node.op is not None and output < len(node.op.outputs):
                # Of a variable's handle rules ask what it holds.
                found._handle_data = node.op.outputs[output]._handle_data
            self._tensors[edge] = found
        return found

    def _computed(self, node: Node, shapes: list[TensorShape]) -> list[Value] | None:
        """The results of a node that does arithmetic on shapes and constants."""
        if node.type in _SHAPE_OPS:
            if any(is_ref(*e) for e in node.inputs):
                return None
            measured = [shape_value(node, self.shapes[e], i) for i, e in enumerate(node.inputs)]
            return None if any(v is None for v in measured) else measured
        if node.effect is not Effect.PURE or not all(d.is_integer or d.is_bool for d in node.output_dtypes):
            return None
        values = self._known(node.inputs)
        return None if values is None else computed(node, values, self._state)

    # --- TensorArrays and stacks -------------------------------------------------------------------

    def _put(self, node: Node) -> None:
        put = PUTS[node.type]
        edge = node.inputs[put.position]
        shape = self.shapes.get(edge) or unknown_shape()
        if node.type == "TensorArraySplitV3":
            shape = unknown_shape()
        elif put.rows:
            shape = TensorShape(shape.as_list()[1:]) if shape.ndims else unknown_shape()
        value = None if put.rows else self._values.get(edge)
        key = container_of(node)
        if key not in self._filled:
            self._filled[key] = (shape.as_list() if is_known(shape) else _MIXED, value)
        else:
            held, old = self._filled[key]
            agrees = is_known(shape) and held == shape.as_list()
            same = (
                value is not None
                and old is not None
                and hasattr(value, "equal")
                and value.shape == old.shape
                and bool(value.equal(old))
            )
            self._filled[key] = (held if agrees else _MIXED, old if same else None)

    def _content(self, node: Node) -> tuple[Any, Value | None]:
        """What is known of all that was put where a node takes from. Gradients are as large as what they belong to."""
        array, *gradients = container_of(node)
        shape, value = self._contents.get((array, *gradients), (_MIXED, None))
        if shape is _MIXED and gradients:
            shape, _ = self._contents.get((array,), (_MIXED, None))
        return shape, value

    def _gather(self, node: Node, static: list[TensorShape]) -> list[TensorShape]:
        """Rows of an array put together: as many as there are indices."""
        shape, _ = self._content(node)
        count = self.shapes.get(node.inputs[1])
        if shape is _MIXED or count is None or count.ndims != 1:
            return static
        return [TensorShape([*count.as_list(), *shape])]

    def _size(self, node: Node) -> list[Value] | None:
        """The number of an array's elements, where it was made for so many and doesn't grow."""
        made = container_of(node)[0]
        if made.type != "TensorArrayV3" or made.attribute("dynamic_size"):
            return None
        return self._known(made.inputs[:1])

    def _load(self, node: Node, static: list[TensorShape]) -> tuple[list[TensorShape], list[Value] | None]:
        shape, value = self._content(node)
        shapes = static if shape is _MIXED else [TensorShape(shape), *static[1:]]
        if value is None or not node.type.startswith("StackPop"):
            return shapes, None
        self.loaded[node] = value
        return shapes, [value]


def _same(one: TensorShape | None, other: TensorShape | None) -> bool:
    if one is None or other is None or not (one.is_fully_defined() and other.is_fully_defined()):
        return False
    return one.as_list() == other.as_list()
