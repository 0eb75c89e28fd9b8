"""Loops whose rows know nothing of each other, as those of a recurrent network over a batch: each half of the rows is a
loop of its own, and both run side by side.

A value of such a loop is split (it has a row for each of the batch, which comes from the same rows of others alone),
whole (the same for both halves, as counters and weights are), or a sum over rows, of which each half gives a part.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.native.nests import sources_first
from everflow.native.values import (
    CONST,
    EXPAND,
    INPUT,
    JOIN,
    MAP,
    PERMUTE,
    REDUCE,
    RESHAPE,
    SLICE,
    VIEW,
    Value,
)
from everflow.runtime.plan.native.edges import is_number, origin, shape_of, within
from everflow.runtime.plan.native.product_steps import SUM_OF_PRODUCTS, SUM_OF_ROWS
from everflow.runtime.plan.native.regions import as_input, known_positions, lowered, work_of
from everflow.runtime.plan.native.row_steps import GRADIENT, PUSHES
from everflow.runtime.plan.native.steps import NotNative
from everflow.runtime.plan.program import VALUE, VARIABLE, Edge, Node, loop_variables

SPLIT, WHOLE, SUM = "split", "whole", "sum"
# Rows of a half: products of fewer take longer for each.
FEWEST_ROWS = 32
# Multiplications in a round: rounds with fewer are over before another thread is awake.
LEAST_WORK = 1 << 20
_PRODUCTS, _SUM = ("MatMul", "_MatMulBias", "_MatMulColumns"), "_SumOfMatMuls"


class NotSplit(NotNative):
    """The rows of a loop can't be told apart."""


@contextlib.contextmanager
def halved(loop: Node) -> Iterator[Halves | None]:
    """While this lasts, split values of a loop have half of their rows; None where its rows depend on each other."""
    halves = Halves(loop)
    try:
        yield halves if halves.are_there() else None
    finally:
        halves.restore()


class Halves:
    """The kinds of a loop's values."""

    def __init__(self, loop: Node) -> None:
        self.kinds: dict[Edge, str] = {}
        self._loop = loop
        self._whole: dict[Edge, TensorShape | None] = {}  # shapes of split values as they were
        self._rows = 0

    def are_there(self) -> bool:
        """Find the kinds of all values, and let split ones have half of their rows; whether that can be."""
        try:
            self._find()
        except NotNative:
            self.restore()
            return False
        return True

    def _find(self) -> None:
        nodes = list(within(self._loop))
        products = [n for n in nodes if n.type in (*_PRODUCTS, _SUM) and all(map(is_number, n.inputs))]
        if any(node.blocks for node in nodes) or sum(map(_multiplications, products)) < LEAST_WORK:
            raise NotSplit
        self._rows = shape_of(products[0].inputs[0])[0]
        if self._rows % 2 or self._rows < 2 * FEWEST_ROWS:
            raise NotSplit
        # What is multiplied from the right is whole, also where it has as many rows.
        inside = set(nodes)
        for node in nodes:
            if node.type in (*_PRODUCTS, _SUM, "BiasAdd"):
                others = node.inputs[_lefts(node) :]
                self.kinds.update((origin(e), WHOLE) for e in others if origin(e)[0] not in inside)
        variables = loop_variables(self._loop)
        for variable in variables:
            self._note(
                (variable, 0), SUM if variable.output_dtypes[0] is dtypes.variant else self._by_shape((variable, 0))
            )
        for block in self._loop.blocks:
            for node in block:
                self._visit(node)
        for variable, following in zip(variables, self._loop.blocks[1].end.inputs, strict=True):
            if self.kind(following) != self.kinds[variable, 0]:
                raise NotSplit
        if self.kind(self._loop.blocks[0].end.inputs[0]) != WHOLE:
            raise NotSplit

    def restore(self) -> None:
        for (node, output), shape in self._whole.items():
            node.output_shapes[output] = shape
        self._whole.clear()

    def kind(self, edge: Edge) -> str:
        edge = origin(edge)
        if edge not in self.kinds:  # from outside
            self._note(edge, self._by_shape(edge))
        return self.kinds[edge]

    def row_shape(self, edge: Edge) -> tuple[int, ...]:
        """The shape of a value with all of its rows."""
        shape = shape_of(edge)
        return (self._rows, *shape[1:]) if edge in self._whole else shape

    def _by_shape(self, edge: Edge) -> str:
        return SPLIT if is_number(edge) and shape_of(edge)[:1] == (self._rows,) else WHOLE

    def _note(self, edge: Edge, kind: str) -> None:
        self.kinds[edge] = kind
        if kind == SPLIT:
            node, output = edge
            shape = shape_of(edge)
            self._whole[edge] = node.output_shapes[output]
            node.output_shapes[output] = TensorShape([shape[0] // 2, *shape[1:]])

    # --- nodes ------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        if node.type in (VARIABLE, VALUE, "Const"):
            return
        kinds = [self.kind(e) for e in node.inputs]
        if node.type in (*_PRODUCTS, _SUM):
            count = _lefts(node)
            kind = self._product(kinds[:count], kinds[count:], node.attribute("transpose_a"))
        elif node.type == SUM_OF_PRODUCTS:
            kind = self._sum(kinds, node.attribute("transpose_a") and not node.attribute("transpose_b"))
        elif node.type == SUM_OF_ROWS:
            kind = self._sum(kinds, True)
        elif node.type in ("TensorArrayReadV3", "StackPopV2", "StackPop"):
            kind = self._by_shape((node, 0))
        elif node.type in PUSHES:
            kind = kinds[1]
        elif node.facts.renames:
            kind = kinds[0]
        elif node.type in ("TensorArrayWriteV3", GRADIENT, "ReadVariableOp") or (
            node.type == "Assert" and kinds[0] == WHOLE
        ):
            kind = WHOLE
        elif node.type in ("Gather", "GatherV2"):
            kind = self._product(kinds[1:2], [kinds[0], *kinds[2:]], False)
        else:
            self._expression(node, kinds)
            return
        for output in range(len(node.output_dtypes)):
            self._note((node, output), kind)

    def _product(self, left: list[str], others: list[str], is_transposed: bool) -> str:
        if set(left + others) == {WHOLE}:
            return WHOLE
        if is_transposed or set(left) != {SPLIT} or set(others) != {WHOLE}:
            raise NotSplit
        return SPLIT

    def _sum(self, kinds: list[str], is_over_rows: bool) -> str:
        if not is_over_rows or kinds[0] != SUM or set(kinds[1:]) != {SPLIT}:
            raise NotSplit
        return SUM

    def _expression(self, node: Node, kinds: list[str]) -> None:
        """A node that is an expression: what it makes of split values must be so by rows."""
        made = [(node, i) for i in range(len(node.output_dtypes))]
        if set(kinds) <= {WHOLE}:
            self.kinds.update(dict.fromkeys(made, WHOLE))
            return
        if SUM in kinds or any(self._by_shape(edge) != SPLIT for edge in made):
            raise NotSplit
        for edge in made:
            self._note(edge, SPLIT)
        if not work_of(node):  # with half of the rows shapes don't fit, or it is no expression
            raise NotSplit
        known = known_positions(node)
        inputs = [None if i in known else as_input(e, i) for i, e in enumerate(node.inputs)]
        split = {i for i, kind in enumerate(kinds) if kind == SPLIT}
        if not split.isdisjoint(known) or not all(
            is_by_rows(v, split) or is_shared(v, split) for v in lowered(node, inputs)
        ):
            raise NotSplit


def _lefts(node: Node) -> int:
    """How many of a product's inputs are matrices on the left."""
    return len(node.inputs) // 2 if node.type == _SUM else 1


def _multiplications(node: Node) -> int:
    columns = shape_of((node, 0))[1]
    return sum(math.prod(shape_of(e)) * columns for e in node.inputs[: _lefts(node)])


# --- expressions ----------------------------------------------------------------------------------


def is_by_rows(value: Value, split: set[int]) -> bool:
    """Whether each row of a value comes from the same rows of split inputs, and from others that all rows share."""
    if value.kind == INPUT:
        return value.detail in split
    if value.kind == MAP:
        return all(is_by_rows(s, split) or is_shared(s, split) for s in value.sources)
    if value.kind == JOIN:
        return value.detail != 0 and all(is_by_rows(s, split) or is_shared(s, split) for s in value.sources)
    if value.kind == REDUCE:
        return 0 not in value.detail[1] and is_by_rows(value.sources[0], split)
    if value.kind != VIEW:
        return False
    source, how = value.sources[0], value.detail
    if not source.shape or source.shape[0] != value.shape[0]:
        return False
    keeps_rows = (
        (how[0] == EXPAND and len(source.shape) == len(value.shape))
        or how[0] == RESHAPE
        or (how[0] == PERMUTE and how[1][0] == 0)
        or (how[0] == SLICE and how[1][0] == 0 and how[2][0] == 1)
    )
    return keeps_rows and is_by_rows(source, split)


def is_shared(value: Value, split: set[int]) -> bool:
    """Whether all rows of a value are the same, whatever split inputs hold."""
    is_split = any(v.kind == INPUT and v.detail in split for v in sources_first([value]))
    return not is_split and _is_spread(value)


def _is_spread(value: Value) -> bool:
    if value.kind == CONST or value.shape[:1] == (1,):
        return True
    if value.kind in (MAP, JOIN):
        return (value.kind == MAP or value.detail != 0) and all(map(_is_spread, value.sources))
    if value.kind == VIEW and value.detail[0] == EXPAND:
        source = value.sources[0]
        return len(source.shape) < len(value.shape) or _is_spread(source)
    return False
