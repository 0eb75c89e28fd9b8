"""Random programs as text, drawn from a seed statement by statement: the same lines run here and in TensorFlow.

A family (`families.py`) is a list of moves; a move takes the program and writes statements. Values in the pool are known
by name, with what moves want to know of them: their kind, type, and the shape they have when the program runs.
"""

from __future__ import annotations

import random
from typing import NamedTuple


class Nothing(Exception):
    """A move finds nothing to start from."""


class Value(NamedTuple):
    """A variable of the program: `kind` is "tensor", "ragged", … and `about` what its family knows of it."""

    name: str
    kind: str
    dtype: str
    shape: tuple | None  # when it runs; None where that isn't followed up
    about: tuple = ()


class Program:
    """A program that is being written."""

    def __init__(self, family: str, seed: int):
        self.name, self.seed = f"{family} {seed}", seed
        self.random = random.Random(self.name)
        self.lines: list[str] = []
        self.pool: list[Value] = []
        self.results: list[str] = []
        self.times: dict[str, int] = {}
        self._count = 0

    def as_json(self) -> dict:
        return {
            "name": self.name,
            "seed": self.seed,
            "lines": self.lines,
            "results": self.results,
            "times": self.times,
        }

    # --- what moves use ----------------------------------------------------------------------

    def line(self, text: str) -> None:
        """A statement whose value nobody needs."""
        self.lines.append(text)

    def name_for(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def add(self, text: str, kind="tensor", dtype="float32", shape=(), about=(), result=True) -> Value:
        """A statement whose value goes into the pool, and is fetched if it is a `result`."""
        made = Value(self.name_for(), kind, dtype, shape, about)
        self.lines.append(f"{made.name} = {text}")
        self.pool.append(made)
        if result:
            self.results.append(made.name)
        return made

    def pick(self, kind=None, dtype=None, accept=lambda v: True) -> Value:
        """A value of the pool, rather a late one."""
        dtypes = (dtype,) if isinstance(dtype, str) else dtype
        fit = [
            v
            for v in self.pool
            if (kind is None or v.kind == kind) and (dtypes is None or v.dtype in dtypes) and accept(v)
        ]
        if not fit:
            raise Nothing
        return self.random.choice(fit[-5:] if self.random.random() < 0.6 else fit)

    def like(self, value: Value) -> Value:
        """A value of the same kind, type and shape."""
        return self.pick(value.kind, value.dtype, lambda v: v.shape == value.shape and v.about == value.about)

    def choice(self, *options):
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def numbers(self, shape, dtype="float32", low=-4, high=4) -> str:
        """Nested lists of small numbers, as text."""
        if not shape:
            return self._number(dtype, low, high)
        return "[" + ", ".join(self.numbers(shape[1:], dtype, low, high) for _ in range(shape[0])) + "]"

    def _number(self, dtype, low, high):
        if dtype == "bool":
            return str(self.random.random() < 0.5)
        if dtype == "string":
            return repr(self.choice("", "a", "bc", "d e", "a b c", "12", "é", "-3.5"))
        if dtype.startswith("float"):
            return repr(self.random.randint(4 * low, 4 * high) / 4)
        return repr(self.random.randint(low, high))

    def named(self, stem: str) -> str:
        """Perhaps an argument `name=`."""
        return f", name={self.name_for(stem)!r}" if self.chance(0.1) else ""


class Family(NamedTuple):
    """How programs of one kind begin, grow and end."""

    name: str
    begin: object
    moves: list
    sizes: tuple = (4, 10)
    end: object = None


def often(moves: list, times: int = 1):
    """A move that is drawn so many times as often as others."""

    def register(function):
        moves.extend([function] * times)
        return function

    return register


def written(family: Family, seed: int) -> Program:
    """The program of a seed."""
    program = Program(family.name, seed)
    family.begin(program)
    for _ in range(program.random.randint(*family.sizes)):
        kept = [list(held) for held in (program.lines, program.pool, program.results)]
        try:
            program.random.choice(family.moves)(program)
        except Nothing:
            program.lines, program.pool, program.results = kept
    if family.end is not None:
        family.end(program)
    return program
