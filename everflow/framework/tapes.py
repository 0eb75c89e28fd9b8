"""What listens to operations as they are made: the stack of gradient tapes of each thread.

Graphs call `record` for each operation, variables `variable_accessed` for each read; `ops/gradients/tape.py` has the
tapes themselves.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everflow.framework.hints import GradientFunction, Tape
    from everflow.framework.operation import Operation, Tensor


class _Listening(threading.local):
    def __init__(self) -> None:
        self.tapes: tuple[Tape, ...] = ()
        self.unasked: tuple[Any, frozenset[int]] | None = None


_listening = _Listening()


def record(op: Operation | CallRecord) -> None:
    """Tell the tapes of this thread of a new operation."""
    for tape in _listening.tapes:
        tape.record(op)


def variable_accessed(variable: Any) -> None:
    """Tell the tapes that a variable is about to be read."""
    for tape in _listening.tapes:
        tape.variable_accessed(variable)


class CallRecord:
    """What tapes remember of a call with a gradient function of its own, in place of the operations inside."""

    type = name = "CustomGradient"

    def __init__(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], gradient: GradientFunction) -> None:
        self.inputs, self.outputs, self.attrs = inputs, outputs, {}
        self._gradient_function = lambda op, *grads: gradient(*grads)


@contextlib.contextmanager
def unasked_inputs(op: Any, indices: Iterable[int]) -> Iterator[None]:
    """A context in which nobody asks for the gradients of some inputs of an operation."""
    before, _listening.unasked = _listening.unasked, (op, frozenset(indices))
    try:
        yield
    finally:
        _listening.unasked = before


def is_asked(op: Any, index: int) -> bool:
    """Whether a gradient function has to give the gradient of an input; what it gives for others is thrown away."""
    held = _listening.unasked
    if held is not None and held[0] is op:
        return index not in held[1]
    return index not in getattr(op, "skip_input_indices", ())


def watch_any(tensors: Iterable[Tensor]) -> bool:
    """Whether a tape of this thread watches one of these."""
    return any(tape.watches(t) for tape in _listening.tapes for t in tensors)


def active() -> tuple[Tape, ...]:
    """The tapes that listen now, outermost first."""
    return _listening.tapes


def push(tape: Tape) -> None:
    """Let a tape listen, too."""
    _listening.tapes = (*_listening.tapes, tape)


def remove(tape: Tape) -> None:
    """Let a tape listen no more."""
    _listening.tapes = tuple(t for t in _listening.tapes if t is not tape)


@contextlib.contextmanager
def stop_recording() -> Iterator[None]:
    """A context in which no tape listens."""
    before, _listening.tapes = _listening.tapes, ()
    try:
        yield
    finally:
        _listening.tapes = before
