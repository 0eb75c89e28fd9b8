"""Compiled functions as built-in functions of Python."""

import ctypes
import gc
import weakref

from llvmlite import ir

from everflow.native import python_calls, toolchain
from everflow.native.python_calls import I32, I64, POINTER


def loaded() -> toolchain.Loaded:
    """`status(pointer, number, flag)`: adds the number to what the pointer shows, and returns the flag."""
    module = ir.Module("test")
    function = ir.Function(module, ir.FunctionType(I32, [POINTER, I64, I32]), "status")
    b = ir.IRBuilder(function.append_basic_block())
    pointer, number, flag = function.args
    b.store(b.add(b.load(pointer, typ=I64), number), pointer)
    b.ret(flag)
    python_calls.write(module, function)
    return toolchain.Loaded(toolchain.object_code(str(module)), ["status"])


def test_addresses_and_integers_come_through_and_a_status_goes_back():
    cell = ctypes.c_uint64(5)
    function = loaded().function("status")
    assert function(ctypes.addressof(cell), (1 << 64) - 3, 3) == 3
    assert function(ctypes.addressof(cell), 40, 0) == 0
    assert cell.value == 42


def test_a_function_keeps_its_code_and_nothing_keeps_both():
    file = loaded()
    function = file.function("status")
    alive = weakref.ref(file)
    del file
    gc.collect()
    assert alive() is not None
    del function
    gc.collect()
    assert alive() is None
