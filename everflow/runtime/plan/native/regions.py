"""Regions of a program that become machine code: nodes that are all expressions (`native/lowering.py`), run by one call.

Between two nodes that act, pure nodes may run in any order that has inputs first. So nodes are sorted by levels: first
what needs a kernel, then, as one region, all that can be computed from it without one, then the kernels that needed
that, and so on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.op_defs import OpDef
from everflow.kernels import tensors
from everflow.kernels.facts import Effect
from everflow.native import lowering, scalars, toolchain
from everflow.native.background import BACKGROUND
from everflow.native.draws import PLACE
from everflow.native.nests import sources_first
from everflow.native.values import (
    CONST,
    INDEX,
    INPUT,
    MAP,
    PRODUCT,
    RESHAPE,
    VIEW,
    Checked,
    Value,
    const,
    copy_of,
    input_value,
)
from everflow.runtime.plan.native.memory_order import (
    READS,
    VARIABLES,
    Variables,
    checks,
    stands_for_variable,
    writes_rows,
)
from everflow.runtime.plan.native.tiers import is_allowed
from everflow.runtime.plan.partition import torch_device
from everflow.runtime.plan.program import (
    LOOP,
    NATIVE,
    UPDATE,
    VALUE,
    Block,
    Edge,
    Node,
    Program,
    internal,
    is_known,
    is_ref,
)

NUMBERS = {
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
# A region that stands for fewer calls than this is none, unless it is long, or one that a kernel takes many for.
FEWEST_CALLS = 2
LONG, MANY = 1 << 14, 24
# How many rows there are, as far as expressions are concerned, where that is not known before.
_ROWS = 1 << 20
# The most work (see `work_of`) of a region, and of all regions of a plan: the compiler's time grows faster than code.
MOST_WORK, MOST_WORK_IN_ALL = 400, 8000
# The same of a region whose nests lie between products: many of them are alike, and then there once.
MOST_WORK_OF_ONE = 40_000


class Region:
    """Some nodes, as expressions of their results over values from outside, and of what variables hold afterwards.

    What is only a view of a value from outside is no output, unless `keeps_views`: others can have it without us.
    """

    def __init__(self, nodes: list[Node], variables: Variables | None = None, *, keeps_views: bool = False) -> None:
        self.nodes = nodes
        self.work = 0  # of all nodes, where somebody has found it out
        self.inputs: list[Edge] = []
        self.values: dict[Edge, Value] = {}
        self.edges = {node: list(node.inputs) for node in nodes}  # which a node that was dropped no longer has
        self.updates: dict[Node, Value] = {}  # variable → its new value
        self.held: dict[Edge, Node] = {}  # references to variables that are written, and what was read from there
        self.updating = [node for node in nodes if _is_update(node)]
        self.condition: Value | None = None  # without which kernels must be asked
        self.is_open = any(map(is_open, nodes))  # it changes rows, whose number is not known before
        self.indices: int | None = None  # the input that says which rows these are
        self.draws = [node for node in nodes if _draws(node)]  # the first inputs are their places in random streams
        if variables is not None:
            self._find_variables(variables)
        inside = set(nodes)
        for node in nodes:
            BACKGROUND.breathe()
            known = known_positions(node)
            given = [None if i in known else self._value(e) for i, e in enumerate(node.inputs)]
            results = lowered(node, given, self.draws.index(node) if node in self.draws else 0)
            if isinstance(results, Checked) and self.is_open:
                [self.indices] = (v.detail for v in sources_first([results.condition]) if v.kind == INPUT)
            elif isinstance(results, Checked):
                holds = results.condition.reduce("all", range(len(results.condition.shape)))
                self.condition = holds if self.condition is None else self.condition & holds
            if node in self.updating:
                targets = [self.held[e] for e in node.inputs if stands_for_variable(e)]
                self.updates.update(zip(targets, results, strict=True))
            else:
                self.values.update(((node, i), value) for i, value in enumerate(results))
        self.outputs = [
            (node, i)
            for node in nodes
            if node not in self.updating
            for i, users in enumerate(node.uses)
            if any(user not in inside for user in users)
            and (keeps_views or not _is_view_of_input(self.values[node, i]))
        ]

    def _find_variables(self, variables: Variables) -> None:
        """Let what stands for a variable that is written, and what was read from it, be one input."""
        writers: dict[Node, Node] = {}
        for node in self.updating:
            for edge in filter(stands_for_variable, node.inputs):
                variable = variables.behind(edge)
                assert variable is not None
                self.held[edge] = variable
                writers[variable] = node
        numbers: dict[Node, Value] = {}
        for variable in dict.fromkeys(self.held.values()):
            numbers[variable] = input_value(self.count, *_content(variable))
            self.inputs.append((variable, 0))
        for edge in {e: None for edges in self.edges.values() for e in edges if not stands_for_variable(e)}:
            for shown in variables.shown(edge) & writers.keys():
                if variables.read_by(edge, writers[shown]) is shown:
                    self.held[edge] = shown
        self.values.update((edge, numbers[variable]) for edge, variable in self.held.items())

    def _value(self, edge: Edge) -> Value:
        found = self.values.get(edge)
        if found is None:
            found = _scalar_constant(edge)
            if found is None:
                found = as_input(edge, self.count)
                self.inputs.append(edge)
            self.values[edge] = found
        return found

    @property
    def count(self) -> int:
        """How many inputs the code has."""
        return len(self.draws) + len(self.inputs)

    @property
    def acts(self) -> bool:
        """Whether it does something besides computing its outputs from values, so that it has to stay where it is."""
        return bool(self.updates or self.draws or any(map(stands_for_variable, self.inputs)))

    def is_worthwhile(self) -> bool:
        """Whether one call is better than the kernels'."""
        pure = [n for n in self.nodes if n not in self.updating]
        computed = [self.values[n, 0] for n in pure if not _is_view_of_input(self.values[n, 0])]
        computed += self.updates.values()
        largest = max((max([v.size, *(s.size for s in v.sources)]) for v in computed), default=0)
        is_of_use = bool(self.outputs or self.updates)
        return is_of_use and (
            len(computed) >= FEWEST_CALLS or (len(computed) == 1 and (largest >= LONG or self.work >= MANY))
        )


def find_regions(
    program: Program, may: Callable[[Node], bool] = is_allowed
) -> Iterator[tuple[Block, list[Node], Node | None, list[Region]]]:
    """For every stretch of a block without nodes that act otherwise than on variables: the block, the stretch in its new
    order, what comes behind it, and the regions among its nodes that `may` be in any. They are to be put in before the
    next one is asked for.
    """
    variables = Variables(program)
    for block in list(program.blocks()):
        if is_in_native_loop(block):
            continue
        stretch: list[Node] = []
        for node in [*block, None]:
            if (
                node is not None
                and not node.blocks
                and (_is_free(node) or (may(node) and _can_update(node, variables)))
            ):
                stretch.append(node)
                continue
            if stretch:
                yield from _regions_of(block, stretch, node, variables, may)
            stretch = []


def _is_free(node: Node) -> bool:
    return node.effect is not Effect.ACTS and (not node.wanted or node.type in READS)


def _is_update(node: Node) -> bool:
    found = lowering.find(node.type)
    return found is not None and found.updates


def _draws(node: Node) -> bool:
    found = lowering.find(node.type)
    return found is not None and found.draws


# What these write they must compute, too: to copy alone is a kernel's.
_ASSIGNMENTS = ("Assign", "AssignVariableOp")


def _can_update(node: Node, variables: Variables) -> bool:
    """Whether a node does nothing but write variables, each once, from values that don't lie in them otherwise."""
    if not _is_update(node) or not work_of(node):
        return False
    if node.type in _ASSIGNMENTS and not work_of(node.inputs[1][0]):
        return False
    targets = [variables.behind(e) for e in node.inputs if stands_for_variable(e)]
    if None in targets or len(set(targets)) < len(targets):
        return False
    return all(
        not variables.shown(edge).intersection(targets)
        or (variables.read_by(edge, node) in targets and not writes_rows(node))
        for edge in node.inputs
        if not stands_for_variable(edge)
    )


def _regions_of(
    block: Block, stretch: list[Node], behind: Node | None, variables: Variables, may: Callable[[Node], bool]
) -> Iterator[tuple[Block, list[Node], Node | None, list[Region]]]:
    counts = block.owner is not None and _is_in_loop(block)
    chosen = {
        n: work
        for n in stretch
        if may(n) and not (n.wanted and n.type in READS) and not (counts and _is_counter(n)) and (work := work_of(n))
    }
    if not chosen:
        return
    written = {
        n: [v for e in n.inputs if stands_for_variable(e) and (v := variables.behind(e))]
        for n in chosen
        if _is_update(n)
    }
    levels = variables.levels(stretch, chosen, written)
    ordered = sorted(stretch, key=lambda n: (levels[n], n in chosen))
    regions = [Region(nodes, variables) for nodes in _groups([n for n in ordered if n in chosen], levels, chosen)]
    for region in regions:
        region.work = sum(chosen[node] for node in region.nodes)
    regions = [region for region in regions if region.is_worthwhile()]
    if regions:
        yield block, ordered, behind, regions


def _groups(nodes: list[Node], levels: dict[Node, int], works: dict[Node, int]) -> list[list[Node]]:
    """Nodes in their order, in groups that become a region each."""
    groups: list[list[Node]] = []
    passes: dict[Node, int] = {}  # how many products a node of this group comes after: nests never go beyond one
    work: Counter[int] = Counter()  # of the nodes of this group behind so many products
    level, draws, looks = -1, False, False
    for node in nodes:
        number = max((passes[s] + _multiplies(s) for s, _ in node.inputs if s in passes), default=0)
        # Where a check fails, kernels do it all, and would draw once more; and it comes before all else.
        is_odd = _draws(node) and looks or checks(node) and (draws or _looks_at_products(node, passes))
        is_alone = bool(groups) and (is_open(node) or is_open(groups[-1][-1]))
        is_long = work[number] + works[node] > MOST_WORK or work.total() + works[node] > MOST_WORK_OF_ONE
        if levels[node] != level or is_long or is_odd or is_alone:
            groups.append([])
            passes, work, number = {}, Counter(), 0
            level, draws, looks = levels[node], False, False
        groups[-1].append(node)
        passes[node] = number
        work[number] += works[node]
        draws, looks = draws or _draws(node), looks or checks(node)
    return groups


def _multiplies(node: Node) -> bool:
    return "MatMul" in node.type or "Conv2D" in node.type


def _looks_at_products(node: Node, passes: dict[Node, int]) -> bool:
    """Whether indices or classes, which are what is checked, come from products."""
    return any(s.output_dtypes[i].is_integer and passes.get(s) for s, i in node.inputs)


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
            new = Node(program.new_index(), node.op, node.name, UPDATE if region.acts else NATIVE)
            if region.acts:
                new.wanted, new.definition = True, _definition(region)
            new.output_dtypes = [n.output_dtypes[i].base_dtype for n, i in region.outputs]
            new.output_shapes = [n.output_shapes[i] for n, i in region.outputs]
            new.device, new.order = node.device, node.order
            program.connect(new, region.inputs)
            _put(block, new, behind)
            made.append(new)
    for region, new in zip((r for n in ordered if (r := last_of.get(n)) is not None), made, strict=True):
        for output, edge in enumerate(region.outputs):
            program.replace(edge, (new, output), drop=False)
        for node in region.updating:
            for output, users in enumerate(node.uses):
                if users:  # of the reference, which is that to the variable
                    program.replace((node, output), (region.held[node.inputs[0]], 0), drop=False)
            node.wanted = False
            program.erase(node)
        for node in region.draws:
            program.erase(node)
        for node in reversed(region.nodes):
            program.drop_if_unneeded(node)
        for node, edges in region.edges.items():
            if node.block is None:  # kernels may be asked for it; one that stayed takes what the regions give
                node.inputs = edges
    return made


def _definition(region: Region) -> OpDef:
    """The definition of a region's node: which of its inputs are variables."""
    inputs = [f"{'&' * stands_for_variable(edge)}x{i}" for i, edge in enumerate(region.inputs)]
    outputs = [f"y{i}" for i in range(len(region.outputs))]
    return internal(UPDATE, " ".join(inputs), " ".join(outputs), acts=True)


def _put(block: Block, node: Node, behind: Node | None) -> None:
    """Put a node at the end of a stretch. It keeps its number: who asks later what was written before it asks by that."""
    order = node.order
    if behind is None:
        block.append(node)
    else:
        block.insert(node, behind)
    node.order = order


# --- nodes as expressions ---------------------------------------------------------------------------


def work_of(node: Node) -> int:
    """About how many instructions a node takes for each entry; 0 where it can't be said in expressions, since a type, a
    shape or an input that must be known is not.
    """
    BACKGROUND.breathe()
    found = lowering.find(node.type)
    if found is None or torch_device(node.device) != "cpu":
        return 0
    edges = [e for i, e in enumerate(node.inputs) if i not in known_positions(node)]
    made = [] if found.updates else [(node, i) for i in range(1 + max(_used(node), default=0))]
    by_handle, may_be_open = found.updates or found.reads, is_open(node)
    for edge in [*edges, *made]:
        if by_handle and stands_for_variable(edge):
            if not _is_content(edge):
                return 0
        elif not _is_number(*edge) and not (may_be_open and _has_open_rows(edge)):
            return 0
    inputs = [as_input(e, i) if e in edges else None for i, e in enumerate(node.inputs)]
    wanted = [as_input(e, 0) for e in made or [e for e in edges if stands_for_variable(e)]]
    try:
        results = lowered(node, inputs)
    except ValueError:
        return 0
    if [(r.shape, r.dtype) for r in results[: len(wanted)]] != [(w.shape, w.dtype) for w in wanted]:
        return 0
    conditions = [results.condition] if isinstance(results, Checked) else []
    values = sources_first([*results, *conditions])
    steps = [v for v in values if v.kind == MAP]
    multiplies = any(v.kind == PRODUCT for v in values)
    if not all(map(_can_be_written, steps)) or (multiplies and not toolchain.can_multiply()):
        return 0
    return bool(results) + sum(scalars.cost(v.detail) for v in steps)


def _used(node: Node) -> list[int]:
    """The outputs of a node that somebody takes."""
    return [i for i, users in enumerate(node.uses) if users]


def lowered(node: Node, values: list[Any], draw: int = 0) -> tuple[Value, ...]:
    """The results of a node as expressions over those of its inputs; none, where its lowering has nothing to say. `draw`:
    the input that says where a random op is in its stream.
    """
    found = lowering.find(node.type)
    assert found is not None
    for position in known_positions(node):
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
        elif name == "place":
            keywords[name] = input_value(draw, *PLACE)
        else:
            keywords[name] = node.attribute(name)
    result = found.function(*values, **keywords)
    if result is None:
        return ()
    return result if isinstance(result, tuple) else (result,)


def known_positions(node: Node) -> set[int]:
    """The inputs whose values a lowering has to know."""
    found = lowering.find(node.type)
    return set() if found is None else {p % len(node.inputs) for p in found.known}


def _is_number(node: Node, output: int) -> bool:
    """Whether a value is a tensor of numbers, of known shape and not empty."""
    dtype, shape = node.output_dtypes[output], node.shape(output)
    return dtype.base_dtype in NUMBERS and not is_ref(node, output) and shape is not None and math.prod(shape) > 0


def is_open(node: Node) -> bool:
    """Whether a node changes rows of variables, and their number is not known before."""
    return writes_rows(node) and any(_has_open_rows(edge) for edge in node.inputs if not stands_for_variable(edge))


def _has_open_rows(edge: Edge) -> bool:
    """Whether all is known of a tensor of numbers but how many rows it has."""
    shape = edge[0].output_shapes[edge[1]]
    if edge[0].output_dtypes[edge[1]] not in NUMBERS or shape is None or not shape.rank or shape.is_fully_defined():
        return False
    return shape[1:].is_fully_defined() and 0 not in shape[1:].as_list()


def _is_content(edge: Edge) -> bool:
    """Whether a reference or handle is surely that of a variable that holds numbers, of known shape and not empty."""
    node = _variable_at(edge)
    if node is None or node.attribute("dtype") not in NUMBERS or not is_known(node.attribute("shape")):
        return False
    return math.prod(node.attribute("shape").as_list()) > 0


def _variable_at(edge: Edge) -> Node | None:
    """The node of the variable that an edge refers to, through ops that hand on the reference."""
    while edge[0].inputs and stands_for_variable(edge) and not edge[0].blocks:
        edge = edge[0].inputs[0]
    return edge[0] if edge[0].type in VARIABLES else None


def _content(variable: Node) -> tuple[np.dtype, list[int]]:
    """The type and the shape of what a variable holds."""
    return NUMBERS[variable.attribute("dtype").base_dtype], variable.attribute("shape").as_list()


def _can_be_written(step: Value) -> bool:
    """Whether there is code for an element-wise function of these types."""
    if step.detail == "cast":
        return scalars.can_convert(step.sources[0].dtype, step.dtype)
    return scalars.is_known(step.detail, step.sources[-1].dtype)


def as_input(edge: Edge, number: int) -> Value:
    if stands_for_variable(edge):
        variable = _variable_at(edge)
        assert variable is not None
        return input_value(number, *_content(variable))
    node, output = edge
    known = node.output_shapes[output]
    shape = [_ROWS, *known[1:].as_list()] if known is not None and _has_open_rows(edge) else node.shape(output) or ()
    return input_value(number, NUMBERS[node.output_dtypes[output].base_dtype], shape)


def _scalar_constant(edge: Edge) -> Value | None:
    """A constant of one entry, as an expression."""
    node, output = edge
    if node.type not in (VALUE, "Const") or output:
        return None
    value = node.value if node.type == VALUE else tensors.from_numpy(node.attribute("value"))
    array = tensors.to_numpy(value)
    if array.size != 1:
        return None
    return const(array.ravel()[0], NUMBERS[node.output_dtypes[0].base_dtype]).reshape(array.shape)


def _is_view_of_input(value: Value) -> bool:
    while value.kind == VIEW:
        value = value.sources[0]
    return value.kind == INPUT


def _is_in_loop(block: Block) -> bool:
    return any(owner.type == LOOP for owner in _owners(block))


def is_in_native_loop(block: Block) -> bool:
    """Whether a loop around a block is machine code as a whole."""
    return any(owner.type == LOOP and owner.value is not None for owner in _owners(block))


def _owners(block: Block) -> Iterator[Node]:
    owner = block.owner
    while owner is not None:
        yield owner
        owner = owner.block.owner


def _is_counter(node: Node) -> bool:
    """Whether a node may be of those that count and decide in a loop, which plans do with Python's own numbers."""
    return bool(node.output_dtypes) and node.shape() == [] and not node.output_dtypes[0].is_floating


def plain_form(value: Value) -> Value:
    """The expression that fills the same memory in the same order: what only the shape tells apart is nothing to do."""
    while value.kind == VIEW and value.detail[0] == RESHAPE:
        value = value.sources[0]
    return value.expand([1]) if value.kind == CONST else copy_of(value) if value.kind == INDEX else value
