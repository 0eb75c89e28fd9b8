"""Procedures: steps, loops and branches over one block of words."""

from array import array

import numpy as np
import pytest
from llvmlite import ir

from everflow.native import procedures, toolchain
from everflow.native.codegen import Writer
from everflow.native.nest_code import I64
from everflow.native.procedures import DONE, REFUSED, STOPPED, Matrix, Procedure
from everflow.native.values import input_value

asked = []


def run(write, words: dict[int, int]) -> tuple[int, array]:
    """Write, compile and run a procedure; how it ended, and its words."""
    import ctypes

    writer = Writer()
    procedure = Procedure(writer, "tried")
    write(procedure, writer)
    procedure.end()
    watch = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: asked.append(1) or len(asked) > 3)
    callbacks = {procedures.WATCH: ctypes.cast(watch, ctypes.c_void_p).value}
    loaded = toolchain.Loaded(toolchain.object_code(writer.text()), ["tried"], callbacks)
    block = array("q", [0] * procedure.words)
    own = np.zeros(procedure.arena + procedure.scratch + 64, np.uint8)
    block[procedures.ARENA], block[procedures.THREADS] = own.ctypes.data, 1
    block[procedures.SCRATCH] = own.ctypes.data + procedure.arena
    block[procedures.PATIENCE] = block[procedures.TICKS] = 100
    for word, value in words.items():
        block[word] = value
    ended = loaded.function("tried")(block.buffer_info()[0])
    return ended, block


def test_a_region_and_a_copy():
    x, y = np.arange(5, dtype="f4"), np.zeros(5, "f4")

    def write(p, writer):
        given, wanted = p.word(), p.word()
        middle = p.reserve(20)
        value = input_value(0, "f4", [5])
        p.run(writer.add([value * 2 + 1], 1, for_python=False), [p.address_in(given), middle])
        p.copy(p.address_in(wanted), middle, 20)

    ended, _ = run(write, {procedures.FIRST_FREE: x.ctypes.data, procedures.FIRST_FREE + 1: y.ctypes.data})
    assert ended == DONE
    np.testing.assert_array_equal(y, x * 2 + 1)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(dtype, turned):
    random = np.random.RandomState(0)
    a, b, c = random.randn(3, 4).astype(dtype), random.randn(4, 5).astype(dtype), np.ones([3, 5], dtype)
    expected = a @ b + 1
    a, b = (np.ascontiguousarray(m.T) if t else m for m, t in zip((a, b), turned, strict=True))

    def write(p, writer):
        left, right, to = (p.address_in(p.word()) for _ in range(3))
        matrices = Matrix(left, a.shape[1], turned[0]), Matrix(right, b.shape[1], turned[1])
        p.product(np.dtype(dtype), 3, 5, 4, *matrices, to, adds=True)

    addresses = {procedures.FIRST_FREE + i: m.ctypes.data for i, m in enumerate((a, b, c))}
    assert run(write, addresses)[0] == DONE
    np.testing.assert_allclose(c, expected, 1e-5)


def counting(limit: int):
    """A loop that adds one to a word until it is at the limit."""

    def write(p, writer):
        word, b = p.word(), p.builder
        with p.endless() as after:
            p.leave_loop_unless(b.icmp_signed("<", p.number_in(word), I64(limit)), after)
            p.set_number(word, b.add(p.number_in(word), I64(1)))

    return write


def test_a_loop_asks_now_and_then_and_ends():
    asked.clear()
    ended, block = run(counting(250), {})
    assert (ended, block[procedures.FIRST_FREE], len(asked)) == (DONE, 250, 2)


def test_a_loop_that_is_told_to_stop():
    asked.clear()
    ended, block = run(counting(1 << 40), {})
    assert (ended, len(asked)) == (STOPPED, 4) and block[procedures.FIRST_FREE] == 399


def test_a_procedure_that_refuses():
    def write(p, writer):
        word = p.word()
        p.leave_unless(p.builder.icmp_signed("==", p.number_in(word), I64(7)), REFUSED)
        p.set_number(word, I64(8))

    word = procedures.FIRST_FREE
    assert run(write, {word: 6})[0] == REFUSED
    ended, block = run(write, {word: 7})
    assert (ended, block[word]) == (DONE, 8)


def test_scalars_keep_their_sign():
    numbers = np.array([-3], "i4"), np.array([200], "u1"), np.array([True])

    def write(p, writer):
        for number in numbers:
            given, found = p.word(), p.word()
            p.set_number(found, p.scalar(p.address_in(given), number.dtype))

    first = procedures.FIRST_FREE
    _, block = run(write, {first + 2 * i: n.ctypes.data for i, n in enumerate(numbers)})
    assert [block[first + 2 * i + 1] for i in range(3)] == [-3, 200, 1]


def test_the_same_function_serves_all_who_name_it():
    def write(p, writer):
        for _ in range(2):
            p.copy(p.reserve(8), p.reserve(8), 8)
        assert isinstance(writer.module.globals["llvm.memcpy.p0.p0.i64"], ir.Function)

    assert run(write, {})[0] == DONE
