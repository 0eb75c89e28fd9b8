"""Steps in the machine code of loops that read variables, gather, choose, check and draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from everflow.framework import dtypes
from everflow.framework.dtypes import DType
from everflow.kernels.random.distributions import RESERVED_PER_VALUE
from everflow.native import selection, stream_loops, streams
from everflow.native.nest_code import I64
from everflow.native.procedures import REFUSED
from everflow.runtime.plan.native.edges import is_number, origin, shape_of
from everflow.runtime.plan.native.steps import NotNative, step
from everflow.runtime.plan.program import Node

if TYPE_CHECKING:
    from everflow.runtime.plan.native.loops import Translator

_STREAMS = {"RandomUniform": streams.UNIFORM, "RandomStandardNormal": streams.NORMAL}


@dataclass(slots=True)
class Draw:
    """A random op, and the words by which a procedure knows its stream: key, place (two words), draws so far."""

    node: Node
    blocks: int  # that a draw uses up
    key: int
    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a loop reads: the word of its address, and what it must be."""

    word: int
    shape: tuple[int, ...]
    dtype: DType


@step("ReadVariableOp")
def read(t: Translator, node: Node) -> None:
    """A variable's value. No loop that is machine code writes one, so it is the same in all rounds."""
    handle = origin(node.inputs[0])
    if handle[0].type != "VarHandleOp" or handle[0].block not in t.around or not is_number((node, 0)):
        raise NotNative(node.name)
    found = t.made.variables.get(handle)
    if found is None:
        found = Variable(t.procedure.word(), shape_of((node, 0)), node.output_dtypes[0])
        t.made.variables[handle] = found
    elif (found.shape, found.dtype) != (shape_of((node, 0)), node.output_dtypes[0]):
        raise NotNative(node.name)
    t.where[node, 0] = t.fixed(t.procedure.address_in(found.word))


@step(*_STREAMS)
def draw(t: Translator, node: Node) -> None:
    """Random numbers, as the op's own stream has them."""
    shape = shape_of((node, 0))
    if node.output_dtypes[0] is not dtypes.float32 or node.constant_input(0) is None or not math.prod(shape):
        raise NotNative(node.name)
    if any(draw.node.name == node.name for draw in t.made.draws):
        raise NotNative(node.name)  # two that share a stream would wait for each other
    p, b, word = t.procedure, t.procedure.builder, t.procedure.word
    size = math.prod(shape)
    draw = Draw(node, size * RESERVED_PER_VALUE, word(), word(), word(), word())
    t.made.draws.append(draw)
    t.work += 20 * size
    number = p.number_in(draw.count)
    p.set_number(draw.count, b.add(number, I64(1)))
    start = p.number_in(draw.low)
    low = b.add(start, b.mul(number, I64(draw.blocks)))
    high = b.add(p.number_in(draw.high), b.zext(b.icmp_unsigned("<", low, start), I64))
    blocks = -(-size // 4)
    target = p.reserve(16 * blocks)
    _, t.where[node, 0] = t.varying(target)
    function = stream_loops.write(t.writer, _STREAMS[node.type])
    b.call(function, [target, p.number_in(draw.key), low, high, I64(blocks), ir.IntType(32)(1)])


@step("Assert")
def check(t: Translator, node: Node) -> None:
    """What must hold: where it does not, the plan says so."""
    holds = t.procedure.scalar(t.at(node.inputs[0]), np.dtype(bool))
    t.procedure.leave_unless(t.procedure.builder.icmp_signed("!=", holds, I64(0)), REFUSED)


@step("Gather", "GatherV2", makes=True)
def gather(t: Translator, node: Node) -> None:
    """Rows of a table."""
    table, indices = node.inputs[:2]
    axis = node.constant_input(2) if len(node.inputs) > 2 else 0
    if axis is None or int(axis) != 0 or (node.type == "GatherV2" and node.attribute("batch_dims")):
        raise NotNative(node.name)
    rows, *rest = shape_of(table)
    size = math.prod(rest) * t.dtype(table).itemsize
    dtype, p, b = t.dtype(indices), t.procedure, t.procedure.builder
    source, places, target = t.at(table), t.at(indices), t.target((node, 0))
    with p.times(math.prod(shape_of(indices))) as i:
        row = p.scalar(p.offset(places, i, dtype.itemsize), dtype)
        p.leave_unless(b.icmp_unsigned("<", row, I64(rows)), REFUSED)
        p.copy(p.offset(target, i, size), p.offset(source, row, size), size)


@step("TopK", "TopKV2")
def top_k(t: Translator, node: Node) -> None:
    """The largest of each row, in order."""
    numbers = node.inputs[0]
    shape, count = shape_of(numbers), shape_of((node, 0))[-1]
    if not node.attribute("sorted") or not count or t.dtype(numbers).kind not in "fiu":
        raise NotNative(node.name)
    rows, size = math.prod(shape[:-1]), shape[-1]
    t.work += 2 * rows * size
    values, places = (t.procedure.reserve(t.size((node, i))) for i in range(2))
    function = selection.top_k(t.writer, t.dtype(numbers))
    t.procedure.builder.call(function, [t.at(numbers), values, places, I64(rows), I64(size), I64(count)])
    t.where[node, 0], t.where[node, 1] = t.fixed(values), t.fixed(places)
