"""Loops as machine code: a loop that holds nothing but expressions, products, TensorArrays, stacks, and loops and
branches of such, becomes one procedure (`native/procedures.py`) with no Python inside.

The plan keeps the loop as it was, for what the procedure leaves alone: values that have not the shapes the graph
promises, an index out of range, an array that was written to before. `NativeLoop` says so before anything was changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from llvmlite import ir

from everflow.framework import dtypes
from everflow.framework.dtypes import DType
from everflow.kernels.facts import Effect
from everflow.kernels.random.distributions import RESERVED_PER_VALUE
from everflow.native import lowering, stream_loops, streams
from everflow.native.codegen import I64, Entry, Writer
from everflow.native.procedures import NO_ROOM, REFUSED, Matrix, Procedure
from everflow.native.values import INPUT, input_value
from everflow.runtime.plan.counters import is_count
from everflow.runtime.plan.partition import torch_device
from everflow.runtime.plan.program import (
    IF,
    LOOP,
    VALUE,
    VARIABLE,
    Block,
    Edge,
    Node,
    is_ref,
    loop_variables,
)  # fmt: skip
from everflow.runtime.plan.regions import MOST_WORK, NUMBERS, Region, plain_form, work_of

# What a sum waits for before it is made as one product: so many rows.
ENOUGH_ROWS = 128
# Additions or so between two questions whether to go on.
WORK_AT_ONCE = 20_000_000
_CONSTANTS = (VALUE, "Const")
_HANDLES = (dtypes.resource, dtypes.variant)
Place = Callable[[], ir.Value]  # writes what finds an address


class NotNative(Exception):
    """Something in a loop has no machine code."""


@dataclass(slots=True)
class Rows:
    """A TensorArray or stack, as the rows of one tensor, and the words by which a procedure knows it."""

    handle: Edge
    is_stack: bool
    is_written: bool
    dtype: DType
    shape: tuple[int, ...]
    address: int
    count: int  # rows there are; of a stack that is written: that there is room for
    flags: int = 0  # address of a byte for each row, which says that it was read or written
    used: int = 0  # of a stack: rows that are on it
    may_repeat: int = 0  # whether a row may be read again
    source: str | None = None  # the gradient array of this name is meant

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape) * NUMBERS[self.dtype].itemsize


@dataclass(slots=True)
class Draw:
    """A random op, and the words by which a procedure knows its stream: key, place (two words), draws so far."""

    node: Node
    blocks: int  # that a draw uses up
    key: int
    low: int
    high: int
    count: int


@dataclass(slots=True)
class Loop:
    """What is known of a loop's procedure: who fills in which words."""

    procedure: Procedure
    first: dict[Edge, int] = field(default_factory=dict)  # loop variable → word of its first value
    outer: dict[Edge, int] = field(default_factory=dict)  # value from outside → word
    rows: list[Rows] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    results: dict[Edge, int] = field(default_factory=dict)  # value that the loop ends with → word
    sums: set[Edge] = field(default_factory=set)  # results that the plan has as running sums
    dtypes: dict[Edge, DType] = field(default_factory=dict)  # of results
    rounds_at_once: int = 1


def translate(loop: Node, writer: Writer, name: str) -> Loop:
    """Write the procedure of a loop; NotNative where there is none."""
    _check(loop)
    return _Translator(writer, name).translate(loop)


def _check(loop: Node) -> None:
    """Find out without much work whether a loop holds something that can't be."""
    for node in within(loop):
        found = lowering.find(node.type)
        if torch_device(node.device) != "cpu" or any(is_ref(*e) for e in node.inputs) or (found and found.updates):
            raise NotNative(node.name)
        if not (_is_nothing(node) or node.type in _SPECIAL or node.facts.renames or work_of(node)):
            raise NotNative(node.name)


def within(owner: Node) -> Iterator[Node]:
    """All nodes that a node holds."""
    left = list(owner.blocks)
    while left:
        for node in left.pop():
            yield node
            left += node.blocks


def _is_nothing(node: Node) -> bool:
    """Whether there is nothing to do for a node."""
    return node.type in (VARIABLE, *_CONSTANTS) or (not node.output_dtypes and node.effect is Effect.PURE)


class _Translator:
    def __init__(self, writer: Writer, name: str) -> None:
        self.writer = writer
        self.procedure = Procedure(writer, name)
        self.made = Loop(self.procedure)
        self.where: dict[Edge, Place] = {}  # where values lie that were made inside
        self.destined: dict[Edge, Place] = {}  # where values are to lie that are not made yet
        self.rows: dict[tuple[Edge, str | None], Rows] = {}
        self.in_place: set[Node] = set()  # loop variables that are added to where they lie
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
        self.made.rounds_at_once = max(1, WORK_AT_ONCE // max(self.work, 1))
        return self.made

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
    def _fixed(address: ir.Value) -> Place:
        return lambda: address

    def _varying(self, address: ir.Value | None = None) -> tuple[ir.Value, Place]:
        """A variable that holds an address, and how it is found."""
        variable = self.procedure.variable()
        if address is not None:
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
        if not _is_number(edge) or edge[0].block not in self.around:
            raise NotNative(edge[0].name)
        word = self.procedure.word()
        self.made.outer[edge] = word
        return self._fixed(self._argument(edge, word))

    def dtype(self, edge: Edge) -> np.dtype:
        """The type of a value's numbers; a running sum has that of what is added."""
        node, output = origin(edge)
        if node.output_dtypes[output] is dtypes.variant:
            if node.type == VARIABLE:
                loop = node.block.owner
                node = loop.blocks[1].end.inputs[loop_variables(loop).index(node)][0]
            if node.type not in (_SUM_OF_MAKES, _SUM_OF_ROWS):
                raise NotNative(node.name)
            return NUMBERS[node.inputs[1][0].output_dtypes[node.inputs[1][1]]]
        found = NUMBERS.get(node.output_dtypes[output])
        if found is None:
            raise NotNative(node.name)
        return found

    def size(self, edge: Edge) -> int:
        """Bytes of a value."""
        return math.prod(_shape(edge)) * self.dtype(edge).itemsize

    def target(self, edge: Edge) -> ir.Value:
        """Where a value that is about to be made shall lie."""
        place = self.destined.pop(edge, None)
        if place is None:
            place = self._fixed(self.procedure.reserve(self.size(edge)))
        address = place()
        _, self.where[edge] = self._varying(address)
        return address

    # --- blocks -----------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """All nodes of a block: what is no expression as soon as it can be, then the expressions that can."""
        nodes = [n for n in block if not _is_nothing(n)]
        works = {n: work_of(n) for n in nodes}
        self._destine(nodes, works)
        levels: dict[Node, int] = {}
        last: dict[Edge, int] = {}  # level of who used an array or stack last
        for node in nodes:
            level = max((last.get(handle, 0) for handle in _handles(node)), default=0)
            for source, _ in taken(node):
                if source in levels:
                    level = max(level, levels[source] + (works[source] > 0 and not works[node]))
            levels[node] = level
            last.update((handle, level) for handle in _handles(node))
        group: list[Node] = []
        for node in sorted(nodes, key=lambda n: (levels[n], works[n] > 0)):
            if group and (not works[node] or sum(works[n] for n in group) > MOST_WORK):
                self._expressions(group)
                group = []
            if works[node]:
                group.append(node)
            elif node.type in _SPECIAL:
                _SPECIAL[node.type](self, node)
        if group:
            self._expressions(group)

    def _destine(self, nodes: list[Node], works: dict[Node, int]) -> None:
        """Let what goes on a stack, or round in the loop, be made where it has to be in the end."""
        for node in nodes:
            if node.type in _PUSHES:
                edge = origin(node.inputs[1])
                if (works.get(edge[0]) or edge[0].type in _MAKES) and edge[0] in works and edge not in self.destined:
                    self.destined[edge] = self._pushed(node)

    def _expressions(self, nodes: list[Node]) -> None:
        region = Region(nodes, keeps_views=True)
        self.work += sum(n * max(1, math.prod(_shape((node, 0)))) for node in nodes if (n := work_of(node)))
        computed: dict = {}  # expression → the edges that are it
        for edge in region.outputs:
            value = plain_form(region.values[edge])
            if value.kind == INPUT:
                self.where[edge] = self._varying(self.at(region.inputs[value.detail]))[1]
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
        self._run(self.writer.add(list(computed), len(inputs)), [*inputs, *outputs])

    def _run(self, entry: Entry, addresses: list[ir.Value]) -> None:
        self.procedure.run(entry, addresses)

    # --- loops and branches -----------------------------------------------------------------------

    def loop(self, loop: Node) -> None:
        variables = loop_variables(loop)
        for variable, start in zip(variables, loop.inputs, strict=True):
            self._carry(variable, self.at(start))
        self._go_round(loop, variables)
        for output, edge in enumerate(loop.blocks[0].end.inputs[1:]):
            if loop.uses[output]:
                self.where[loop, output] = self._varying(self.at(edge))[1]

    def _carry(self, variable: Node, first: ir.Value) -> None:
        """Make room for a loop variable, and bring its first value there."""
        edge = (variable, 0)
        size = self.size(edge)
        address = self.procedure.reserve(size)
        self.procedure.copy(address, first, size)
        _, self.where[edge] = self._varying(address)

    def _go_round(self, loop: Node, variables: list[Node]) -> None:
        condition, body = loop.blocks
        nexts = [origin(e) for e in body.end.inputs]
        changed = [(v, e) for v, e in zip(variables, nexts, strict=True) if e != (v, 0) and not self._adds_up(v, e)]
        places: dict[Node, tuple[ir.Value, ir.Value]] = {}
        for variable, edge in changed:
            now, self.where[variable, 0] = self._varying(self.at((variable, 0)))
            following, place = self._varying(self.procedure.reserve(self.size((variable, 0))))
            places[variable] = now, following
            if edge[0].block is body and edge not in self.destined and not self._lies_elsewhere(edge[0]):
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

    def _lies_elsewhere(self, node: Node) -> bool:
        """Whether a node's results lie where others are, so that there is no choice."""
        return node.type in _SPECIAL and node.type not in _MAKES

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
            self.where[node, i] = self._fixed(place)

    # --- TensorArrays and stacks --------------------------------------------------------------------

    def _rows_of(self, handle: Edge, value: Edge, *, is_stack: bool, is_written: bool) -> Rows:
        """The rows that a handle stands for, of the shape of a value that is one of them."""
        handle, source = origin(handle), None
        if handle[0].type in _GRADIENTS:
            source = handle[0].attribute("source")
            handle = origin(handle[0].inputs[0])
        is_there = handle[0].block in self.around
        if handle[0].output_dtypes[handle[1]] not in _HANDLES or not _is_number(value) or not is_there:
            raise NotNative(handle[0].name)
        found = self.rows.get((handle, source))
        if found is None:
            word = self.procedure.word
            dtype = value[0].output_dtypes[value[1]]
            found = Rows(handle, is_stack, is_written, dtype, _shape(value), word(), word(), source=source)
            if is_stack:
                found.used = word()
            else:
                found.flags, found.may_repeat = word(), word()
            self.rows[handle, source] = found
            self.made.rows.append(found)
        elif found.is_written != is_written or found.shape != _shape(value):
            raise NotNative(handle[0].name)
        return found

    def gradient_array(self, node: Node) -> None:
        """The handle is found by the caller; what comes of the flow is as it was."""
        if node.uses[1]:
            self.where[node, 1] = self._varying(self.at(node.inputs[1]))[1]

    def read(self, node: Node) -> None:
        rows = self._rows_of(node.inputs[0], (node, 0), is_stack=False, is_written=False)
        _, self.where[node, 0] = self._varying(self._row(rows, node.inputs[1]))

    def write(self, node: Node) -> None:
        rows = self._rows_of(node.inputs[0], origin(node.inputs[2]), is_stack=False, is_written=True)
        self.procedure.copy(self._row(rows, node.inputs[1]), self.at(node.inputs[2]), rows.row_bytes)
        self.where[node, 0] = self._varying(self.at(node.inputs[3]))[1]

    def _row(self, rows: Rows, index: Edge) -> ir.Value:
        """The address of a row that is looked at for the first time."""
        b, p = self.procedure.builder, self.procedure
        place = p.scalar(self.at(index), self.dtype(index))
        is_negative = b.icmp_signed("<", place, I64(0))
        p.leave_unless(b.not_(is_negative), REFUSED)
        p.leave_unless(b.icmp_signed("<", place, p.number_in(rows.count)), NO_ROOM if rows.is_written else REFUSED)
        flag = p.offset(p.address_in(rows.flags), place, 1)
        before = b.load(flag, typ=ir.IntType(8))
        fits = b.or_(
            b.icmp_signed("==", before, ir.IntType(8)(0)), b.icmp_signed("!=", p.number_in(rows.may_repeat), I64(0))
        )
        p.leave_unless(fits, REFUSED)
        b.store(ir.IntType(8)(1), flag)
        return p.offset(p.address_in(rows.address), place, rows.row_bytes)

    def _pushed(self, node: Node) -> Place:
        """Where what is pushed next will lie."""
        rows = self._rows_of(node.inputs[0], origin(node.inputs[1]), is_stack=True, is_written=True)

        def place() -> ir.Value:
            p, b = self.procedure, self.procedure.builder
            used = p.number_in(rows.used)
            p.leave_unless(b.icmp_signed("<", used, p.number_in(rows.count)), NO_ROOM)
            return p.offset(p.address_in(rows.address), used, rows.row_bytes)

        return place

    def push(self, node: Node) -> None:
        edge = origin(node.inputs[1])
        place = self._pushed(node)
        rows = self._rows_of(node.inputs[0], edge, is_stack=True, is_written=True)
        to, value = place(), self.at(edge)
        b = self.procedure.builder
        with b.if_then(b.icmp_unsigned("!=", to, value)):
            self.procedure.copy(to, value, rows.row_bytes)
        self.procedure.set_number(rows.used, b.add(self.procedure.number_in(rows.used), I64(1)))
        self.where[node, 0] = self.where[edge]

    def pop(self, node: Node) -> None:
        rows = self._rows_of(node.inputs[0], (node, 0), is_stack=True, is_written=False)
        p, b = self.procedure, self.procedure.builder
        left = b.sub(p.number_in(rows.used), I64(1))
        p.leave_unless(b.icmp_signed(">=", left, I64(0)), REFUSED)
        p.set_number(rows.used, left)
        _, self.where[node, 0] = self._varying(p.offset(p.address_in(rows.address), left, rows.row_bytes))

    # --- products -----------------------------------------------------------------------------------

    def product(self, node: Node) -> None:
        """A product of two matrices, some of its columns, or one with a bias added to each row."""
        a, b = node.inputs[:2]
        rows, inner, columns, left, right = self._matrices(node, a, b)
        if node.type == "_MatMulColumns":
            start, columns = node.attribute("start"), node.attribute("count")
            step = start * (inner if right.is_transposed else 1) * self.dtype(b).itemsize
            address = self.procedure.offset(right.address, I64(1), step)
            right = Matrix(address, right.stride, right.is_transposed)
        target = self.target((node, 0))
        if node.type != "_MatMulBias":
            self.procedure.product(self.dtype(a), rows, columns, inner, left, right, target)
            return
        plain = self.procedure.reserve(self.size((node, 0)))
        self.procedure.product(self.dtype(a), rows, columns, inner, left, right, plain)
        dtype, bias = self.dtype(a), node.inputs[2]
        total = input_value(0, dtype, (rows, columns)) + input_value(1, dtype, (columns,)).expand((rows, columns))
        self._run(self.writer.add([total], 2), [plain, self.at(bias), target])

    def _matrices(self, node: Node, a: Edge, b: Edge) -> tuple[int, int, int, Matrix, Matrix]:
        if self.dtype(a).kind != "f" or len(_shape(a)) != 2 or len(_shape(b)) != 2:
            raise NotNative(node.name)
        turned_a, turned_b = node.attribute("transpose_a"), node.attribute("transpose_b")
        inner, rows = _shape(a) if turned_a else reversed(_shape(a))
        columns = _shape(b)[0 if turned_b else 1]
        self.work += rows * inner * columns
        left = Matrix(self.at(a), _shape(a)[1], turned_a)
        return rows, inner, columns, left, Matrix(self.at(b), _shape(b)[1], turned_b)

    def sum_of_products(self, node: Node) -> None:
        count = len(node.inputs) // 2
        target = self.target((node, 0))
        for i in range(count):
            a, b = node.inputs[i], node.inputs[count + i]
            rows, inner, columns, left, right = self._matrices(node, a, b)
            self.procedure.product(self.dtype(a), rows, columns, inner, left, right, target, adds=i > 0)

    def batch_product(self, node: Node) -> None:
        a, b = node.inputs
        one, other = _shape(a), _shape(b)
        if self.dtype(a).kind != "f" or one[:-2] != other[:-2]:
            raise NotNative(node.name)
        turned_a, turned_b = node.attribute("adj_x"), node.attribute("adj_y")
        inner, rows = one[-2:] if turned_a else one[:-3:-1]
        columns = other[-2 if turned_b else -1]
        bytes_ = self.dtype(a).itemsize
        count = math.prod(one[:-2])
        self.work += count * rows * inner * columns
        lefts, rights, target = self.at(a), self.at(b), self.target((node, 0))
        with self.procedure.times(count) as i:
            left, right, to = (
                self.procedure.offset(address, i, n * bytes_)
                for address, n in ((lefts, rows * inner), (rights, inner * columns), (target, rows * columns))
            )
            matrices = Matrix(left, one[-1], turned_a), Matrix(right, other[-1], turned_b)
            self.procedure.product(self.dtype(a), rows, columns, inner, *matrices, to)

    # --- sums over all rounds -----------------------------------------------------------------------

    def _adds_up(self, variable: Node, following: Edge) -> bool:
        """Whether a loop variable is a sum of products, which is added to where it lies."""
        return following[0].type == _SUM_OF_MAKES and following[0].inputs[0] == (variable, 0)

    def add_product(self, node: Node) -> None:
        """One more product for a sum. Thin ones wait until there are enough rows to make one of them."""
        total, a, b = node.inputs
        rows, inner, columns, left, right = self._matrices(node, a, b)
        self.where[node, 0] = self.where[total]
        together = -(-ENOUGH_ROWS // inner)
        dtype, to = self.dtype(a), self.at(total)
        if together < 2 or not left.is_transposed or right.is_transposed:
            self.procedure.product(dtype, rows, columns, inner, left, right, to, adds=True)
            return
        p, builder = self.procedure, self.procedure.builder
        waiting = p.variable(I64)
        p._top.store(I64(0), waiting)
        kept_a, kept_b = (p.reserve(together * self.size(e)) for e in (a, b))
        left, right = Matrix(kept_a, rows, True), Matrix(kept_b, columns)
        number = builder.load(waiting, typ=I64)
        for kept, edge, address in ((kept_a, a, self.at(a)), (kept_b, b, self.at(b))):
            p.copy(p.offset(kept, number, self.size(edge)), address, self.size(edge))
        number = builder.add(number, I64(1))
        is_enough = builder.icmp_signed("==", number, I64(together))
        builder.store(builder.select(is_enough, I64(0), number), waiting)
        with builder.if_then(is_enough):
            p.product(dtype, rows, columns, together * inner, left, right, to, adds=True)
        total_at = self.where[total]

        def rest() -> None:
            number = builder.load(waiting, typ=I64)
            with builder.if_then(builder.icmp_signed(">", number, I64(0))):
                rows_left = builder.trunc(builder.mul(number, I64(inner)), ir.IntType(32))
                p.product(dtype, rows, columns, rows_left, left, right, total_at(), adds=True)
            builder.store(I64(0), waiting)

        self.at_exit.append(rest)

    def add_rows(self, node: Node) -> None:
        total, values = node.inputs
        dtype, shape = self.dtype(values), _shape(values)
        added = input_value(0, dtype, shape[1:]) + input_value(1, dtype, shape).reduce("sum", [0])
        addresses = [self.at(total), self.at(values)]
        self._run(self.writer.add([added], 2), [*addresses, self.target((node, 0))])

    def same(self, node: Node) -> None:
        """A running sum that begins, or is asked for its total, inside of the loop: it is a tensor there."""
        self.where[node, 0] = self._varying(self.at(node.inputs[0]))[1]

    # --- others -----------------------------------------------------------------------------------

    def draw(self, node: Node) -> None:
        """Random numbers, as the op's own stream has them."""
        shape = _shape((node, 0))
        if node.output_dtypes[0] is not dtypes.float32 or node.constant_input(0) is None or not math.prod(shape):
            raise NotNative(node.name)
        p, b, word = self.procedure, self.procedure.builder, self.procedure.word
        size = math.prod(shape)
        draw = Draw(node, size * RESERVED_PER_VALUE, word(), word(), word(), word())
        self.made.draws.append(draw)
        self.work += 20 * size
        number = p.number_in(draw.count)
        p.set_number(draw.count, b.add(number, I64(1)))
        start = p.number_in(draw.low)
        low = b.add(start, b.mul(number, I64(draw.blocks)))
        high = b.add(p.number_in(draw.high), b.zext(b.icmp_unsigned("<", low, start), I64))
        blocks = -(-size // 4)
        target = p.reserve(16 * blocks)
        _, self.where[node, 0] = self._varying(target)
        function = stream_loops.write(self.writer, _STREAMS[node.type])
        b.call(function, [target, p.number_in(draw.key), low, high, I64(blocks), ir.IntType(32)(1)])

    def check(self, node: Node) -> None:
        """What must hold: where it does not, the plan says so."""
        holds = self.procedure.scalar(self.at(node.inputs[0]), np.dtype(bool))
        self.procedure.leave_unless(self.procedure.builder.icmp_signed("!=", holds, I64(0)), REFUSED)

    def gather(self, node: Node) -> None:
        """Rows of a table."""
        table, indices = node.inputs[:2]
        axis = node.constant_input(2) if len(node.inputs) > 2 else 0
        if axis is None or int(axis) != 0 or (node.type == "GatherV2" and node.attribute("batch_dims")):
            raise NotNative(node.name)
        rows, *rest = _shape(table)
        size = math.prod(rest) * self.dtype(table).itemsize
        dtype, p, b = self.dtype(indices), self.procedure, self.procedure.builder
        source, places, target = self.at(table), self.at(indices), self.target((node, 0))
        with p.times(math.prod(_shape(indices))) as i:
            row = p.scalar(p.offset(places, i, dtype.itemsize), dtype)
            p.leave_unless(b.icmp_unsigned("<", row, I64(rows)), REFUSED)
            p.copy(p.offset(target, i, size), p.offset(source, row, size), size)

    def join(self, node: Node) -> None:
        """Values side by side along an axis."""
        *values, axis = node.inputs
        constant = node.constant_input(len(node.inputs) - 1)
        if constant is None:
            raise NotNative(axis[0].name)
        whole = _shape((node, 0))
        position = int(constant) % len(whole)
        outer, row = math.prod(whole[:position]), math.prod(whole[position:]) * self.dtype((node, 0)).itemsize
        sources = [self.at(v) for v in values]
        target = self.target((node, 0))
        with self.procedure.times(outer) as i:
            to = self.procedure.offset(target, i, row)
            for value, source in zip(values, sources, strict=True):
                part = math.prod(_shape(value)[position:]) * self.dtype(value).itemsize
                self.procedure.copy(to, self.procedure.offset(source, i, part), part)
                to = self.procedure.offset(to, I64(1), part)


_STREAMS = {"RandomUniform": streams.UNIFORM, "RandomStandardNormal": streams.NORMAL}
_PUSHES = ("StackPushV2", "StackPush")
_GRADIENTS = ("TensorArrayGradV3",)
_SUM_OF_MAKES, _SUM_OF_ROWS = "_RunningSumOfMatMuls", "_RunningSumOfRows"
# What makes its result where it is told to.
_MAKES = (
    "MatMul", "_MatMulBias", "_MatMulColumns", "_SumOfMatMuls", "BatchMatMul", "BatchMatMulV2",
    "ConcatV2", "Gather", "GatherV2", _SUM_OF_ROWS,
)  # fmt: skip
_SPECIAL: dict[str, Callable[[_Translator, Node], None]] = {
    LOOP: _Translator.loop,
    IF: _Translator.branch,
    "MatMul": _Translator.product,
    "_MatMulBias": _Translator.product,
    "_MatMulColumns": _Translator.product,
    "_SumOfMatMuls": _Translator.sum_of_products,
    "BatchMatMul": _Translator.batch_product,
    "BatchMatMulV2": _Translator.batch_product,
    "ConcatV2": _Translator.join,
    "Gather": _Translator.gather,
    "GatherV2": _Translator.gather,
    "Assert": _Translator.check,
    "RandomUniform": _Translator.draw,
    "RandomStandardNormal": _Translator.draw,
    "TensorArrayGradV3": _Translator.gradient_array,
    "TensorArrayReadV3": _Translator.read,
    "TensorArrayWriteV3": _Translator.write,
    "StackPushV2": _Translator.push,
    "StackPush": _Translator.push,
    "StackPopV2": _Translator.pop,
    "StackPop": _Translator.pop,
    _SUM_OF_MAKES: _Translator.add_product,
    _SUM_OF_ROWS: _Translator.add_rows,
    "_RunningSum": _Translator.same,
    "_Total": _Translator.same,
}


def origin(edge: Edge) -> Edge:
    """The edge that holds a value, through nodes that only rename it."""
    while edge[0].facts.renames and not is_ref(*edge[0].inputs[0]):
        edge = edge[0].inputs[0]
    return edge


def taken(node: Node) -> list[Edge]:
    """All that a node takes, and what it holds."""
    edges = list(node.inputs)
    for block in node.blocks:
        edges += [e for inner in block for e in taken(inner)]
        edges += block.end.inputs
    return edges


def _handles(node: Node) -> set[Edge]:
    """The arrays and stacks that a node, and what it holds, use."""
    found = {origin(e) for e in node.inputs[:1] if e[0].output_dtypes[e[1]] is dtypes.resource}
    for block in node.blocks:
        found.update(handle for inner in block for handle in _handles(inner))
    return found


def _shape(edge: Edge) -> tuple[int, ...]:
    shape = edge[0].shape(edge[1])
    if shape is None:
        raise NotNative(edge[0].name)
    return tuple(shape)


def _is_number(edge: Edge) -> bool:
    node, output = edge
    shape = node.shape(output)
    dtype = node.output_dtypes[output]
    return dtype in NUMBERS and not is_ref(node, output) and shape is not None and math.prod(shape) > 0
