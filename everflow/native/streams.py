"""Long stretches of random numbers by machine code: the bits that kernels make with numpy, in a tenth of the time.

A process that has drawn many numbers has the code made in the background; until then, and without a compiler, nothing
here answers.
"""

from __future__ import annotations

from collections.abc import Callable

from everflow.native.background import BACKGROUND, is_possible

UNIFORM, NORMAL, WORDS = _KINDS = "uniform", "normal", "words"
# Numbers that are drawn without it before it is worth making; a call that draws a few takes as long as so many.
ENOUGH, CALL = 1 << 20, 1 << 11
_MASK64 = (1 << 64) - 1

_drawn = 0
_fillers: dict[str, Callable[..., int]] = {}


def is_ready() -> bool:
    """Whether there is code."""
    return bool(_fillers)


def fill(kind: str, address: int, key: int, counter: int, blocks: int) -> bool:
    """Write the single precision numbers, or the words, of so many blocks of a stream, four for each; whether there was
    code for it.
    """
    filler = _fillers.get(kind)
    if filler is None:
        _note(4 * blocks + CALL)
        return False
    filler(address, key, counter & _MASK64, counter >> 64 & _MASK64, blocks, 1)
    return True


def _note(count: int) -> None:
    global _drawn
    before, _drawn = _drawn, _drawn + count
    if before < ENOUGH <= _drawn and is_possible():
        BACKGROUND.submit(make)


def make() -> None:
    """Compile the loops."""
    from everflow.native import stream_loops, toolchain  # a library that not every machine has

    file = toolchain.Loaded(toolchain.object_code(stream_loops.written(_KINDS)), list(_KINDS))
    _fillers.update({kind: file.function(kind) for kind in _KINDS})
