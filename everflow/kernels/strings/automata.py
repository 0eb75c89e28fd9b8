"""Patterns as tables for compiled loops: a regular expression's automaton over ASCII text.

Only what is surely the same as in RE2 is taken: characters, classes, groups, alternatives, repetitions and the ends of
text. For other patterns there is no automaton, and RE2 does the work; so it does for text that is not ASCII.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch

_ASCII = frozenset(range(128))
_DIGITS = frozenset(b"0123456789")
_WORD = _DIGITS | frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACE = frozenset(b"\t\n\f\r ")
_CLASSES = {"d": _DIGITS, "D": _ASCII - _DIGITS, "w": _WORD, "W": _ASCII - _WORD, "s": _SPACE, "S": _ASCII - _SPACE}
_CONTROLS = {"t": 9, "n": 10, "f": 12, "r": 13}
_MOST_STATES, _MOST_INSTRUCTIONS, _MOST_REPEATS = 256, 400, 50
NOW, AT_THE_END = 1, 2  # when a state of the automaton accepts


class _NoAutomatonError(Exception):
    """The pattern has something that is left to RE2."""


class _Instruction(NamedTuple):
    """A step: one of some bytes, then on to `to`; or, without bytes, on to all of `to`, the first preferred."""

    kind: str
    to: tuple[int, ...] = ()
    bytes: frozenset[int] = frozenset()
    slot: int = 0


# Kinds of instructions, as compiled loops number them.
_KINDS = ("bytes", "jump", "begin", "end", "save", "accept")
_WIDTH, _MOST_PLACES = 8, 5  # numbers of an instruction: its kind, a detail, how many places, and these


# What is parsed: a function that adds its instructions in front of a place and gives where they begin.
_Part = Callable[["_Program", int], int]


class _Program:
    def __init__(self) -> None:
        self.instructions: list[_Instruction] = [_Instruction("accept")]

    def add(self, instruction: _Instruction) -> int:
        if len(self.instructions) >= _MOST_INSTRUCTIONS:
            raise _NoAutomatonError
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def reached(self, places: Iterable[int], first: bool, last: bool, cut: bool) -> tuple[int, ...]:
        """What can be reached from places without a byte, in order of preference; `first`, `last`: at which ends of the
        text. Where `cut`, nothing that is less preferred than having accepted.
        """
        found: dict[int, None] = {}
        stack = list(places)[::-1]
        while stack:
            place = stack.pop()
            if place in found:
                continue
            instruction = self.instructions[place]
            found[place] = None
            if instruction.kind == "accept" and cut:
                break
            through = {"jump": True, "save": True, "begin": first, "end": last}.get(instruction.kind, False)
            if through:
                stack += instruction.to[::-1]
        kept = ("bytes", "end", "accept", "begin") if last else ("bytes", "end", "accept")
        return tuple(p for p in found if self.instructions[p].kind in kept)


class _Parser:
    """A recursive descent over the pattern. Each part is (function, whether it may match nothing)."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.groups = text, 0, 0

    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        if self.at >= len(self.text):
            raise _NoAutomatonError
        self.at += 1
        return self.text[self.at - 1]

    def alternatives(self) -> tuple[_Part, bool]:
        parts = [self.sequence()]
        while self.next() == "|":
            self.take()
            parts.append(self.sequence())
        if len(parts) == 1:
            return parts[0]

        def add(program: _Program, then: int) -> int:
            return program.add(_Instruction("jump", tuple(part(program, then) for part, _ in parts)))

        return add, any(empty for _, empty in parts)

    def sequence(self) -> tuple[_Part, bool]:
        parts = []
        while self.next() not in ("", "|", ")"):
            parts.append(self.repeated())

        def add(program: _Program, then: int) -> int:
            for part, _ in reversed(parts):
                then = part(program, then)
            return then

        return add, all(empty for _, empty in parts)

    def repeated(self) -> tuple[_Part, bool]:
        part, empty = self.single()
        if self.next() not in ("*", "+", "?", "{") or not self.next():
            return part, empty
        if empty:
            raise _NoAutomatonError  # how often nothing is repeated is a matter of taste
        least, most = self.bounds()
        lazy = self.next() == "?"
        if lazy:
            self.take()
        if self.next() and self.next() in "*+?{":
            raise _NoAutomatonError
        return _repetition(part, least, most, lazy), least == 0

    def bounds(self) -> tuple[int, int | None]:
        mark = self.take()
        if mark != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        inside, brace, _ = self.text[self.at :].partition("}")
        self.at += len(inside) + 1
        low, comma, high = inside.partition(",")
        if not brace or not low.isdecimal() or not (high.isdecimal() or not high):
            raise _NoAutomatonError
        least, most = int(low), (int(high) if high else None) if comma else int(low)
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < max(least, 1)):
            raise _NoAutomatonError
        return least, most

    def single(self) -> tuple[_Part, bool]:
        c = self.take()
        if c == "(":
            return self.group()
        if c in "^$":
            return lambda program, then: program.add(_Instruction("begin" if c == "^" else "end", (then,))), True
        if c in "*+?{":
            raise _NoAutomatonError
        if c == "[":
            chosen = self.set_of_bytes()
        elif c == "\\":
            chosen = self.escaped()
        else:
            chosen = _ASCII - {10} if c == "." else frozenset([ord(c)])
        return lambda program, then: program.add(_Instruction("bytes", (then,), chosen)), False

    def group(self) -> tuple[_Part, bool]:
        slot = None
        if self.next() == "?":
            if self.text[self.at : self.at + 2] != "?:":
                raise _NoAutomatonError
            self.at += 2
        else:
            slot, self.groups = 2 * self.groups, self.groups + 1
        inner, empty = self.alternatives()
        if self.take() != ")":
            raise _NoAutomatonError
        if slot is None:
            return inner, empty

        def add(program: _Program, then: int) -> int:
            after = program.add(_Instruction("save", (then,), slot=slot + 1))
            return program.add(_Instruction("save", (inner(program, after),), slot=slot))

        return add, empty

    def escaped(self) -> frozenset[int]:
        c = self.take()
        if c in _CLASSES:
            return _CLASSES[c]
        if c in _CONTROLS:
            return frozenset([_CONTROLS[c]])
        if c.isalnum() or c == "_" or ord(c) < 33:
            raise _NoAutomatonError
        return frozenset([ord(c)])

    def set_of_bytes(self) -> frozenset[int]:
        negated = self.next() == "^"
        if negated:
            self.take()
        found: set[int] = set()
        begun = self.at
        while self.next() != "]" or self.at == begun:
            c = self.take()
            if c == "[" and self.next() == ":":
                raise _NoAutomatonError
            items = self.escaped() if c == "\\" else frozenset([ord(c)])
            if self.next() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.take()
                end = self.take()
                last = self.escaped() if end == "\\" else frozenset([ord(end)])
                if len(items) != 1 or len(last) != 1 or end == "[":
                    raise _NoAutomatonError
                items = frozenset(range(min(items), min(last) + 1))
            found |= items
        self.take()
        return _ASCII - found if negated else frozenset(found)


def _repetition(part: _Part, least: int, most: int | None, lazy: bool) -> _Part:
    def choice(program: _Program, into: int, past: int) -> int:
        return program.add(_Instruction("jump", (past, into) if lazy else (into, past)))

    def add(program: _Program, then: int) -> int:
        place = then
        if most is None:
            loop = program.add(_Instruction("jump"))  # where it goes is known once its body is
            body = part(program, loop)
            program.instructions[loop] = _Instruction("jump", (then, body) if lazy else (body, then))
            place = loop
        else:
            for _ in range(most - least):
                place = choice(program, part(program, place), then)
        for _ in range(least):
            place = part(program, place)
        return place

    return add


class Automaton(NamedTuple):
    """States by number, 0 for the one from which nothing matches: where a byte leads, and whether a state accepts."""

    classes: bytes  # of each byte: the column of the table
    table: torch.Tensor  # [states, columns]
    accepts: bytes
    at_begin: int  # the state to begin with at the beginning of the text, and elsewhere
    elsewhere: int
    program: torch.Tensor  # the instructions that it was made of
    start: int  # the first of them
    members: bytes  # 128 for each instruction: whether it takes that byte
    groups: int


@functools.lru_cache(maxsize=256)
def automaton(pattern: bytes, whole: bool) -> Automaton | None:
    """A pattern's automaton: the match that RE2 would choose or, for `whole`, any match of the whole text."""
    try:
        parser = _Parser(pattern.decode("ascii"))
        part, _ = parser.alternatives()
        if parser.at < len(parser.text):
            return None
        program = _Program()
        return _determined(program, part(program, 0), parser.groups, cut=not whole)
    except (UnicodeDecodeError, _NoAutomatonError, RecursionError):
        return None


def _determined(program: _Program, start: int, groups: int, cut: bool) -> Automaton:
    sets = [i.bytes for i in program.instructions if i.kind == "bytes"]
    signatures: dict[tuple[bool, ...], int] = {}
    classes = bytes(signatures.setdefault(tuple(b in s for s in sets), len(signatures)) for b in range(128)) + bytes(
        128
    )
    samples = [classes.index(c) for c in range(len(signatures))]
    states: dict[tuple[int, ...], int] = {(): 0}

    def number(reached: tuple[int, ...]) -> int:
        if len(states) >= _MOST_STATES and reached not in states:
            raise _NoAutomatonError
        return states.setdefault(reached, len(states))

    at_begin = number(program.reached([start], first=True, last=False, cut=cut))
    elsewhere = number(program.reached([start], first=False, last=False, cut=cut))
    rows: list[list[int]] = []
    accepts = bytearray()
    while len(rows) < len(states):
        reached = list(states)[len(rows)]
        steps = [program.instructions[p] for p in reached]
        rows.append(
            [
                number(
                    program.reached(
                        [s.to[0] for s in steps if s.kind == "bytes" and byte in s.bytes],
                        first=False,
                        last=False,
                        cut=cut,
                    )
                )
                for byte in samples
            ]
        )
        accepts.append(_accepts(program, reached))
    table = torch.tensor(rows, dtype=torch.int32)
    return Automaton(classes, table, bytes(accepts), at_begin, elsewhere, *_encoded(program, start), groups)


def _accepts(program: _Program, reached: tuple[int, ...]) -> int:
    at_end = [program.instructions[p].kind for p in program.reached(reached, first=False, last=True, cut=False)]
    if "begin" in at_end:
        raise _NoAutomatonError  # the beginning of the text behind its end: only empty text has both
    now = any(program.instructions[p].kind == "accept" for p in reached)
    return now * NOW | ("accept" in at_end) * AT_THE_END


def _encoded(program: _Program, start: int) -> tuple[torch.Tensor, int, bytes]:
    """A program for compiled loops; alternatives are split up where there are many of them."""
    instructions = list(program.instructions)
    for place, instruction in enumerate(instructions):  # which grows meanwhile
        if len(instruction.to) > _MOST_PLACES:
            first, rest = instruction.to[: _MOST_PLACES - 1], instruction.to[_MOST_PLACES - 1 :]
            instructions.append(_Instruction("jump", rest))
            instructions[place] = _Instruction("jump", (*first, len(instructions) - 1))
    rows = []
    for place, (kind, to, _, slot) in enumerate(instructions):
        detail = place if kind == "bytes" else slot
        rows.append([_KINDS.index(kind), detail, len(to), *to, *[0] * (_MOST_PLACES - len(to))])
    members = b"".join(bytes(b in instruction.bytes for b in range(128)) for instruction in instructions)
    return torch.tensor(rows), start, members
