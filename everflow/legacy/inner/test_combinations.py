"""tensorflow.python.framework.test_combinations: tests that run once for each combination of parameters."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import itertools
import re
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Combination = collections.OrderedDict
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+")


class TestCombination:
    """What a kind of parameter means for a test: whether it runs, in which contexts, and what it is given."""

    __test__ = False

    def should_execute_combination(self, kwargs: Mapping[str, Any]) -> tuple[bool, str | None]:
        """(whether to run the test with these arguments, why not)."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """What changes arguments before the test gets them."""
        return []

    def context_managers(self, kwargs: Mapping[str, Any]) -> list[contextlib.AbstractContextManager]:
        """The contexts that the test runs in."""
        return []


class ParameterModifier:
    """Changes an argument of a test."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Mapping[str, Any], requested_parameters: Iterable[str]) -> dict[str, Any]:
        """The arguments that are to be other than they are."""
        return {}


class OptionalParameter(ParameterModifier):
    """A parameter that tests may take or leave."""

    def modified_arguments(self, kwargs: Mapping[str, Any], requested_parameters: Iterable[str]) -> dict[str, Any]:
        """Leave the argument away where the test doesn't take it."""
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}


class NamedObject:
    """A thing with a name to show in the names of tests."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[Combination]:
    """Every combination of one of each parameter's values, a list of dictionaries; a single value needs no list.

    >>> combine(a=[1, 2], b=3)
    [OrderedDict({'a': 1, 'b': 3}), OrderedDict({'a': 2, 'b': 3})]
    """
    choices = [
        [(name, value) for value in (values if isinstance(values, list) else [values])]
        for name, values in sorted(kwargs.items())
    ]
    return [Combination(chosen) for chosen in itertools.product(*choices)]


def times(*combined: list[Combination]) -> list[Combination]:
    """Every combination of one of each list; they must not have parameters in common."""
    assert combined
    made = []
    for parts in itertools.product(*combined):
        names = [name for part in parts for name in part]
        if len(set(names)) != len(names):
            raise ValueError(f"Combinations to be multiplied have parameters in common: {sorted(names)}")
        made.append(Combination(item for part in parts for item in part.items()))
    return made


def generate(combinations: list[Combination], test_combinations: Iterable[TestCombination] = ()) -> Callable:
    """Decorator of a test method, or of a class whose test methods all get it: a method for each combination, named
    by its arguments.
    """

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            for name, value in list(vars(test).items()):
                if name.startswith("test") and isinstance(value, types.FunctionType):
                    setattr(test, name, decorate(value))
            return expanded(test)
        return _Generated(test, combinations, tuple(test_combinations))

    return decorate


class _Generated:
    """Stands for a test method until its class is made, and puts one for each combination in its place."""

    def __init__(self, test: Callable, combinations: list[Combination], kinds: tuple[TestCombination, ...]) -> None:
        self._test, self._combinations, self._kinds = test, combinations, kinds

    def __set_name__(self, owner: type, name: str) -> None:
        delattr(owner, name)
        for combination in self._combinations:
            label = "_".join(
                f"{_letters(key, place)}_{_letters(value, place)}"
                for place, (key, value) in enumerate(combination.items())
            )
            method = _with_arguments(self._test, combination, self._kinds)
            method.__name__ = f"{name}_test_{label}"
            setattr(owner, method.__name__, method)


def expanded(owner: type) -> type:
    """A class whose methods were decorated after it was made, with the methods that stand for them."""
    for name, value in list(vars(owner).items()):
        if isinstance(value, _Generated):
            value.__set_name__(owner, name)
    return owner


def _letters(value: Any, place: int) -> str:
    """A value in the name of a test: its letters, with the argument's place for addresses, which differ from run to run."""
    return "".join(letter for letter in _ADDRESS.sub(str(place), str(value)) if letter.isalnum())


def _with_arguments(test: Callable, combination: Combination, kinds: tuple[TestCombination, ...]) -> Callable:
    wanted = list(inspect.signature(test).parameters)[1:]

    @functools.wraps(test)
    def run(self: Any) -> None:
        for kind in kinds:
            wanted_at_all, reason = kind.should_execute_combination(dict(combination))
            if not wanted_at_all:
                self.skipTest(reason)
        given = dict(combination)
        modifiers = [modifier for kind in kinds for modifier in kind.parameter_modifiers()]
        for modifier in modifiers:
            given.update(modifier.modified_arguments(combination, wanted))
        with contextlib.ExitStack() as contexts:
            for kind in kinds:
                for context in kind.context_managers(dict(combination)):
                    contexts.enter_context(context)
            test(self, **{k: v for k, v in given.items() if v is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST})

    run.__dict__.pop("__wrapped__", None)
    return run
