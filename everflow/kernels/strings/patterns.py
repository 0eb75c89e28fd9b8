"""Kernels on strings by regular expressions, as RE2 matches them: RegexReplace and RegexFullMatch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import re2
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import mapped, measured, scalar_string, text_bytes
from everflow.kernels.tensors import Strings


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


def _rewriting(rewrite: bytes, groups: int) -> Callable:
    """`fn(match)`: the text that stands for a match. A wrong escape or group ends it, as in RE2."""
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
    return lambda match: b"".join((match.group(p) or b"") if isinstance(p, int) else p for p in parts)


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
    make = _rewriting(rewrite, regexp.groups)

    def replace_first(s: bytes) -> bytes:
        match = regexp.search(s)
        return s if match is None else s[: match.start()] + make(match) + s[match.end() :]

    return mapped((lambda s: _replace_all(regexp, make, s)) if replace_global else replace_first, input)


@fresh("RegexReplace")
def regex_replace(input: Strings, pattern: Strings, rewrite: Strings, *, replace_global: bool) -> Strings:
    return _replaced(input, scalar_string(pattern, "Pattern"), scalar_string(rewrite, "Rewrite"), replace_global)


@fresh("StaticRegexReplace")
def static_regex_replace(input: Strings, *, pattern: str, rewrite: str, replace_global: bool) -> Strings:
    return _replaced(input, text_bytes(pattern), text_bytes(rewrite), replace_global)


def _matched(input: Strings, source: bytes) -> torch.Tensor:
    full = _pattern(source).fullmatch
    return measured(lambda s: full(s) is not None, input, torch.bool)


@fresh("RegexFullMatch")
def regex_full_match(input: Strings, pattern: Strings) -> torch.Tensor:
    return _matched(input, scalar_string(pattern, "Pattern"))


@fresh("StaticRegexFullMatch")
def static_regex_full_match(input: Strings, *, pattern: str) -> torch.Tensor:
    return _matched(input, text_bytes(pattern))
