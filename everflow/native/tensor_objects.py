"""Tensors as Python hands them over: machine code asks ATen itself for an object's sizes and address, through the stable
functions that it has for compiled models, in a tenth of the time that Python takes for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

POINTER, I64, I32, I8, I1 = ir.PointerType(), ir.IntType(64), ir.IntType(32), ir.IntType(8), ir.IntType(1)
# Functions of ATen: each takes a tensor, and where the answer goes.
ATEN = ("aoti_torch_get_dim", "aoti_torch_get_sizes", "aoti_torch_is_contiguous", "aoti_torch_get_data_ptr")
# The type whose objects are tensors, and nothing else.
TYPE = "everflow_tensor_type"
_HEAD = 8  # bytes of an object before its type


def address(b: ir.IRBuilder, item: ir.Value, shape: Sequence[int] | None, offset: int) -> ir.Value:
    """Where the numbers of a tensor lie; zero where it is no tensor, or not one of this shape, row by row. Without a
    shape it is taken as it is. `offset`: bytes of an object before its tensor.
    """
    if shape is None:
        return _asked(b, ATEN[3], b.gep(item, [I64(offset)], source_etype=I8), POINTER)
    return b.call(_looker(b.module, offset), [item, I64(len(shape)), _sizes(b.module, tuple(shape))])


def _asked(b: ir.IRBuilder, function: str, tensor: ir.Value, type_: ir.Type) -> ir.Value:
    found = b.module.globals.get(function)
    if found is None:
        found = ir.Function(b.module, ir.FunctionType(I32, [POINTER, POINTER]), function)
    with b.goto_entry_block():
        answer = b.alloca(type_)
    b.call(found, [tensor, answer])
    return b.load(answer, typ=type_)


def _sizes(module: ir.Module, shape: tuple[int, ...]) -> ir.Value:
    name = "sizes_" + "_".join(map(str, shape))
    if name not in module.globals:
        made = ir.GlobalVariable(module, ir.ArrayType(I64, len(shape)), name)
        made.initializer, made.global_constant = ir.Constant(made.value_type, list(shape)), True
        made.linkage = "internal"
    return module.globals[name]


def _looker(module: ir.Module, offset: int) -> ir.Function:
    """A function of an object, a rank and sizes: the address, or zero."""
    if "address_of_tensor" in module.globals:
        return module.globals["address_of_tensor"]
    made = ir.Function(module, ir.FunctionType(POINTER, [POINTER, I64, POINTER]), "address_of_tensor")
    made.linkage = "internal"
    item, rank, sizes = made.args
    b = ir.IRBuilder(made.append_basic_block())

    def leave_unless(holds: ir.Value) -> None:
        with b.if_then(b.not_(holds)):
            b.ret(ir.Constant(POINTER, None))

    type_ = ir.GlobalVariable(module, I8, TYPE)
    leave_unless(b.icmp_unsigned("==", b.load(b.gep(item, [I64(_HEAD)], source_etype=I8), typ=POINTER), type_))
    tensor = b.gep(item, [I64(offset)], source_etype=I8)
    leave_unless(b.icmp_signed("==", _asked(b, ATEN[0], tensor, I64), rank))
    leave_unless(b.icmp_unsigned("!=", _asked(b, ATEN[2], tensor, I8), I8(0)))
    found = _asked(b, ATEN[1], tensor, POINTER)
    head, body, after = (b.append_basic_block() for _ in range(3))
    before = b.block
    b.branch(head)
    b.position_at_end(head)
    axis = b.phi(I64)
    axis.add_incoming(I64(0), before)
    b.cbranch(b.icmp_signed("<", axis, rank), body, after)
    b.position_at_end(body)
    one, other = (b.load(b.gep(p, [axis], source_etype=I64), typ=I64) for p in (found, sizes))
    leave_unless(b.icmp_signed("==", one, other))
    axis.add_incoming(b.add(axis, I64(1)), b.block)
    b.branch(head)
    b.position_at_end(after)
    b.ret(_asked(b, ATEN[3], tensor, POINTER))
    return made
