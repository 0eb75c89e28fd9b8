"""Threads that help with regions: whoever comes takes the next piece.

On a machine that others use, too, a thread may wake up milliseconds late, or lose its core in the middle. So nobody is
counted on. A region that is to be shared is put up as the team's job and begun at once; helpers that are awake join
in, and take pieces of the work by tickets, from counters in memory. Who finds no piece left waits only for those that
were begun. A region that finds the team busy with another one is done alone.

The job, how many helpers are inside, and the bell that wakes them lie in one block of memory per process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator

from llvmlite import ir

POINTER, I64, I32, VOID = ir.PointerType(), ir.IntType(64), ir.IntType(32), ir.VoidType()
# The function that a thread of a team runs: it gets what the region has put together.
PART = ir.FunctionType(VOID, [POINTER])
# The block of memory, as code knows it, and what lies in it where: each in a cache line of its own.
STATE = "everflow_team"
_JOB, _INSIDE, _BELL, _ASLEEP, _SIZE = 0, 64, 128, 192, 256
_state = (ctypes.c_char * (_SIZE + 64))()
# Looks at a counter before a thread lets others have its core (some microseconds), and before a helper falls asleep.
_LOOKS, _IDLE = 4_000, 20_000
# Linux's system call for waiting at an address, on each machine, and what it may do.
_FUTEX = {"x86_64": 202, "aarch64": 98}
_WAIT, _WAKE = 128, 129


def is_possible() -> bool:
    """Whether threads can wait for a bell here."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


def address() -> int:
    """Of the block of memory."""
    return -(-ctypes.addressof(_state) // 64) * 64


# --- in compiled code -------------------------------------------------------------------------------


def share(b: ir.IRBuilder, part: ir.Value, space: ir.Value, threads: ir.Value) -> None:
    """Have this thread, and as many others as come, run `part(space)`; afterwards all have left it."""
    b.call(_function(b.module, "team_share", [POINTER, POINTER, I32], _write_share), [part, space, threads])


def await_count(b: ir.IRBuilder, counter: ir.Value, count: ir.Value) -> None:
    """Wait until a counter has come to a number."""
    b.call(_function(b.module, "team_await", [POINTER, I32], _write_await), [counter, count])


@contextlib.contextmanager
def pieces(b: ir.IRBuilder, counter: ir.Value, count: int) -> Iterator[ir.Value]:
    """A loop over those of so many pieces that this thread gets, each by a ticket; what is written inside is for one."""
    head, body, after = (b.append_basic_block(name) for name in ("ticket", "piece", "no_more"))
    b.branch(head)
    b.position_at_end(head)
    ticket = b.atomic_rmw("add", counter, I32(1), "acq_rel")
    b.cbranch(b.icmp_signed("<", ticket, I32(count)), body, after)
    b.position_at_end(body)
    yield b.sext(ticket, I64)
    b.branch(head if count > 1 else after)
    b.position_at_end(after)


def range_of(b: ir.IRBuilder, piece: ir.Value, extent: int, count: int) -> list[ir.Value]:
    """Where one of so many pieces of a range begins, and where it ends."""
    return [b.sdiv(b.mul(n, I64(extent)), I64(count)) for n in (piece, b.add(piece, I64(1)))]


def _function(
    module: ir.Module, name: str, arguments: list[ir.Type], write: Callable[[ir.IRBuilder, ir.Function], None]
) -> ir.Function:
    if name not in module.globals:
        made = ir.Function(module, ir.FunctionType(VOID, arguments), name)
        made.linkage = "internal"
        made.attributes.add("noinline")
        write(ir.IRBuilder(made.append_basic_block()), made)
    return module.globals[name]


def _at(b: ir.IRBuilder, place: int) -> ir.Value:
    if STATE not in b.module.globals:
        ir.GlobalVariable(b.module, ir.IntType(8), STATE)
    return b.gep(b.module.globals[STATE], [I64(place)], source_etype=ir.IntType(8))


def _read(b: ir.IRBuilder, pointer: ir.Value, kind: ir.Type = I32) -> ir.Value:
    return b.load_atomic(pointer, "seq_cst", 8 if kind == POINTER else 4, typ=kind)


def _add(b: ir.IRBuilder, place: int, number: int) -> ir.Value:
    """Add to a word of the block; what it was before."""
    return b.atomic_rmw("add", _at(b, place), I32(number), "seq_cst")


def _write_share(b: ir.IRBuilder, made: ir.Function) -> None:
    part, space, threads = made.args
    several, lead, alone = (made.append_basic_block(name) for name in ("several", "lead", "alone"))
    job = b.alloca(POINTER, size=3)
    b.cbranch(b.icmp_signed(">", threads, I32(1)), several, alone)
    b.position_at_end(several)
    others = b.inttoptr(b.sext(b.sub(threads, I32(1)), I64), POINTER)
    for place, word in enumerate((part, space, others)):
        b.store(word, b.gep(job, [I64(place)], source_etype=POINTER))
    is_put_up = b.extract_value(b.cmpxchg(_at(b, _JOB), POINTER(None), job, "seq_cst"), 1)
    b.cbranch(is_put_up, lead, alone)
    b.position_at_end(lead)
    _add(b, _BELL, 1)
    with b.if_then(b.icmp_signed(">", _read(b, _at(b, _ASLEEP)), I32(0))):
        _call_system(b, _WAKE, b.sub(threads, I32(1)))
    _call(b, part, space)
    b.atomic_rmw("xchg", _at(b, _JOB), POINTER(None), "seq_cst")
    await_count(b, _at(b, _INSIDE), I32(0))
    b.ret_void()
    b.position_at_end(alone)
    _call(b, part, space)
    b.ret_void()


def _write_await(b: ir.IRBuilder, made: ir.Function) -> None:
    counter, count = made.args
    entry, look, wait, over = (b.block, *(made.append_basic_block(name) for name in ("look", "wait", "over")))
    b.branch(look)
    b.position_at_end(look)
    turn = b.phi(I32)
    turn.add_incoming(I32(0), entry)
    b.cbranch(b.icmp_signed("==", _read(b, counter), count), over, wait)
    b.position_at_end(wait)
    is_long = b.icmp_signed(">=", turn, I32(_LOOKS))
    with b.if_then(is_long):
        b.call(_outside(b.module, "sched_yield", ir.FunctionType(I32, [])), [])
    turn.add_incoming(b.select(is_long, turn, b.add(turn, I32(1))), b.block)
    b.branch(look)
    b.position_at_end(over)
    b.ret_void()


def _write_help(b: ir.IRBuilder, made: ir.Function) -> None:
    """What a helper does, for ever: look for a job, join in where there is one, wait for the bell."""
    top, join, leave, idle, sleep = (made.append_basic_block(n) for n in ("top", "join", "leave", "idle", "sleep"))
    b.branch(top)
    b.position_at_end(top)
    heard = _read(b, _at(b, _BELL))
    before = _add(b, _INSIDE, 1)  # so that who put the job up waits, if it is still there
    job = _read(b, _at(b, _JOB), POINTER)
    b.cbranch(b.icmp_unsigned("!=", job, POINTER(None)), join, leave)
    b.position_at_end(join)
    part, space, others = (b.load(b.gep(job, [I64(i)], source_etype=POINTER), typ=POINTER) for i in range(3))
    with b.if_then(b.icmp_signed("<", b.sext(before, I64), b.ptrtoint(others, I64))):
        _call(b, part, space)
    b.branch(leave)
    b.position_at_end(leave)
    _add(b, _INSIDE, -1)
    b.branch(idle)
    b.position_at_end(idle)
    turn = b.phi(I32)
    turn.add_incoming(I32(0), leave)
    is_rung = b.icmp_signed("!=", _read(b, _at(b, _BELL)), heard)
    rest = b.append_basic_block("rest")
    b.cbranch(is_rung, top, rest)
    b.position_at_end(rest)
    turn.add_incoming(b.add(turn, I32(1)), rest)
    b.cbranch(b.icmp_signed("<", turn, I32(_IDLE)), idle, sleep)
    b.position_at_end(sleep)
    _add(b, _ASLEEP, 1)
    _call_system(b, _WAIT, heard)
    _add(b, _ASLEEP, -1)
    b.branch(top)


def _call(b: ir.IRBuilder, part: ir.Value, space: ir.Value) -> None:
    """Call a part that is only known by its address."""
    b.call(_Address(part), [space])


class _Address:
    """A function as llvmlite wants to have one that is called."""

    function_type = PART

    def __init__(self, pointer: ir.Value) -> None:
        self.type, self.get_reference = pointer.type, pointer.get_reference


def _call_system(b: ir.IRBuilder, what: int, number: ir.Value) -> None:
    """Wait for the bell as long as it is at a number, or wake so many who do."""
    kind = ir.FunctionType(I64, [I64, POINTER, I64, I64, POINTER])
    call = _FUTEX.get(platform.machine(), 0)
    given = [I64(call), _at(b, _BELL), I64(what), b.sext(number, I64), POINTER(None)]
    b.call(_outside(b.module, "syscall", kind), given)


def _outside(module: ir.Module, name: str, kind: ir.FunctionType) -> ir.Function:
    return module.globals.get(name) or ir.Function(module, kind, name)


def helping() -> ir.Module:
    """The module of what helpers do: `help()`."""
    module = ir.Module("team")
    _function(module, "help", [], _write_help).linkage = "external"
    return module


# --- the threads ------------------------------------------------------------------------------------


class _Helpers:
    """The threads; they are started once, and end with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0

    def gather(self, count: int, work: Callable[[], object]) -> None:
        """Have so many helpers, at least; each of them does its work, which never ends."""
        with self._lock:
            while self.count < count:
                self.count += 1
                threading.Thread(target=work, name=f"everflow-helper-{self.count}", daemon=True).start()

    def begin_anew(self) -> None:
        """In a child that was forked: there are none, and whoever was inside is not."""
        ctypes.memset(_state, 0, len(_state))
        self.__init__()  # type: ignore[misc]  # the lock may be held by a thread that is not here


HELPERS = _Helpers()
os.register_at_fork(after_in_child=HELPERS.begin_anew)
