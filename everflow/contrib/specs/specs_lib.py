"""Functions of one tensor that can be put together: `f | g` is g after f, `f + g` and `f * g` what both give, combined,
`f ** 3` is f three times.
"""

from __future__ import annotations

import functools
import importlib
import operator
import re
from typing import Any

__all__ = [
    "Callable",
    "Composable",
    "Composition",
    "External",
    "Function",
    "Import",
    "Operator",
    "check_keywords",
    "debug",
    "get_positional",
]

# Statements have no place in a spec: it is a list of assignments.
_STATEMENTS = frozenset(["def", "exec", "import", "while"])
_WORDS_OR_TEXTS = re.compile(r"""'[^'\n]*'|"[^"\n]*"|\w+""")
_prints_calls = False


def debug(mode: bool = True) -> None:
    """Print each call of a function with its arguments."""
    global _prints_calls
    _prints_calls = mode


def check_keywords(spec: str) -> None:
    """ValueError where a spec has statements, outside of texts in quotes."""
    for word in _WORDS_OR_TEXTS.findall(spec):
        if word in _STATEMENTS:
            raise ValueError(f"A spec is made of assignments; it can't have {word!r}: {spec}")


def get_positional(args: list, kw: dict[str, Any], kw_overrides: bool = False) -> tuple[list, dict[str, Any]]:
    """(positional arguments, keywords), where a keyword `_2` was another way of giving the positional argument 2.

    An argument that is given both ways is that of `args`, unless `kw_overrides`.
    """
    numbered = {int(key[1:]): value for key, value in kw.items() if key.startswith("_")}
    given = {place: value for place, value in numbered.items() if kw_overrides or place >= len(args)}
    merged = [*args, *[None] * (max(given, default=-1) + 1 - len(args))]
    for place, value in given.items():
        merged[place] = value
    return merged, {key: value for key, value in kw.items() if not key.startswith("_")}


class Composable:
    """What has `funcall(x)`, and operators that put such functions together."""

    def funcall(self, x: Any) -> Any:
        """The value of this function."""
        raise NotImplementedError(f"{type(self).__name__} has no funcall")

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        if n < 0:
            raise AssertionError(f"A function can't be applied {n} times")
        return functools.reduce(operator.or_, [self] * n) if n else Function(lambda x: x)


class Callable(Composable):
    """A Python function of one argument."""

    def __init__(self, f: Any) -> None:
        self.f = f

    def funcall(self, x: Any) -> Any:
        return self.f(x)


class Operator(Composable):
    """What an operator makes of the values of several functions."""

    def __init__(self, op: Any, *args: Composable) -> None:
        self.op, self.funs = op, args

    def funcall(self, x: Any) -> Any:
        return self.op(*[f.funcall(x) for f in self.funs])


class Function(Composable):
    """A Python function with all arguments but its first one; calling it gives one with more of them."""

    def __init__(self, f: Any, *args: Any, **kw: Any) -> None:
        if not callable(f):
            raise ValueError(f"{f!r} can't be called")
        self.f, self.args, self.kw = f, list(args), kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        given, named = get_positional(self.args, self.kw)
        if _prints_calls:
            print("DEBUG:", self.f, x, given, named)
        return self.f(*[x, *given], **named)


class Composition(Composable):
    """One function after another."""

    def __init__(self, f: Composable, g: Composable) -> None:
        self.f, self.g = f, g

    def funcall(self, x: Any) -> Any:
        return self.g.funcall(self.f.funcall(x))


def External(module_name: str, function_name: str) -> Function:
    """A function of a module."""
    return Function(vars(importlib.import_module(module_name))[function_name])


def Import(statements: str) -> Function:
    """The function that some Python statements call `f`."""
    made: dict[str, Any] = {}
    exec(statements, made)
    if "f" not in made:
        raise ValueError(f"The statements must define f: {statements}")
    return Function(made["f"])
