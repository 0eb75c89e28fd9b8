"""Plans made again for the shapes that feeds really have, so that shape arithmetic is done once and not at each run.

A plan whose feeds have open shapes also gives the results of its Shape ops. Those that follow from the feeds' shapes alone are constants
of a second plan, which later runs with the same shapes use.
"""

from __future__ import annotations

import threading

from everflow.runtime.plan.aliasing import FRESH, VIEWS
from everflow.runtime.plan.binding import RENAMES, is_once
from everflow.runtime.plan.program import FEED, VALUE, Node, Program
from everflow.runtime.plan.structure import CONTROL_FLOW

# More different shapes than this, and the general plan serves the rest.
MOST_SPECIALIZED = 16

SHAPE_OPS = frozenset(["Shape", "ShapeN", "Size", "Rank"])
# Inputs whose values, not only shapes, decide the result's shape.
_VALUE_INPUTS = {
    **dict.fromkeys(["Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin"], [1]),
    **dict.fromkeys(["Reshape", "Tile", "Transpose", "ExpandDims", "OneHot", "BroadcastTo", "Pad", "PadV2", "MirrorPad"], [1]),
    **dict.fromkeys(["Cumsum", "Cumprod", "ReverseV2", "TopKV2", "Conv2DBackpropFilter", "ResizeBilinear", "ResizeNearestNeighbor"], [1]),
    **dict.fromkeys(
        ["Fill", "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "AvgPoolGrad", "Conv2DBackpropInput", "Split"], [0]
    ),
    **dict.fromkeys(["BroadcastGradientArgs", "Range"], [0, 1, 2]),
    "StridedSlice": [1, 2, 3],
    "StridedSliceGrad": [0, 1, 2, 3],
    "Slice": [1, 2],
    "SplitV": [1, 2],
    "ConcatV2": [-1],
    "Concat": [0],
    "GatherV2": [2],
}
# The sizes of these depend on values, whatever their inputs' shapes.
_DATA_DEPENDENT = frozenset(["Where", "Unique", "Multinomial", "Switch", "Merge"])
_SHAPE_FROM_SHAPES = (FRESH | VIEWS | frozenset(_VALUE_INPUTS)) - _DATA_DEPENDENT


def observable(program: Program) -> list[Node]:
    """The Shape ops whose results follow from the feeds' shapes."""
    if not any(n.type in SHAPE_OPS for n in program.nodes) or not any(not _is_known(f.output_shapes[0]) for f in program.feeds):
        return []
    sized: set = set()  # edges whose shape follows from the feeds' shapes
    valued: set = set()  # edges whose value does
    found = []
    for node in program.nodes:
        outputs = [(node, i) for i in range(len(node.output_dtypes))]
        if node.type in (VALUE, "Const"):
            sized.update(outputs)
            valued.update(outputs)
        elif node.type == FEED or all(_is_known(s) for s in node.output_shapes) or (node.type in SHAPE_OPS and node.inputs):
            sized.update(outputs)
            if node.type in SHAPE_OPS and all(e in sized for e in node.inputs):
                valued.update(outputs)
                if not node.guard and not node.frame:
                    found.append(node)
        elif node.type in CONTROL_FLOW or is_once(node):
            continue
        elif node.type in RENAMES:
            for among in (sized, valued):
                if node.inputs[0] in among:
                    among.update(outputs)
        elif node.type in _SHAPE_FROM_SHAPES:
            decisive = [node.inputs[i] for i in _VALUE_INPUTS.get(node.type, ()) if i < len(node.inputs)]
            if all(e in sized for e in node.inputs) and all(e in valued for e in decisive):
                sized.update(outputs)
        if node.inputs and not node.is_stateful and node.type not in CONTROL_FLOW and all(e in valued for e in node.inputs):
            sized.update(outputs)
            valued.update(outputs)
    return found


def _is_known(shape) -> bool:
    return shape is not None and shape.is_fully_defined()


def replace_observed(program: Program, observed: dict) -> int:
    """Put values in place of Shape ops: `observed` is Operation → list of kernel values, one for each output."""
    from everflow.runtime.plan.program import value_node

    edges: dict = {}
    added: dict = {}
    for node in program.nodes:
        values = observed.get(node.op) if node.type in SHAPE_OPS and node.op is not None else None
        for output, value in enumerate(values or ()):
            made = value_node(program.new_index(), value, node.output_dtypes[output], node, output)
            made.controls = list(node.controls)
            added.setdefault(node, []).append(made)
            edges[node, output] = (made, 0)
    if edges:
        program.insert_before(added)
        program.replace(edges, {})
        program.keep_needed()
    return len(added)


class ShapedPlans:
    """A general plan and those made from it for shapes that came twice. Called like a plan."""

    def __init__(self, general, make):
        self._general = general
        self._make = make  # observed → Plan
        self._plans: dict = {}
        self._seen: dict = {}
        self._lock = threading.Lock()
        self._open = [i for i, f in enumerate(general.program.feeds) if not _is_known(f.output_shapes[0])]
        for name in ("program", "changes", "partitions", "schedule", "emitted", "session", "fed_fetches", "takes_step"):
            setattr(self, name, getattr(general, name))

    def __call__(self, feeds, step=None) -> list:
        key = tuple([feeds[i].shape for i in self._open])
        plan = self._plans.get(key)
        if plan is not None:
            return plan(feeds, step)
        observed = self._seen.get(key)
        if observed is not None:
            with self._lock:
                plan = self._plans.get(key)
                if plan is None:
                    plan = self._plans[key] = self._make(observed)
            return plan(feeds, step)
        results = self._general(feeds, step)
        count = len(self._general.program.fetches)
        if len(self._seen) < MOST_SPECIALIZED:
            self._seen[key] = self._general.observed_values(results)
        return results[:count]
