"""Kernels on strings by regular expressions, as RE2 matches them: RegexReplace and RegexFullMatch."""

from __future__ import annotations

import array
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import re2
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.automata import Automaton, automaton
from everflow.kernels.strings.text import (
    contiguous,
    filled,
    mapped,
    measured,
    scalar_string,
    text_address,
    text_bytes,
)
from everflow.kernels.tensors import Strings, room
from everflow.native.loops.library import Library

_RUNS = Library("automaton_runs", cost=100)
_ROOM = 1 << 14  # bytes of a result; longer ones are left to RE2
_LEFT = 2


@functools.lru_cache(maxsize=256)
def _pattern(source: bytes) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidArgumentError(
            None, None, f"Invalid pattern: {source.decode('utf-8', 'replace')}, error: {reason}"
        ) from None


def _rewrite_parts(rewrite: bytes, groups: int) -> list[bytes | int]:
    """What stands for a match: texts, and numbers of groups. A wrong escape or group ends it, as in RE2."""
    parts: list[bytes | int] = []
    position = 0
    while position < len(rewrite):
        at = rewrite.find(b"\\", position)
        if at < 0:
            parts.append(rewrite[position:])
            break
        parts.append(rewrite[position:at])
        mark = rewrite[at + 1 : at + 2]
        if mark.isdigit() and int(mark) <= groups:
            parts.append(int(mark))
        elif mark == b"\\":
            parts.append(b"\\")
        else:
            break
        position = at + 2
    return parts


def _is_continuation(s: bytes, at: int) -> bool:
    return at < len(s) and s[at] & 0xC0 == 0x80


def _replace_all(regexp: Any, make: Callable, s: bytes) -> bytes:
    pieces, position, last_end = [], 0, -1
    while position <= len(s):
        match = regexp.search(s, position)
        if match is None:
            break
        start, end = match.span()
        pieces.append(s[position:start])
        if start == last_end and end == start:  # an empty match right after a match doesn't count
            step = position + 1
            while _is_continuation(s, step):
                step += 1
            pieces.append(s[position:step])
            position = step
            continue
        pieces.append(make(match))
        position = last_end = end
    pieces.append(s[position:])
    return b"".join(pieces)


def _replaced(input: Strings, source: bytes, rewrite: bytes, replace_global: bool) -> Strings:
    regexp = _pattern(source)
    parts = _rewrite_parts(rewrite, regexp.groups)

    def make(match: Any) -> bytes:
        return b"".join((match.group(p) or b"") if isinstance(p, int) else p for p in parts)

    def replace_first(s: bytes) -> bytes:
        match = regexp.search(s)
        return s if match is None else s[: match.start()] + make(match) + s[match.end() :]

    plain = (lambda s: _replace_all(regexp, make, s)) if replace_global else replace_first
    code = _RUNS.ready(input.size)
    how = _replacement(source, rewrite, regexp.groups, replace_global) if code is not None else None
    if how is None:
        return mapped(plain, input)
    given, out = contiguous(input), np.empty(input.shape, object)
    left = code.replace(id(given), given.size, how.table.data_ptr(), id(out))
    return out if left == 0 else filled(out, given, plain) if left > 0 else mapped(plain, input)


class _Replacement(NamedTuple):
    """What compiled loops need to know, and what holds the memory that they are told of.

    They use the room under Python's lock, so threads may share it.
    """

    table: torch.Tensor
    holds: list[Any]


@functools.lru_cache(maxsize=256)
def _replacement(source: bytes, rewrite: bytes, groups: int, all_of_them: bool) -> _Replacement | None:
    how, parts = automaton(source, False), _rewrite_parts(rewrite, groups)
    if how is None:
        return None
    slots = 2 * how.groups if any(isinstance(part, int) and part for part in parts) else 0
    texts = [v for part in parts for v in ((text_address(part), len(part)) if isinstance(part, bytes) else (0, part))]
    numbers = torch.tensor([*texts, *[0] * slots])
    room = torch.empty(3 * _ROOM if slots else _ROOM, dtype=torch.uint8)
    place, spare = numbers.data_ptr(), room.data_ptr()
    replacement = (place, len(parts), all_of_them, spare, _ROOM)
    program = (how.program.data_ptr(), len(how.program), how.start, text_address(how.members))
    memory = (place + 8 * len(texts), slots, spare + _ROOM, _ROOM // 16, spare + 2 * _ROOM, _ROOM)
    table = torch.tensor([*_state_table(how), how.at_begin, how.elsewhere, *replacement, *program, *memory])
    return _Replacement(table, [how, parts, numbers, room])


def _state_table(how: Automaton) -> tuple[int, ...]:
    """An automaton's table as compiled loops know it."""
    return text_address(how.classes), how.table.data_ptr(), how.table.shape[1], text_address(how.accepts)


@fresh("RegexReplace")
def regex_replace(input: Strings, pattern: Strings, rewrite: Strings, *, replace_global: bool) -> Strings:
    return _replaced(input, scalar_string(pattern, "Pattern"), scalar_string(rewrite, "Rewrite"), replace_global)


@fresh("StaticRegexReplace")
def static_regex_replace(input: Strings, *, pattern: str, rewrite: str, replace_global: bool) -> Strings:
    return _replaced(input, text_bytes(pattern), text_bytes(rewrite), replace_global)


def _matched(input: Strings, source: bytes) -> torch.Tensor:
    full = _pattern(source).fullmatch
    code = _RUNS.ready(input.size)
    how = automaton(source, True) if code is not None else None
    if how is None:
        return measured(lambda s: full(s) is not None, input, torch.bool)
    given, out = contiguous(input), room(input.shape, torch.bool)
    table = array.array("q", [*_state_table(how), how.at_begin])
    left = code.full_matches(id(given), given.size, table.buffer_info()[0], out.data_ptr())
    if left < 0:
        return measured(lambda s: full(s) is not None, input, torch.bool)
    if left:
        flat, found = given.reshape(-1), out.view(torch.uint8)
        for at in (found.reshape(-1) == _LEFT).nonzero().reshape(-1).tolist():
            found.view(-1)[at] = full(flat[at]) is not None
    return out


@fresh("RegexFullMatch")
def regex_full_match(input: Strings, pattern: Strings) -> torch.Tensor:
    return _matched(input, scalar_string(pattern, "Pattern"))


@fresh("StaticRegexFullMatch")
def static_regex_full_match(input: Strings, *, pattern: str) -> torch.Tensor:
    return _matched(input, text_bytes(pattern))
