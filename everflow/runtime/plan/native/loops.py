"""Loops as machine code: a loop that holds nothing but expressions, products, TensorArrays, stacks, and loops and
branches of such, becomes one procedure (`native/procedures.py`) with no Python inside.

The plan keeps the loop as it was, for what the procedure leaves alone: values that have not the shapes the graph
promises, an index out of range, an array that was written to before. `NativeLoop` says so before anything was changed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from llvmlite import ir

from everflow.framework import dtypes
from everflow.framework.dtypes import DType
from everflow.kernels.facts import Effect
from everflow.native import lowering
from everflow.native.codegen import Writer
from everflow.native.nest_code import I64
from everflow.native.procedures import Procedure
from everflow.native.values import INPUT, Value
from everflow.runtime.plan.counters import is_count
from everflow.runtime.plan.native.edges import handles_of, is_number, origin, shape_of, taken, within
from everflow.runtime.plan.native.halves import SPLIT, Halves
from everflow.runtime.plan.native.other_steps import Draw, Variable
from everflow.runtime.plan.native.product_steps import SUM_OF_PRODUCTS, SUM_OF_ROWS
from everflow.runtime.plan.native.regions import MOST_WORK, NUMBERS, Region, plain_form, work_of
from everflow.runtime.plan.native.row_steps import PUSHES, Rows, pushed
from everflow.runtime.plan.native.steps import MAKES, STEPS, NotNative, step
from everflow.runtime.plan.partition import torch_device
from everflow.runtime.plan.program import FEED, IF, LOOP, VALUE, VARIABLE, Block, Edge, Node, is_ref, loop_variables

_CONSTANTS = (VALUE, "Const")
# Op types that are steps, though they have expressions.
_PRODUCTS = ("MatMul", "_MatMulBias", "_MatMulColumns", "_SumOfMatMuls", "BatchMatMul", "BatchMatMulV2")
_STEPS_RATHER = (*_PRODUCTS, "Gather", "GatherV2")
Place = Callable[[], ir.Value]  # writes what finds an address


@dataclass(slots=True)
class Loop:
    """What is known of a loop's procedure: who fills in which words."""

    procedure: Procedure
    first: dict[Edge, int] = field(default_factory=dict)  # loop variable → word of its first value
    outer: dict[Edge, int] = field(default_factory=dict)  # value from outside → word
    variables: dict[Edge, Variable] = field(default_factory=dict)  # handle of a variable that is read → what is known
    rows: list[Rows] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    results: dict[Edge, int] = field(default_factory=dict)  # value that the loop ends with → word
    sums: set[Edge] = field(default_factory=set)  # results that the plan has as running sums
    dtypes: dict[Edge, DType] = field(default_factory=dict)  # of results
    work: int = 0  # of a round, in additions or so
    # Where each half of the rows is a loop of its own: word → bytes from the first half to the second.
    offsets: dict[int, int] | None = None


def translate(loop: Node, writer: Writer, name: str, halves: Halves | None = None) -> Loop:
    """Write the procedure of a loop, or of half of its rows; NotNative where there is none."""
    _check(loop)
    return Translator(writer, name, halves).translate(loop)


def _check(loop: Node) -> None:
    """Find out without much work whether a loop holds something that can't be."""
    for node in within(loop):
        found = lowering.find(node.type)
        if torch_device(node.device) != "cpu" or any(is_ref(*e) for e in node.inputs) or (found and found.updates):
            raise NotNative(node.name)
        if not (_is_nothing(node) or node.type in STEPS or node.facts.renames or _expression_work(node)):
            raise NotNative(node.name)


def _expression_work(node: Node) -> int:
    """The work of a node that is an expression; 0 for a step. Streams go on from round to round, and the BLAS is at hand
    without a call from Python, so what draws and multiplies is a step.
    """
    found = lowering.find(node.type)
    is_step = found is None or found.draws or node.type in _STEPS_RATHER
    return 0 if is_step else work_of(node)


def _is_nothing(node: Node) -> bool:
    """Whether there is nothing to do for a node."""
    return node.type in (VARIABLE, *_CONSTANTS) or (not node.output_dtypes and node.effect is Effect.PURE)


class Translator:
    """Writes a loop's procedure: which values lie where, and in which order steps and expressions come."""

    def __init__(self, writer: Writer, name: str, halves: Halves | None = None) -> None:
        self.writer = writer
        self.procedure = Procedure(writer, name)
        self.made = Loop(self.procedure, offsets=None if halves is None else {})
        self.halves = halves
        self.where: dict[Edge, Place] = {}  # where values lie that were made inside
        self.destined: dict[Edge, Place] = {}  # where values are to lie that are not made yet
        self.rows: dict[tuple[Edge, str | None], Rows] = {}
        self.at_exit: list[Callable[[], None]] = []
        self.around: set[Block] = set()  # blocks whose values are there for sure when the loop begins
        self.work = 0

    def translate(self, loop: Node) -> Loop:
        block: Block | None = loop.block
        while block is not None:
            self.around.add(block)
            block = block.parent
        variables = loop_variables(loop)
        for variable in variables:
            word = self.made.first[variable, 0] = self.procedure.word()
            self._carry(variable, self._argument((variable, 0), word))
        self._go_round(loop, variables)
        self._hand_out(loop)
        self.procedure.end()
        self.made.work = self.work
        for words in (self.made.first, self.made.outer, self.made.results):
            for edge, word in words.items():
                self.note_offset(edge, word)
        return self.made

    def note_offset(self, edge: Edge, word: int) -> None:
        """Where a word tells the address of a split value, note where the second half begins."""
        if self.halves is not None and self.made.offsets is not None and self.halves.kind(edge) == SPLIT:
            self.made.offsets[word] = self.size(edge)

    def row_shape(self, edge: Edge) -> tuple[int, ...]:
        """The shape of a value with all of its rows."""
        return shape_of(edge) if self.halves is None else self.halves.row_shape(edge)

    def _argument(self, edge: Edge, word: int) -> ir.Value:
        """The address of a value that the caller gives: of the word where that is the value, else what it holds."""
        return self.procedure.address_of(word) if is_count(edge) else self.procedure.address_in(word)

    def _hand_out(self, loop: Node) -> None:
        """Copy what the plan takes of the loop's values to where the caller wants it."""
        inside = set(within(loop))
        for edge in dict.fromkeys(origin(e) for e in loop.blocks[0].end.inputs[1:]):
            if edge[0] not in inside:
                continue
            word = self.made.results[edge] = self.procedure.word()
            self.made.dtypes[edge] = dtypes.as_dtype(self.dtype(edge))
            if edge[0].output_dtypes[edge[1]] is dtypes.variant:
                self.made.sums.add(edge)
            self.procedure.copy(self._argument(edge, word), self.at(edge), self.size(edge))

    # --- values -----------------------------------------------------------------------------------

    @staticmethod
    def fixed(address: ir.Value) -> Place:
        return lambda: address

    def varying(self, address: ir.Value) -> tuple[ir.Value, Place]:
        """A variable that holds an address, and how it is found."""
        variable = self.procedure.variable()
        self.procedure.builder.store(address, variable)
        return variable, lambda: self.procedure.builder.load(variable, typ=variable.allocated_type)

    def at(self, edge: Edge) -> ir.Value:
        """The address of a value."""
        edge = origin(edge)
        place = self.where.get(edge)
        if place is None:
            place = self.where[edge] = self._from_outside(edge)
        return place()

    def _from_outside(self, edge: Edge) -> Place:
        is_here = edge[0].type in (FEED, *_CONSTANTS) or torch_device(edge[0].device) == "cpu"
        if not is_number(edge) or edge[0].block not in self.around or not is_here:
            raise NotNative(edge[0].name)
        word = self.procedure.word()
        self.made.outer[edge] = word
        return self.fixed(self._argument(edge, word))

    def dtype(self, edge: Edge) -> np.dtype:
        """The type of a value's numbers; a running sum has that of what is added."""
        node, output = origin(edge)
        if node.output_dtypes[output] is dtypes.variant:
            if node.type == VARIABLE:
                loop = node.block.owner
                node = loop.blocks[1].end.inputs[loop_variables(loop).index(node)][0]
            if node.type not in (SUM_OF_PRODUCTS, SUM_OF_ROWS):
                raise NotNative(node.name)
            return NUMBERS[node.inputs[1][0].output_dtypes[node.inputs[1][1]]]
        found = NUMBERS.get(node.output_dtypes[output])
        if found is None:
            raise NotNative(node.name)
        return found

    def size(self, edge: Edge) -> int:
        """Bytes of a value."""
        return math.prod(shape_of(edge)) * self.dtype(edge).itemsize

    def target(self, edge: Edge) -> ir.Value:
        """Where a value that is about to be made shall lie."""
        place = self.destined.pop(edge, None)
        if place is None:
            place = self.fixed(self.procedure.reserve(self.size(edge)))
        address = place()
        _, self.where[edge] = self.varying(address)
        return address

    # --- blocks -----------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """All nodes of a block: what is no expression as soon as it can be, then the expressions that can."""
        nodes = [n for n in block if not _is_nothing(n)]
        works = {n: _expression_work(n) for n in nodes}
        self._destine(nodes, works)
        levels: dict[Node, int] = {}
        last: dict[Edge, int] = {}  # level of who used an array or stack last
        for node in nodes:
            level = max((last.get(handle, 0) for handle in handles_of(node)), default=0)
            for source, _ in taken(node):
                if source in levels:
                    level = max(level, levels[source] + (works[source] > 0 and not works[node]))
            levels[node] = level
            last.update((handle, level) for handle in handles_of(node))
        group: list[Node] = []
        for node in sorted(nodes, key=lambda n: (levels[n], works[n] > 0)):
            if group and (not works[node] or sum(works[n] for n in group) > MOST_WORK):
                self._expressions(group)
                group = []
            if works[node]:
                group.append(node)
            elif node.type in STEPS:
                STEPS[node.type](self, node)
        if group:
            self._expressions(group)

    def _destine(self, nodes: list[Node], works: dict[Node, int]) -> None:
        """Let what goes on a stack, or round in the loop, be made where it has to be in the end."""
        used = Counter(handle for node in nodes for handle in handles_of(node))
        for node in nodes:
            # Where a stack is pushed on twice in a round it is not known yet which place comes next.
            if node.type in PUSHES and used[origin(node.inputs[0])] == 1:
                edge = origin(node.inputs[1])
                if (works.get(edge[0]) or edge[0].type in MAKES) and edge[0] in works and edge not in self.destined:
                    self.destined[edge] = pushed(self, node)

    def _expressions(self, nodes: list[Node]) -> None:
        region = Region(nodes, keeps_views=True)
        self.work += sum(n * max(1, math.prod(shape_of((node, 0)))) for node in nodes if (n := _expression_work(node)))
        computed: dict = {}  # expression → the edges that are it
        for edge in region.outputs:
            value = plain_form(region.values[edge])
            if value.kind == INPUT:
                self.where[edge] = self.varying(self.at(region.inputs[value.detail]))[1]
            else:
                computed.setdefault(value, []).append(edge)
        if not computed:
            return
        inputs = [self.at(e) for e in region.inputs]
        outputs = []
        for edges in computed.values():
            best = next((e for e in edges if e in self.destined), edges[0])
            outputs.append(self.target(best))
            for edge in edges:
                self.where[edge] = self.where[best]
        self.run(list(computed), len(inputs), [*inputs, *outputs], region.condition)

    def run(self, values: list[Value], inputs: int, addresses: list[ir.Value], condition: Value | None = None) -> None:
        """Compute expressions over so many inputs; addresses of these and of the results."""
        entry = self.writer.add(values, inputs, condition=condition, for_python=False)
        self.procedure.run(entry, addresses)

    # --- loops and branches -----------------------------------------------------------------------

    def loop(self, loop: Node) -> None:
        variables = loop_variables(loop)
        for variable, start in zip(variables, loop.inputs, strict=True):
            self._carry(variable, self.at(start))
        self._go_round(loop, variables)
        for output, edge in enumerate(loop.blocks[0].end.inputs[1:]):
            if loop.uses[output]:
                self.where[loop, output] = self.varying(self.at(edge))[1]

    def _carry(self, variable: Node, first: ir.Value) -> None:
        """Make room for a loop variable, and bring its first value there."""
        edge = (variable, 0)
        size = self.size(edge)
        address = self.procedure.reserve(size)
        self.procedure.copy(address, first, size)
        _, self.where[edge] = self.varying(address)

    def _go_round(self, loop: Node, variables: list[Node]) -> None:
        condition, body = loop.blocks
        nexts = [origin(e) for e in body.end.inputs]
        changed = [(v, e) for v, e in zip(variables, nexts, strict=True) if e != (v, 0) and not _adds_up(v, e)]
        places: dict[Node, tuple[ir.Value, ir.Value]] = {}
        for variable, edge in changed:
            now, self.where[variable, 0] = self.varying(self.at((variable, 0)))
            following, place = self.varying(self.procedure.reserve(self.size((variable, 0))))
            places[variable] = now, following
            if edge[0].block is body and edge not in self.destined and not _lies_elsewhere(edge[0]):
                self.destined[edge] = place
        b = self.procedure.builder
        around, self.at_exit = self.at_exit, []
        with self.procedure.endless() as after:
            self.block(condition)
            goes_on = self.procedure.scalar(self.at(condition.end.inputs[0]), np.dtype(bool))
            self.procedure.leave_loop_unless(b.icmp_signed("!=", goes_on, I64(0)), after)
            self.block(body)
            for variable, edge in changed:
                self._hand_on(edge, places[variable][1], self.size((variable, 0)))
            for now, following in places.values():
                pointers = [b.load(p, typ=p.allocated_type) for p in (now, following)]
                b.store(pointers[1], now)
                b.store(pointers[0], following)
        for do in self.at_exit:
            do()
        self.at_exit = around

    def _hand_on(self, edge: Edge, following: ir.Value, size: int) -> None:
        b = self.procedure.builder
        to, value = b.load(following, typ=following.allocated_type), self.at(edge)
        with b.if_then(b.icmp_unsigned("!=", to, value)):
            self.procedure.copy(to, value, size)

    def branch(self, node: Node) -> None:
        used = [i for i in range(len(node.output_dtypes)) if node.uses[i]]
        b = self.procedure.builder
        places = [self.procedure.reserve(self.size((node, i))) for i in used]
        test = self.procedure.scalar(self.at(node.inputs[0]), np.dtype(bool))
        with b.if_else(b.icmp_signed("!=", test, I64(0))) as sides:
            for side, block in zip(sides, reversed(node.blocks), strict=True):
                with side:
                    self.block(block)
                    for place, i in zip(places, used, strict=True):
                        self.procedure.copy(place, self.at(block.end.inputs[i]), self.size((node, i)))
        for place, i in zip(places, used, strict=True):
            self.where[node, i] = self.fixed(place)


def _lies_elsewhere(node: Node) -> bool:
    """Whether a node's results lie where others are, so that there is no choice."""
    return node.type in STEPS and node.type not in MAKES


def _adds_up(variable: Node, following: Edge) -> bool:
    """Whether a loop variable is a sum of products, which is added to where it lies."""
    return following[0].type == SUM_OF_PRODUCTS and following[0].inputs[0] == (variable, 0)


step(LOOP)(Translator.loop)
step(IF)(Translator.branch)
