"""What may be known of a kernel without calling it: one vocabulary, declared where the kernel is registered.

    @kernel("Transpose", result=view(0), fails=False)

The defaults are the safe ones: nothing is promised; only that bits depend on threads has to be said, since it is seldom
so. `runtime/checking.py` compares what is declared with what a kernel does.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Memory(enum.Enum):
    """Where the memory of a result comes from."""

    UNKNOWN = "unknown"  # anywhere: an input, a part of one, or something that others hold
    FRESH = "fresh"  # new, and nobody else holds it
    VIEW = "view"  # fresh, or (part of) the memory of an input; TensorFlow copies there
    SAME = "same"  # fresh, or the memory of an input, perhaps under another shape; in TensorFlow, too


class Effect(enum.Enum):
    """What else a kernel does, or depends on, besides its inputs and results. Later ones may do what earlier ones may."""

    PURE = "pure"  # nothing: it may be shared, computed when planning, or left out
    READS = "reads"  # looks at state that others change: it may be left out, but keeps its place
    RANDOM = "random"  # goes on in a random stream: never shared or left out, but others may change places with it
    ACTS = "acts"  # does something that others see: it runs where it stands


class Waits(enum.Enum):
    """Whether a kernel may wait for something that another op of the same run does."""

    NEVER = "never"
    PUTS = "puts"  # puts something into a queue or the like, and waits while it is full
    TAKES = "takes"  # takes something from there, and waits while it is empty
    OUTSIDE = "outside"  # waits for a file, a program, another process


@dataclass(frozen=True, slots=True)
class Result:
    """A kind of memory, and the input arguments it may be of; `of` is empty where any of them may be."""

    memory: Memory = Memory.UNKNOWN
    of: tuple[int, ...] = ()


UNKNOWN = Result()
FRESH = Result(Memory.FRESH)


def view(*arguments: int) -> Result:
    """Results are fresh, or lie in the memory of these input arguments (of any, if none is named); TensorFlow copies."""
    return Result(Memory.VIEW, arguments)


def same(*arguments: int) -> Result:
    """Results are fresh, or an input argument itself, perhaps under another shape: who writes that changes both, as in
    TensorFlow.
    """
    return Result(Memory.SAME, arguments)


# ATen gives a thread at least so many values of a tensor; smaller ones stay whole.
SHARE = 1 << 15


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one kernel. Positions count the input arguments of the op's definition; a list-valued argument is
    one.
    """

    result: Result = UNKNOWN
    renames: bool = (
        False  # its result is its first input, whatever that is: a plan gives it another name and calls nothing
    )
    effect: Effect | None = (
        None  # None: PURE, unless the definition is stateful or the kernel asks for `session` or `step`
    )
    writes: tuple[int, ...] | None = (
        None  # the variables it changes; None: every ref argument and variable handle it is given
    )
    fails: bool = True  # may raise although types and static shapes fit
    waits: Waits = Waits.NEVER
    locks: bool = False  # holds the locks of the variables it writes, whether or not `use_locking` says so
    keeps: tuple[
        int, ...
    ] = ()  # inputs that somebody still holds when the run goes on: what is put onto stacks, into arrays
    numbers: tuple[int, ...] = ()  # inputs that may come as a Python number instead of a scalar tensor
    first: bool = False  # brings input into the run: comes before whatever need not come before it
    # With another number of threads its last bits may differ once an input or result has so many values. 0: at any
    # size; None: never.
    threads_matter_from: int | None = None
