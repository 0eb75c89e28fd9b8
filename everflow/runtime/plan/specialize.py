"""Plans made again for the shapes that feeds really have, so that shape arithmetic is done once and not at each run.

The op types' own shape rules, given the fed shapes, tell the shapes of what follows; Shape ops become constants, and so does what is
computed from them.
"""

from __future__ import annotations

import threading

import numpy as np

from everflow.framework import dtypes, registry
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, infer_shapes
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue
from everflow.kernels import tensors
from everflow.runtime.plan.binding import constant_value, is_once
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, is_ref, value_node
from everflow.runtime.plan.rules import SHAPE_OPS, computed, is_pure, reads_variable, shape_value
from everflow.runtime.plan.structure import CONTROL_FLOW

# More different shapes than this, and the general plan serves the rest.
MOST_SPECIALIZED = 16
# Larger constants are not shapes, nor axes, nor sizes: rules need not see them.
_LARGEST_SHOWN = 1 << 10


def pays(program: Program) -> bool:
    """Whether a program has feeds of open shapes and would be shorter if they were known."""
    return any(_is_open(f) for f in program.feeds) and any(n.type in SHAPE_OPS for n in program.nodes)


def _is_open(feed: Node) -> bool:
    """Whether a feed is a tensor of a shape that the graph leaves open."""
    return not _is_known(feed.output_shapes[0]) and feed.output_dtypes[0] not in (dtypes.resource, dtypes.variant)


def _is_known(shape) -> bool:
    return shape is not None and shape.is_fully_defined()


def know_feed_shapes(program: Program, shapes: dict[int, tuple], session) -> int:
    """Find the shapes that follow from those of the feeds, and compute what depends on shapes alone. Gives the number of nodes computed."""
    for node in program.feeds:
        if node.value in shapes:
            node.output_shapes = [TensorShape(list(shapes[node.value]))]
    shadows = _Shadows()
    edges: dict = {}
    added: dict[Node, list[Node]] = {}
    branches = any(n.type in CONTROL_FLOW for n in program.nodes)
    for node in program.nodes:
        node.inputs = [edges.get(e, e) for e in node.inputs]
        shadows.infer(node, session)
        results = _results(node, session)
        if results is None:
            continue
        controls = list(node.controls)
        for source, _ in node.inputs:
            stays = (branches and source.type not in (FEED, VALUE)) or reads_variable(source)
            controls += [source] if stays else source.controls
        for output, value in enumerate(results):
            made = value_node(program.new_index(), value, node.output_dtypes[output], node, output)
            made.controls = list(dict.fromkeys(controls))
            added.setdefault(node, []).append(made)
            edges[node, output] = (made, 0)
            shadows.infer(made, session)
    if edges:
        program.insert_before(added)
        program.replace(edges, dict.fromkeys(added))
        program.keep_needed()
    return len(added)


def _results(node: Node, session):
    """The results of a node that depends on shapes and constants only, else None."""
    if node.type in SHAPE_OPS:
        if any(is_ref(*edge) for edge in node.inputs):
            return None
        values = [shape_value(node, source.output_shapes[output], i) for i, (source, output) in enumerate(node.inputs)]
        return None if any(v is None for v in values) else values
    if node.inputs and is_pure(node) and all(s.type in (VALUE, "Const") for s, _ in node.inputs):
        return computed(node, [constant_value(s, session) for s, _ in node.inputs], session)
    return None


class _Shadows:
    """Operations that stand for a program's nodes, with the shapes they have in it, so that shape rules can look at them."""

    def __init__(self):
        self._graph = Graph()
        self._made: dict[Node, Operation] = {}

    def infer(self, node: Node, session) -> None:
        """Set a node's output shapes by its op type's rule."""
        shadow = self._shadow(node, session)
        for i, tensor in enumerate(shadow.outputs):
            if node.output_shapes[i] is not None:
                tensor._shape = node.output_shapes[i]
        self._made[node] = shadow
        if node.type in (FEED, VALUE, "Const") or node.type in CONTROL_FLOW or is_once(node) or registry.find_shape_rule(node.type) is None:
            return
        try:
            infer_shapes(shadow)
            node.output_shapes = [t.shape.merge_with(s) for t, s in zip(shadow.outputs, node.output_shapes, strict=True)]
        except (ValueError, KeyError, AttributeError):  # what can't be known now, or fails, is told when the node runs
            pass
        for tensor, shape in zip(shadow.outputs, node.output_shapes, strict=True):
            tensor._shape = shape

    def _shadow(self, node: Node, session) -> Operation:
        inputs = [self._made[s].outputs[i] for s, i in node.inputs if s in self._made]
        if len(inputs) != len(node.inputs):  # a loop's back edge
            inputs = []
        op_type, attrs, definition = node.type, node.op.attrs, node.definition
        if node.type in (VALUE, FEED):
            op_type, attrs, definition = "Placeholder", {}, self._graph.definition_of("Placeholder")
        if node.type == VALUE:
            array = tensors.to_numpy(node.value, node.output_dtypes[0])
            if isinstance(array, np.ndarray) and array.size <= _LARGEST_SHOWN:
                op_type, definition = "Const", self._graph.definition_of("Const")
                attrs = {"dtype": node.output_dtypes[0], "value": TensorValue(array=array, dtype=node.output_dtypes[0])}
        return Operation(self._graph, op_type, node.name, inputs, [], node.output_dtypes, attrs, definition, [])


class ShapedPlans:
    """A general plan, and those made from it for shapes that came twice. Called like a plan."""

    def __init__(self, general, make):
        self._general = general
        self._make = make  # {feed position: shape} → Plan
        self._plans: dict = {}
        self._seen: set = set()
        self._lock = threading.Lock()
        self._open = [i for i, f in enumerate(general.program.feeds) if _is_open(f)]
        for name in ("program", "changes", "partitions", "schedule", "emitted", "session", "fed_fetches", "takes_step"):
            setattr(self, name, getattr(general, name))

    def __call__(self, feeds, step=None) -> list:
        key = tuple([feeds[i].shape for i in self._open])
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan_for(key)
        return plan(feeds, step)

    def _plan_for(self, key):
        with self._lock:
            if key in self._seen and key not in self._plans:
                self._plans[key] = self._make(dict(zip(self._open, (tuple(shape) for shape in key), strict=True)))
            elif len(self._seen) < MOST_SPECIALIZED:
                self._seen.add(key)
            return self._plans.get(key, self._general)
