"""TensorArrays and stacks in the machine code of loops: rows of one tensor, of which the caller tells the address."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llvmlite import ir

from everflow.framework import dtypes
from everflow.framework.dtypes import DType
from everflow.native.nest_code import I64
from everflow.native.procedures import NO_ROOM, REFUSED
from everflow.runtime.plan.native.edges import is_number, origin
from everflow.runtime.plan.native.regions import NUMBERS
from everflow.runtime.plan.native.steps import NotNative, step
from everflow.runtime.plan.program import Edge, Node

if TYPE_CHECKING:
    from everflow.runtime.plan.native.loops import Place, Translator

PUSHES = ("StackPushV2", "StackPush")
GRADIENT = "TensorArrayGradV3"
_HANDLES = (dtypes.resource, dtypes.variant)


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
    may_grow: int = 0  # whether there could be room for more rows than there is
    may_repeat: int = 0  # whether a row may be read again
    source: str | None = None  # the gradient array of this name is meant

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape) * NUMBERS[self.dtype].itemsize


def rows_of(t: Translator, handle: Edge, value: Edge, *, is_stack: bool, is_written: bool) -> Rows:
    """The rows that a handle stands for, of the shape of a value that is one of them."""
    handle, source = origin(handle), None
    if handle[0].type == GRADIENT:
        source = handle[0].attribute("source")
        handle = origin(handle[0].inputs[0])
    is_there = handle[0].block in t.around
    if handle[0].output_dtypes[handle[1]] not in _HANDLES or not is_number(value) or not is_there:
        raise NotNative(handle[0].name)
    found = t.rows.get((handle, source))
    if found is None:
        word = t.procedure.word
        dtype = value[0].output_dtypes[value[1]]
        found = Rows(
            handle, is_stack, is_written, dtype, t.row_shape(value), word(), word(), may_grow=word(), source=source
        )
        if is_stack:
            found.used = word()
        else:
            found.flags, found.may_repeat = word(), word()
        t.rows[handle, source] = found
        t.made.rows.append(found)
        t.note_offset(value, found.address)
    elif found.is_written != is_written or found.shape != t.row_shape(value):
        raise NotNative(handle[0].name)
    return found


@step(GRADIENT)
def gradient_array(t: Translator, node: Node) -> None:
    """The handle is found by the caller; what comes of the flow is as it was."""
    if node.uses[1]:
        t.where[node, 1] = t.varying(t.at(node.inputs[1]))[1]


@step("TensorArrayReadV3")
def read(t: Translator, node: Node) -> None:
    rows = rows_of(t, node.inputs[0], (node, 0), is_stack=False, is_written=False)
    _, t.where[node, 0] = t.varying(_row(t, rows, node.inputs[1]))


@step("TensorArrayWriteV3")
def write(t: Translator, node: Node) -> None:
    rows = rows_of(t, node.inputs[0], origin(node.inputs[2]), is_stack=False, is_written=True)
    t.procedure.copy(_row(t, rows, node.inputs[1]), t.at(node.inputs[2]), t.size(node.inputs[2]))
    t.where[node, 0] = t.varying(t.at(node.inputs[3]))[1]


def _row(t: Translator, rows: Rows, index: Edge) -> ir.Value:
    """The address of a row that is looked at for the first time."""
    b, p = t.procedure.builder, t.procedure
    place = p.scalar(t.at(index), t.dtype(index))
    is_negative = b.icmp_signed("<", place, I64(0))
    p.leave_unless(b.not_(is_negative), REFUSED)
    _leave_unless_there(t, rows, place)
    flag = p.offset(p.address_in(rows.flags), place, 1)
    before = b.load(flag, typ=ir.IntType(8))
    fits = b.or_(
        b.icmp_signed("==", before, ir.IntType(8)(0)), b.icmp_signed("!=", p.number_in(rows.may_repeat), I64(0))
    )
    p.leave_unless(fits, REFUSED)
    b.store(ir.IntType(8)(1), flag)
    return p.offset(p.address_in(rows.address), place, rows.row_bytes)


def _leave_unless_there(t: Translator, rows: Rows, place: ir.Value) -> None:
    """A row that is not there: there may be room for it another time, or there is none ever."""
    p, b = t.procedure, t.procedure.builder
    is_there = b.icmp_signed("<", place, p.number_in(rows.count))
    p.leave_unless(b.or_(is_there, b.icmp_signed("!=", p.number_in(rows.may_grow), I64(0))), REFUSED)
    p.leave_unless(is_there, NO_ROOM)


def pushed(t: Translator, node: Node) -> Place:
    """Where what is pushed next will lie."""
    rows = rows_of(t, node.inputs[0], origin(node.inputs[1]), is_stack=True, is_written=True)

    def place() -> ir.Value:
        used = t.procedure.number_in(rows.used)
        _leave_unless_there(t, rows, used)
        return t.procedure.offset(t.procedure.address_in(rows.address), used, rows.row_bytes)

    return place


@step(*PUSHES)
def push(t: Translator, node: Node) -> None:
    edge = origin(node.inputs[1])
    place = pushed(t, node)
    rows = rows_of(t, node.inputs[0], edge, is_stack=True, is_written=True)
    to, value = place(), t.at(edge)
    b = t.procedure.builder
    with b.if_then(b.icmp_unsigned("!=", to, value)):
        t.procedure.copy(to, value, t.size(edge))
    t.procedure.set_number(rows.used, b.add(t.procedure.number_in(rows.used), I64(1)))
    t.where[node, 0] = t.where[edge]


@step("StackPopV2", "StackPop")
def pop(t: Translator, node: Node) -> None:
    rows = rows_of(t, node.inputs[0], (node, 0), is_stack=True, is_written=False)
    p, b = t.procedure, t.procedure.builder
    left = b.sub(p.number_in(rows.used), I64(1))
    p.leave_unless(b.icmp_signed(">=", left, I64(0)), REFUSED)
    p.set_number(rows.used, left)
    _, t.where[node, 0] = t.varying(p.offset(p.address_in(rows.address), left, rows.row_bytes))
