"""How a plan calls a loop that is machine code: tensors, TensorArrays and stacks become addresses, and what the loop
came to becomes values of the plan again.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from array import array
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.kernels import tensors
from everflow.kernels.math.running_sums import RunningSum
from everflow.kernels.random.distributions import stream_of
from everflow.kernels.random.philox import Stream
from everflow.kernels.tensor_arrays.tensor_array import Array, Stack
from everflow.native import procedures
from everflow.runtime.plan.counters import is_count
from everflow.runtime.plan.native.loops import Loop
from everflow.runtime.plan.native.row_steps import Rows
from everflow.runtime.plan.partner import side_by_side
from everflow.runtime.plan.program import END, Edge, Node, Program

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState, Step

# Rows that there is room for on a stack, or in an array that grows, when a loop runs for the first time.
FIRST_ROOM = 32
# Additions or so between two questions whether to go on.
WORK_AT_ONCE = 20_000_000


class _Running(threading.local):
    """The step whose loop this thread is in, and what ended it."""

    step: Step | None = None
    error: BaseException | None = None


_running = _Running()


@ctypes.CFUNCTYPE(ctypes.c_int)
def _watch() -> int:
    """Asked by loops now and then: whether to stop."""
    try:
        if _running.step is not None:
            _running.step.check()
    except BaseException as e:  # it is raised again when the code has come back
        _running.error = e
    return _running.error is not None


def _keep_interrupts(otherwise: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs) -> None:
    """An interrupt comes where a function begins, so in `_watch` before its `try`. Who called it has no place for
    exceptions, and would only print it.
    """
    begun = lost.exc_traceback.tb_frame.f_code.co_name if lost.exc_traceback is not None else ""
    if begun == "_watch" and _running.step is not None and isinstance(lost.exc_value, BaseException):
        _running.error = lost.exc_value.with_traceback(None)
    else:
        otherwise(lost)


sys.unraisablehook = partial(_keep_interrupts, sys.unraisablehook)


CALLBACKS = {procedures.WATCH: ctypes.cast(_watch, ctypes.c_void_p).value or 0}


class NativeLoop:
    """A loop of a plan as machine code. `outer` is a node that takes the values from outside, which the loop gets
    behind its first values, so that they may be replaced like all others; `results`: the values that it gives, whole
    numbers and truth values as Python's own.
    """

    def __init__(
        self, program: Program, node: Node, loop: Loop, run: Callable[[int], int], state: SessionState
    ) -> None:
        self._loop, self._run, self._state = loop, run, state
        loop.draws.sort(key=lambda draw: draw.node.name)  # in which order they are held
        self._words = [0] * loop.procedure.words
        self.work = loop.work  # of a round
        self.is_split = loop.offsets is not None
        self._words[procedures.PATIENCE] = self._words[procedures.TICKS] = max(1, WORK_AT_ONCE // max(loop.work, 1))
        handles = list(dict.fromkeys(rows.handle for rows in loop.rows))
        self.outer = Node(program.new_index(), node.op, node.name, END)
        self.outer.block = node.block
        program.connect(self.outer, [*loop.outer, *loop.variables, *handles])
        self.results = list(loop.results)
        given = {**loop.first, **loop.outer}
        self._given = [(i, word, _shape(edge)) for i, (edge, word) in enumerate(given.items())]
        self._variables = [(len(given) + i, variable) for i, variable in enumerate(loop.variables.values())]
        first = len(given) + len(self._variables)
        self._handles = {edge: first + i for i, edge in enumerate(handles)}
        self._room = FIRST_ROOM  # the most rows that a run needed

    def __call__(self, step: Step, *values: Value) -> list[Value] | None:
        """What the loop comes to; None, where the plan has to run it."""
        words = self._words.copy()
        kept = self._fill_in(words, values)
        held = [held_by(rows, values[self._handles[rows.handle]]) for rows in self._loop.rows]
        if kept is None or len({id(h.holder) for h in held}) < len(held):
            return None
        results = [_room_for(edge, self._loop) for edge in self.results]
        for word, result in zip(self._loop.results.values(), results, strict=True):
            if result is not None:
                words[word] = result.data_ptr()
        with contextlib.ExitStack() as streams:
            draws = [streams.enter_context(self._stream(d.node).held()) for d in self._loop.draws]
            for draw, drawn in zip(self._loop.draws, draws, strict=True):
                counter = drawn.place.counter
                words[draw.key], words[draw.low], words[draw.high] = map(
                    _signed, (drawn.place.key, counter, counter >> 64)
                )
            block = self._run_with_room(step, words, held, results)
            if block is None:
                return None
            for draw, drawn in zip(self._loop.draws, draws, strict=True):
                drawn.blocks = block[draw.count] * draw.blocks
        for h in held:
            h.finish(block)
        return [self._result(*found, block) for found in zip(self._loop.results.items(), results, strict=True)]

    def _stream(self, node: Node) -> Stream:
        return stream_of(node, self._state)  # type: ignore[arg-type]  # a plan's state has a graph

    def _run_with_room(
        self, step: Step, words: list[int], held: list[_Held], results: list[torch.Tensor | None]
    ) -> array | None:
        """Run the code until there is room enough for what it keeps; its words afterwards."""
        room = self._room
        while all(h.fill_in(words, room) for h in held):
            block = array("q", words)
            ended = self._go_halves(step, block, results) if self.is_split else self._go(step, block)
            if ended == procedures.DONE:
                self._room = room
                return block
            if ended != procedures.NO_ROOM:
                break
            room *= 4
        return None

    def _fill_in(self, words: list[int], values: tuple[Value, ...]) -> list[torch.Tensor] | None:
        """Put numbers and addresses of values into their words; the memory that has to stay. None: a shape is wrong."""
        procedure = self._loop.procedure
        own = torch.empty(procedure.arena + procedure.scratch, dtype=torch.uint8)
        words[procedures.ARENA], words[procedures.SCRATCH] = own.data_ptr(), own.data_ptr() + procedure.arena
        words[procedures.THREADS] = torch.get_num_threads()
        kept = [own]
        for position, word, shape in self._given:
            value = values[position]
            if isinstance(value, RunningSum):
                value = value.total()
            if shape is None:
                words[word] = int(value)
            elif value.shape != shape:
                return None
            else:
                value = value.contiguous()
                kept.append(value)
                words[word] = value.data_ptr()
        for position, variable in self._variables:
            value = values[position].value
            if value is None or value.shape != variable.shape or value.dtype is not tensors.torch_dtype(variable.dtype):
                return None
            kept.append(value.contiguous())
            words[variable.word] = kept[-1].data_ptr()
        return kept

    def _go_halves(self, step: Step, block: array, results: list[torch.Tensor | None]) -> int:
        """Run the code for both halves of the rows; sums are those of the first half and the second."""
        loop, procedure = self._loop, self._loop.procedure
        other, kept = array("q", block), [torch.empty(procedure.arena + procedure.scratch, dtype=torch.uint8)]
        other[procedures.ARENA] = kept[0].data_ptr()
        other[procedures.SCRATCH] = kept[0].data_ptr() + procedure.arena
        block[procedures.THREADS] = other[procedures.THREADS] = 1
        for word, offset in (loop.offsets or {}).items():
            other[word] += offset
        for rows in loop.rows:
            if rows.flags:
                kept.append(torch.zeros(block[rows.count], dtype=torch.uint8))
                other[rows.flags] = kept[-1].data_ptr()
        for edge, word in loop.first.items():
            if edge[0].output_dtypes[0] is dtypes.variant:
                kept.append(torch.zeros(edge[0].shape() or (), dtype=torch.float64))
                other[word] = kept[-1].data_ptr()
        sums = []
        for (edge, word), total in zip(loop.results.items(), results, strict=True):
            if edge in loop.sums and total is not None:
                sums.append((total, torch.empty_like(total)))
                other[word] = sums[-1][1].data_ptr()
        ends = side_by_side(step, partial(self._go, step, block), partial(self._go, step, other))
        for end in ends:
            end.check()
        ended = max(end.result for end in ends)
        if ended == procedures.DONE:
            for total, part in sums:
                total += part
        return ended

    def _go(self, step: Step, block: array) -> int:
        before, _running.step = _running.step, step
        try:
            ended = self._run(block.buffer_info()[0])
        finally:
            _running.step = before
        error, _running.error = _running.error, None
        if error is not None:
            raise error
        return ended

    def _result(self, named: tuple[Edge, int], made: torch.Tensor | None, block: array) -> Value:
        edge, word = named
        if made is not None:
            return RunningSum(made) if edge in self._loop.sums else made
        dtype = edge[0].output_dtypes[edge[1]]
        if dtype is dtypes.bool:
            return bool(block[word] & 0xFF)
        return block[word] if dtype is dtypes.int64 else (block[word] + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def _signed(bits: int) -> int:
    """The number that 64 bits are in a word."""
    return (bits + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def _shape(edge: Edge) -> torch.Size | None:
    """The shape that a tensor must have; None for what is given as a number."""
    return None if is_count(edge) else torch.Size(edge[0].shape(edge[1]) or ())


def _room_for(edge: Edge, loop: Loop) -> torch.Tensor | None:
    """Memory for a result; None for one that comes as a number."""
    shape = _shape(edge)
    return None if shape is None else torch.empty(shape, dtype=tensors.torch_dtype(loop.dtypes[edge]))


# --- TensorArrays and stacks ----------------------------------------------------------------------


class _Held:
    """What an array or a stack has to do with one run of a loop."""

    holder: Array | Stack

    def __init__(self, rows: Rows) -> None:
        self.words = rows
        self.shape = torch.Size(rows.shape)
        self.tensor: torch.Tensor | None = None  # whose rows they are

    def fill_in(self, words: list[int], room: int) -> bool:
        """Tell the procedure where rows are, and how many there are or may be; False if it can't be told."""
        raise NotImplementedError

    def finish(self, block: array) -> None:
        """Let the plan see what the procedure did."""
        raise NotImplementedError

    def _new_rows(self, room: int, most: int | None, words: list[int]) -> None:
        """Rows to be written: so many, or as many as there can be."""
        count = room if most is None else min(room, most)
        self.tensor = torch.empty((count, *self.shape), dtype=tensors.torch_dtype(self.words.dtype))
        words[self.words.address], words[self.words.count] = self.tensor.data_ptr(), count
        words[self.words.may_grow] = most is None or count < most

    def _all_rows(self, found: torch.Tensor | None, words: list[int]) -> bool:
        if found is None or found.shape[1:] != self.shape or self.holder.dtype is not self.words.dtype:
            return False
        self.tensor = found.contiguous()
        words[self.words.address], words[self.words.count] = self.tensor.data_ptr(), len(found)
        return True


class _ArrayHeld(_Held):
    holder: Array

    def __init__(self, rows: Rows, holder: Array) -> None:
        super().__init__(rows)
        self.holder = holder if rows.source is None else holder.gradient(rows.source)

    def _fill_in_flags(self, words: list[int]) -> None:
        assert self.tensor is not None
        self.flags = torch.zeros(len(self.tensor), dtype=torch.uint8)
        words[self.words.flags] = self.flags.data_ptr()

    def _marked(self) -> list[int]:
        return [i for i, flag in enumerate(self.flags.tolist()) if flag]


class _ReadArray(_ArrayHeld):
    def fill_in(self, words: list[int], room: int) -> bool:
        if not self._all_rows(self.holder.rows(), words):
            return False
        self._fill_in_flags(words)
        words[self.words.may_repeat] = not self.holder.clear_after_read
        return True

    def finish(self, block: array) -> None:
        self.holder.note_reads(self._marked())


class _WrittenArray(_ArrayHeld):
    def fill_in(self, words: list[int], room: int) -> bool:
        if not self.holder.can_take_rows(self.words.dtype, TensorShape(self.shape)):
            return False
        size = self.holder.size
        self._new_rows(max(size, room), None if self.holder.dynamic else size, words)
        self._fill_in_flags(words)
        return True

    def finish(self, block: array) -> None:
        assert self.tensor is not None
        written = self._marked()
        if written == list(range(max(self.holder.size, len(written)))):
            self.holder.take_rows(self.tensor.narrow(0, 0, len(written)))
            return
        for position in written:
            self.holder.write(position, self.tensor[position], self.words.dtype)


class _Pushed(_Held):
    holder: Stack

    def __init__(self, rows: Rows, holder: Stack) -> None:
        super().__init__(rows)
        self.holder = holder

    def fill_in(self, words: list[int], room: int) -> bool:
        if not self.holder.is_empty or self.holder.closed:
            return False
        self._new_rows(room, None if self.holder.limit < 0 else self.holder.limit, words)
        return True

    def finish(self, block: array) -> None:
        assert self.tensor is not None
        self.holder.set_rows(self.tensor.narrow(0, 0, block[self.words.used]))


class _Popped(_Pushed):
    def fill_in(self, words: list[int], room: int) -> bool:
        if not self._all_rows(self.holder.rows(), words):
            return False
        words[self.words.used] = words[self.words.count]
        return True


def held_by(rows: Rows, holder: Array | Stack) -> _Held:
    """What an object of the plan is to a loop that knows it as rows."""
    if isinstance(holder, Stack):
        return (_Pushed if rows.is_written else _Popped)(rows, holder)
    return (_WrittenArray if rows.is_written else _ReadArray)(rows, holder)
