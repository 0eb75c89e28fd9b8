"""Regions of a program that become machine code: nodes that are all expressions (`native/lowering.py`), run by one call.

Between two nodes that act, pure nodes may run in any order that has inputs first. So nodes are sorted by levels: first
what needs a kernel, then, as one region, all that can be computed from it without one, then the kernels that needed
that, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.kernels import tensors
from everflow.kernels.facts import Effect
from everflow.native import lowering, scalars
from everflow.native.nests import sources_first
from everflow.native.values import CONST, INPUT, MAP, RESHAPE, VIEW, Value, const, input_value
from everflow.runtime.plan.partition import torch_device
from everflow.runtime.plan.program import LOOP, NATIVE, VALUE, Block, Edge, Node, Program, is_ref
from everflow.runtime.plan.tiers import is_allowed

_NUMBERS = {
    dtype: np.dtype(dtype.as_numpy_dtype)
    for dtype in (
        dtypes.float32,
        dtypes.float64,
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.bool,
    )
}
# A region that stands for fewer calls than this is none, unless it is long.
FEWEST_CALLS = 2
LONG = 1 << 14
# The most work (see `work_of`) of a region, and of all regions of a plan: the compiler's time grows faster than code.
MOST_WORK, MOST_WORK_IN_ALL = 400, 8000


class Region:
    """Some nodes, as expressions of their results over values from outside."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.inputs: list[Edge] = []
        self.values: dict[Edge, Value] = {}
        self.edges = {node: list(node.inputs) for node in nodes}  # which a node that was dropped no longer has
        inside = set(nodes)
        for node in nodes:
            known = _known_positions(node)
            results = lowered(node, [None if i in known else self._value(e) for i, e in enumerate(node.inputs)])
            self.values.update(((node, i), value) for i, value in enumerate(results))
        # What others need. A view of what comes from outside they can have without us.
        self.outputs = [
            (node, i)
            for node in nodes
            for i, users in enumerate(node.uses)
            if any(user not in inside for user in users) and not _is_view_of_input(self.values[node, i])
        ]

    def _value(self, edge: Edge) -> Value:
        found = self.values.get(edge)
        if found is None:
            found = _scalar_constant(edge)
            if found is None:
                found = _as_input(edge, len(self.inputs))
                self.inputs.append(edge)
            self.values[edge] = found
        return found

    @property
    def work(self) -> int:
        return sum(work_of(node) for node in self.nodes)

    def is_worthwhile(self) -> bool:
        """Whether one call is better than the kernels'."""
        computed = [self.values[n, 0] for n in self.nodes if not _is_view_of_input(self.values[n, 0])]
        largest = max((max([v.size, *(s.size for s in v.sources)]) for v in computed), default=0)
        return bool(self.outputs) and (len(computed) >= FEWEST_CALLS or (len(computed) == 1 and largest >= LONG))


def find_regions(
    program: Program, may: Callable[[Node], bool] = is_allowed
) -> Iterator[tuple[Block, list[Node], Node | None, list[Region]]]:
    """For every stretch of a block without nodes that act: the block, the stretch in its new order, what comes behind
    it, and the regions among its nodes that `may` be in any. They are to be put in before the next one is asked for.
    """
    for block in list(program.blocks()):
        stretch: list[Node] = []
        for node in [*block, None]:
            if node is not None and not node.blocks and node.effect is not Effect.ACTS and not node.wanted:
                stretch.append(node)
                continue
            if len(stretch) >= FEWEST_CALLS:
                yield from _regions_of(block, stretch, node, may)
            stretch = []


def _regions_of(
    block: Block, stretch: list[Node], behind: Node | None, may: Callable[[Node], bool]
) -> Iterator[tuple[Block, list[Node], Node | None, list[Region]]]:
    counts = block.owner is not None and _is_in_loop(block)
    chosen = {n: work for n in stretch if may(n) and not (counts and _is_counter(n)) and (work := work_of(n))}
    if not chosen:
        return
    levels: dict[Node, int] = {}
    for node in stretch:
        level = 0
        for source, _ in node.inputs:
            if source in levels:
                level = max(level, levels[source] + (source in chosen and node not in chosen))
        levels[node] = level
    ordered = sorted(stretch, key=lambda n: (levels[n], n in chosen))
    groups: list[list[Node]] = []
    level, work = -1, 0
    for node in ordered:
        if node in chosen:
            if levels[node] != level or work + chosen[node] > MOST_WORK:
                groups.append([])
                level, work = levels[node], 0
            groups[-1].append(node)
            work += chosen[node]
    regions = [region for nodes in groups if (region := Region(nodes)).is_worthwhile()]
    if regions:
        yield block, ordered, behind, regions


def put_in(
    program: Program, block: Block, ordered: list[Node], behind: Node | None, regions: list[Region]
) -> list[Node]:
    """Bring a stretch into its new order with a node for each region, and drop what that stands for."""
    last_of = {region.nodes[-1]: region for region in regions}
    made = []
    for node in ordered:
        block.remove(node)
        _put(block, node, behind)
        if node in last_of:
            region = last_of[node]
            new = Node(program.new_index(), node.op, node.name, NATIVE)
            new.output_dtypes = [n.output_dtypes[i].base_dtype for n, i in region.outputs]
            new.output_shapes = [n.output_shapes[i] for n, i in region.outputs]
            new.device, new.order = node.device, node.order
            program.connect(new, region.inputs)
            _put(block, new, behind)
            made.append(new)
    for region, new in zip((r for n in ordered if (r := last_of.get(n)) is not None), made, strict=True):
        for output, edge in enumerate(region.outputs):
            program.replace(edge, (new, output), drop=False)
        for node in reversed(region.nodes):
            program.drop_if_unneeded(node)
        for node, edges in region.edges.items():
            node.inputs = edges
    return made


def _put(block: Block, node: Node, behind: Node | None) -> None:
    if behind is None:
        block.append(node)
    else:
        block.insert(node, behind)


# --- nodes as expressions ---------------------------------------------------------------------------


def work_of(node: Node) -> int:
    """About how many instructions a node takes for each entry; 0 where it can't be said in expressions, since a type, a
    shape or an input that must be known is not.
    """
    found = lowering.find(node.type)
    if found is None or torch_device(node.device) != "cpu":
        return 0
    edges = [e for i, e in enumerate(node.inputs) if i not in _known_positions(node)]
    if not all(_is_number(*e) for e in [*edges, *((node, i) for i in range(len(node.output_dtypes)))]):
        return 0
    try:
        results = lowered(node, [_as_input(e, i) if e in edges else None for i, e in enumerate(node.inputs)])
    except ValueError:
        return 0
    if not all(
        r.shape == tuple(node.shape(i) or ()) and r.dtype == _NUMBERS[node.output_dtypes[i]]
        for i, r in enumerate(results)
    ):
        return 0
    steps = [v for v in sources_first(list(results)) if v.kind == MAP]
    if not all(map(_can_be_written, steps)):
        return 0
    return bool(results) + sum(scalars.cost(v.detail) for v in steps)


def lowered(node: Node, values: list[Any]) -> tuple[Value, ...]:
    """The results of a node as expressions over those of its inputs; none, where its lowering has nothing to say."""
    found = lowering.find(node.type)
    assert found is not None
    for position in _known_positions(node):
        value = node.constant_input(position)
        if value is None:
            return ()
        values[position] = tensors.to_numpy(value)
    keywords: dict[str, Any] = {}
    for name in found.attribute_names:
        if name == "node":
            keywords[name] = node
        elif name == "result_shape":
            keywords[name] = tuple(node.shape() or ())
        else:
            keywords[name] = node.attribute(name)
    result = found.function(*values, **keywords)
    if result is None:
        return ()
    return result if isinstance(result, tuple) else (result,)


def _known_positions(node: Node) -> set[int]:
    """The inputs whose values a lowering has to know."""
    found = lowering.find(node.type)
    return set() if found is None else {p % len(node.inputs) for p in found.known}


def _is_number(node: Node, output: int) -> bool:
    """Whether a value is a tensor of numbers, of known shape and not empty."""
    dtype, shape = node.output_dtypes[output], node.shape(output)
    return dtype.base_dtype in _NUMBERS and not is_ref(node, output) and shape is not None and math.prod(shape) > 0


def _can_be_written(step: Value) -> bool:
    """Whether there is code for an element-wise function of these types."""
    if step.detail == "cast":
        return scalars.can_convert(step.sources[0].dtype, step.dtype)
    return scalars.is_known(step.detail, step.sources[-1].dtype)


def _as_input(edge: Edge, number: int) -> Value:
    node, output = edge
    return input_value(number, _NUMBERS[node.output_dtypes[output].base_dtype], node.shape(output) or ())


def _scalar_constant(edge: Edge) -> Value | None:
    """A constant of one entry, as an expression."""
    node, output = edge
    if node.type not in (VALUE, "Const") or output:
        return None
    value = node.value if node.type == VALUE else tensors.from_numpy(node.attribute("value"))
    array = tensors.to_numpy(value)
    if array.size != 1:
        return None
    return const(array.ravel()[0], _NUMBERS[node.output_dtypes[0].base_dtype]).reshape(array.shape)


def _is_view_of_input(value: Value) -> bool:
    while value.kind == VIEW:
        value = value.sources[0]
    return value.kind == INPUT


def _is_in_loop(block: Block) -> bool:
    owner = block.owner
    while owner is not None:
        if owner.type == LOOP:
            return True
        owner = owner.block.owner
    return False


def _is_counter(node: Node) -> bool:
    """Whether a node may be of those that count and decide in a loop, which plans do with Python's own numbers."""
    return node.shape() == [] and not node.output_dtypes[0].is_floating


def plain_form(value: Value) -> Value:
    """The expression that fills the same memory in the same order: what only the shape tells apart is nothing to do."""
    while value.kind == VIEW and value.detail[0] == RESHAPE:
        value = value.sources[0]
    return value.expand([1]) if value.kind == CONST else value
