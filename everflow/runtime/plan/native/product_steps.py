"""Products in the machine code of loops, by the BLAS, and sums of them over all rounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from llvmlite import ir

from everflow.native.nest_code import I64
from everflow.native.products import Matrix
from everflow.native.values import input_value
from everflow.runtime.plan.native.edges import shape_of
from everflow.runtime.plan.native.steps import NotNative, step
from everflow.runtime.plan.program import Edge, Node

if TYPE_CHECKING:
    from everflow.runtime.plan.native.loops import Translator

# Thin products wait until there are so many rows, which are then one.
ENOUGH_ROWS = 128
SUM_OF_PRODUCTS, SUM_OF_ROWS = "_RunningSumOfMatMuls", "_RunningSumOfRows"


@step("MatMul", "_MatMulBias", "_MatMulColumns", makes=True)
def product(t: Translator, node: Node) -> None:
    """A product of two matrices, some of its columns, or one with a bias added to each row."""
    a, b = node.inputs[:2]
    rows, inner, columns, left, right = _matrices(t, node, a, b)
    if node.type == "_MatMulColumns":
        start, columns = node.attribute("start"), node.attribute("count")
        entries = start * (inner if right.is_transposed else 1)
        address = t.procedure.offset(right.address, I64(entries), t.dtype(b).itemsize)
        right = Matrix(address, right.stride, right.is_transposed)
    target = t.target((node, 0))
    if node.type != "_MatMulBias":
        t.procedure.product(t.dtype(a), rows, columns, inner, left, right, target)
        return
    plain = t.procedure.reserve(t.size((node, 0)))
    t.procedure.product(t.dtype(a), rows, columns, inner, left, right, plain)
    dtype, bias = t.dtype(a), node.inputs[2]
    total = input_value(0, dtype, (rows, columns)) + input_value(1, dtype, (columns,)).expand((rows, columns))
    t.run([total], 2, [plain, t.at(bias), target])


def _matrices(t: Translator, node: Node, a: Edge, b: Edge) -> tuple[int, int, int, Matrix, Matrix]:
    if t.dtype(a).kind != "f" or len(shape_of(a)) != 2 or len(shape_of(b)) != 2:
        raise NotNative(node.name)
    turned_a, turned_b = node.attribute("transpose_a"), node.attribute("transpose_b")
    inner, rows = shape_of(a) if turned_a else reversed(shape_of(a))
    columns = shape_of(b)[0 if turned_b else 1]
    t.work += rows * inner * columns
    left = Matrix(t.at(a), shape_of(a)[1], turned_a)
    return rows, inner, columns, left, Matrix(t.at(b), shape_of(b)[1], turned_b)


@step("_SumOfMatMuls", makes=True)
def sum_of_products(t: Translator, node: Node) -> None:
    count = len(node.inputs) // 2
    target = t.target((node, 0))
    for i in range(count):
        a, b = node.inputs[i], node.inputs[count + i]
        rows, inner, columns, left, right = _matrices(t, node, a, b)
        t.procedure.product(t.dtype(a), rows, columns, inner, left, right, target, adds=i > 0)


@step("BatchMatMul", "BatchMatMulV2", makes=True)
def batch_product(t: Translator, node: Node) -> None:
    a, b = node.inputs
    one, other = shape_of(a), shape_of(b)
    if t.dtype(a).kind != "f" or one[:-2] != other[:-2]:
        raise NotNative(node.name)
    turned_a, turned_b = node.attribute("adj_x"), node.attribute("adj_y")
    inner, rows = one[-2:] if turned_a else one[:-3:-1]
    columns = other[-2 if turned_b else -1]
    bytes_ = t.dtype(a).itemsize
    count = math.prod(one[:-2])
    t.work += count * rows * inner * columns
    lefts, rights, target = t.at(a), t.at(b), t.target((node, 0))
    with t.procedure.times(count) as i:
        left, right, to = (
            t.procedure.offset(address, i, n * bytes_)
            for address, n in ((lefts, rows * inner), (rights, inner * columns), (target, rows * columns))
        )
        matrices = Matrix(left, one[-1], turned_a), Matrix(right, other[-1], turned_b)
        t.procedure.product(t.dtype(a), rows, columns, inner, *matrices, to)


# --- sums over all rounds -----------------------------------------------------------------------


@step(SUM_OF_PRODUCTS)
def add_product(t: Translator, node: Node) -> None:
    """One more product for a sum. Thin ones wait until there are enough rows to make one of them."""
    total, a, b = node.inputs
    rows, inner, columns, left, right = _matrices(t, node, a, b)
    t.where[node, 0] = t.where[total]
    together = -(-ENOUGH_ROWS // inner)
    dtype, to = t.dtype(a), t.at(total)
    if together < 2 or not left.is_transposed or right.is_transposed:
        t.procedure.product(dtype, rows, columns, inner, left, right, to, adds=True)
        return
    p, builder = t.procedure, t.procedure.builder
    waiting = p.variable(I64)
    p.at_top.store(I64(0), waiting)
    kept_a, kept_b = (p.reserve(together * t.size(e)) for e in (a, b))
    left, right = Matrix(kept_a, rows, True), Matrix(kept_b, columns)
    number = builder.load(waiting, typ=I64)
    for kept, edge, address in ((kept_a, a, t.at(a)), (kept_b, b, t.at(b))):
        p.copy(p.offset(kept, number, t.size(edge)), address, t.size(edge))
    number = builder.add(number, I64(1))
    is_enough = builder.icmp_signed("==", number, I64(together))
    builder.store(builder.select(is_enough, I64(0), number), waiting)
    with builder.if_then(is_enough):
        p.product(dtype, rows, columns, together * inner, left, right, to, adds=True)
    total_at = t.where[total]

    def rest() -> None:
        number = builder.load(waiting, typ=I64)
        with builder.if_then(builder.icmp_signed(">", number, I64(0))):
            rows_left = builder.trunc(builder.mul(number, I64(inner)), ir.IntType(32))
            p.product(dtype, rows, columns, rows_left, left, right, total_at(), adds=True)
        builder.store(I64(0), waiting)

    t.at_exit.append(rest)


@step(SUM_OF_ROWS, makes=True)
def add_rows(t: Translator, node: Node) -> None:
    total, values = node.inputs
    dtype, shape = t.dtype(values), shape_of(values)
    added = input_value(0, dtype, shape[1:]) + input_value(1, dtype, shape).reduce("sum", [0])
    addresses = [t.at(total), t.at(values)]
    t.run([added], 2, [*addresses, t.target((node, 0))])


@step("_RunningSum", "_Total")
def same(t: Translator, node: Node) -> None:
    """A running sum that begins, or is asked for its total, inside of the loop: it is a tensor there."""
    t.where[node, 0] = t.varying(t.at(node.inputs[0]))[1]
