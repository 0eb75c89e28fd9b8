"""tensorflow.python.util.tf_export: decorators that mark public names. Here names are public by being in a tf.X module."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Sequence
from typing import Any

ESTIMATOR_API_NAME, KERAS_API_NAME, TENSORFLOW_API_NAME = "estimator", "keras", "tensorflow"
_APIS = (TENSORFLOW_API_NAME, ESTIMATOR_API_NAME, KERAS_API_NAME)


class SymbolAlreadyExposedError(Exception):
    """A function or class was marked with public names twice."""


class InvalidSymbolNameError(Exception):
    """A public name that belongs to another part of the interface: `estimator.X` is estimator_export's."""


def _attribute(api_name: str, what: str, version: int) -> str:
    """The attribute of marked functions, and of modules with marked constants, that tools look at."""
    return f"_{'tf' if api_name == TENSORFLOW_API_NAME else api_name}_api_{what}" + ("_v1" if version == 1 else "")


class api_export:
    """Decorator that keeps the public names it is given on a function or class, for tools that ask for them.

    Args:
        *args: the names.
        v1: the names in version 1, where they are others.
        overrides: functions whose names these are until now.
        allow_multiple_exports: whether what is marked may be marked already.
        api_name: "tensorflow", or "estimator" and "keras", whose names begin so.

    Raises:
        InvalidSymbolNameError: a name of another part.
        SymbolAlreadyExposedError: what is decorated has names already.
    """

    def __init__(self, *args: str, **kwargs: Any):
        self._api_name = kwargs.get("api_name", TENSORFLOW_API_NAME)
        self._names = args
        self._names_v1 = kwargs.get("v1", args)
        self._overrides = kwargs.get("overrides", [])
        self._allow_multiple_exports = kwargs.get("allow_multiple_exports", False)
        parts = (ESTIMATOR_API_NAME, KERAS_API_NAME)
        for name in {*self._names, *self._names_v1}:
            part = name.partition(".")[0] if name.partition(".")[0] in parts else TENSORFLOW_API_NAME
            if part != self._api_name and not (self._api_name == KERAS_API_NAME and part == TENSORFLOW_API_NAME):
                raise InvalidSymbolNameError(
                    f"{name!r} is a name of {part}, and is marked as one of {self._api_name}: use {part}_export."
                )

    def __call__(self, func: Any) -> Any:
        for overridden in self._overrides:
            inner = inspect.unwrap(overridden)
            for version in (1, 2):
                with contextlib.suppress(AttributeError):  # it may have no names
                    delattr(inner, _attribute(self._api_name, "names", version))
        inner = inspect.unwrap(func)
        for names, version in ((self._names, 2), (self._names_v1, 1)):
            attribute = _attribute(self._api_name, "names", version)
            if not self._allow_multiple_exports and attribute in vars(inner):
                raise SymbolAlreadyExposedError(
                    f"{func.__name__} is public already, as {vars(inner)[attribute]}; {names} came second."
                )
            setattr(inner, attribute, names)
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Keep the public names of a constant on its module."""
        module = sys.modules[module_name]
        for names, version in ((self._names, 2), (self._names_v1, 1)):
            attribute = _attribute(self._api_name, "constants", version)
            if attribute not in vars(module):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def _kept(on: Any, what: str, version: int) -> list:
    """What marks of all parts of the interface say of a function, or of a module's constants."""
    on = on if inspect.ismodule(on) else inspect.unwrap(on)
    own = getattr(on, "__dict__", {})
    return [entry for api in _APIS for entry in own.get(_attribute(api, what, version), ())]


def get_v1_names(symbol: Any) -> list[str]:
    """The public names in version 1 that a function or class was marked with."""
    return _kept(symbol, "names", 1)


def get_v2_names(symbol: Any) -> list[str]:
    """The public names in version 2 that a function or class was marked with."""
    return _kept(symbol, "names", 2)


def get_v1_constants(module: Any) -> list[tuple[tuple[str, ...], str]]:
    """[(public names, name)] of a module's marked constants, in version 1."""
    return _kept(module, "constants", 1)


def get_v2_constants(module: Any) -> list[tuple[tuple[str, ...], str]]:
    """[(public names, name)] of a module's marked constants, in version 2."""
    return _kept(module, "constants", 2)


def get_canonical_name(api_names: Sequence[str], deprecated_api_names: Sequence[str]) -> str | None:
    """The first of the names that isn't going away, or the first of all."""
    staying = (name for name in api_names if name not in deprecated_api_names)
    return next(staying, api_names[0] if api_names else None)


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False
) -> str | None:
    """The name by which a marked function or class should be called; None where it has no mark.

    With `add_prefix_to_v1_names` one that version 1 alone has is `compat.v1.` and its name.
    """
    inner = inspect.unwrap(symbol)
    own = getattr(inner, "__dict__", {})
    old = own.get("_tf_deprecated_api_names", ())
    if (name := get_canonical_name(own.get(_attribute(api_name, "names", 2), ()), old)) is not None:
        return name
    name = get_canonical_name(own.get(_attribute(api_name, "names", 1), ()), old)
    return f"compat.v1.{name}" if name is not None and add_prefix_to_v1_names else name


def kwarg_only(f):
    """A function that takes its arguments by name only; TypeError for others."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args: {', '.join(inspect.signature(f).parameters)}.")
        return f(**kwargs)

    return wrapper
