"""What machine code takes for a tensor, and what it refuses."""

import ctypes

import pytest
import torch
from llvmlite import ir

from everflow.native import python_calls, toolchain
from everflow.native.tensor_objects import TYPE
from everflow.runtime.plan.native.machine_code import _offset_of_tensors

POINTER, I32, I64 = ir.PointerType(), ir.IntType(32), ir.IntType(64)


@pytest.fixture(scope="module")
def function():
    """A function of a tensor of shape [2, 3], one that is taken as it is, and a number: writes 7 into both."""
    module = ir.Module()
    made = ir.Function(module, ir.FunctionType(I32, [POINTER, POINTER, POINTER, I32]), "both")
    b = ir.IRBuilder(made.append_basic_block())
    for pointer in made.args[:3]:
        b.store(ir.Constant(ir.FloatType(), 7.0), pointer)
    b.ret(I32(0))
    python_calls.write(module, made, python_calls.Tensors(_offset_of_tensors(), {0: (2, 3), 1: None}), scratch=64)
    code = toolchain.object_code(str(module))
    return toolchain.Loaded(code, ["both"], {TYPE: id(torch.Tensor)}).function("both")


def test_a_tensor_of_the_shape_is_found(function):
    x, y = torch.zeros(2, 3), torch.zeros(5)
    assert function(x, y, 0, 1) == 0
    assert x.flatten().tolist() == [7, 0, 0, 0, 0, 0] and y.tolist() == [7, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "other",
    [
        None,
        3,
        object(),
        torch.zeros(3, 2),
        torch.zeros(2, 3, 1),
        torch.zeros(6),
        torch.zeros(()),
        torch.zeros(3, 2).t(),
    ],
    ids=["nothing", "a number", "an object", "turned", "rank 3", "flat", "a scalar", "another order"],
)
def test_all_else_is_refused(function, other):
    y = torch.zeros(5)
    assert function(other, y, 0, 1) == 1
    assert not y.any()


def test_views_are_found_where_they_begin(function):
    whole = torch.zeros(4, 3)
    assert function(whole[1:3], torch.zeros(1), 0, 1) == 0
    assert whole[1, 0] == 7 and whole.sum() == 7


def test_nobody_keeps_or_loses_an_object(function):
    x = torch.zeros(2, 3)
    before = ctypes.c_ssize_t.from_address(id(x)).value
    for _ in range(10):
        function(x, x, 0, 1)
    assert ctypes.c_ssize_t.from_address(id(x)).value == before
