"""Compiled functions as Python sees them: built-in functions that take addresses and numbers.

ctypes takes a microsecond for a call with ten arguments. Here the code itself follows CPython's convention for
built-in functions (METH_FASTCALL): it gets its arguments as an array of objects, makes numbers of them and calls.
Nothing checks them but for what `Tensors` says: only written-out callers may use such a function.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir

from everflow.native import tensor_objects

POINTER, I64, I32, DOUBLE = ir.PointerType(), ir.IntType(64), ir.IntType(32), ir.DoubleType()
# Bytes for itself that a function finds on the stack; who needs more is given an address.
ON_STACK = 1 << 14
_METH_FASTCALL = 0x80
# What the code calls of CPython: (result, arguments).
_PYTHON: dict[str, tuple[ir.Type, list[ir.Type]]] = {
    "PyLong_AsUnsignedLongLongMask": (I64, [POINTER]),
    "PyFloat_AsDouble": (DOUBLE, [POINTER]),
    "PyLong_FromLongLong": (POINTER, [I64]),
    "PyFloat_FromDouble": (POINTER, [DOUBLE]),
    "PyEval_SaveThread": (POINTER, []),
    "PyEval_RestoreThread": (ir.VoidType(), [POINTER]),
}


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def form_of(name: str, keeps_lock: bool = False) -> str:
    """The name of the function that Python calls for one of the module."""
    return f"{name}_{'held' if keeps_lock else 'python'}"


@dataclass(frozen=True, slots=True)
class Tensors:
    """Arguments that come as tensors, with the shape that each must have (None: it surely has), instead of as addresses.
    `offset`: see `tensor_objects.py`.
    """

    offset: int = 0
    shapes: Mapping[int, tuple[int, ...] | None] = field(default_factory=dict)


def write(
    module: ir.Module,
    function: ir.Function,
    tensors: Tensors | None = None,
    scratch: int = 0,
    keeps_lock: bool = False,
) -> None:
    """Write the function that Python calls for one that takes pointers and numbers. Others may run meanwhile, unless it
    `keeps_lock`; it returns the number that the function does, or zero; 1 at once where a tensor is not as it must be.
    `scratch`: bytes for itself, whose address is the last argument but one.
    """
    made = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), form_of(function.name, keeps_lock))
    b = ir.IRBuilder(made.append_basic_block())
    tensors = tensors or Tensors()
    given, are_right = [], ir.Constant(ir.IntType(1), 1)
    for i, argument in enumerate(function.args):
        item = b.load(b.gep(made.args[1], [I64(i)], source_etype=POINTER), typ=POINTER)
        if i in tensors.shapes:
            number = tensor_objects.address(b, item, tensors.shapes[i], tensors.offset)
            are_right = b.and_(are_right, b.icmp_unsigned("!=", number, ir.Constant(POINTER, None)))
        else:
            number = _converted(module, b, item, argument.type)
        given.append(number)
    if 0 < scratch <= ON_STACK:
        room = given[-2] = b.alloca(ir.IntType(8), size=scratch)
        room.align = 64
    if tensors.shapes:
        with b.if_then(b.not_(are_right)):
            b.ret(b.call(_external(module, "PyLong_FromLongLong"), [I64(1)]))
    state = None if keeps_lock else b.call(_external(module, "PyEval_SaveThread"), [])
    status = b.call(function, given)
    if state is not None:
        b.call(_external(module, "PyEval_RestoreThread"), [state])
    if status.type == DOUBLE:
        b.ret(b.call(_external(module, "PyFloat_FromDouble"), [status]))
        return
    status = status if status.type == I64 else b.sext(status, I64) if status.type == I32 else I64(0)
    b.ret(b.call(_external(module, "PyLong_FromLongLong"), [status]))


def _converted(module: ir.Module, b: ir.IRBuilder, item: ir.Value, to: ir.Type) -> ir.Value:
    """An object as what the function takes."""
    if isinstance(to, ir.FloatType | ir.DoubleType):
        number = b.call(_external(module, "PyFloat_AsDouble"), [item])
        return b.fptrunc(number, to) if isinstance(to, ir.FloatType) else number
    number = b.call(_external(module, "PyLong_AsUnsignedLongLongMask"), [item])
    if isinstance(to, ir.PointerType):
        return b.inttoptr(number, POINTER)
    return b.trunc(number, I32) if to == I32 else number


def _external(module: ir.Module, name: str) -> ir.Function:
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(*_PYTHON[name]), name)
    return module.globals[name]


@functools.cache
def imports() -> dict[str, int]:
    """Addresses of what the code calls."""
    return {name: _address(getattr(ctypes.pythonapi, name)) for name in _PYTHON}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def function_at(address: int, holder: Any) -> Callable[..., int]:
    """The built-in function of code at an address; as long as it lives, `holder` does."""
    method = _Method(b"compiled", address, _METH_FASTCALL, None)
    owner = (holder, method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., int] = make(ctypes.addressof(method), owner, None)
    return made
