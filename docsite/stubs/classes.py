"""Classes as stubs write them: under public bases only, with what they have from bases that aren't public, and with the
attributes that their methods set.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from docsite.stubs import parameters, results
from docsite.stubs.homes import homes
from docsite.stubs.sources import class_source
from docsite.stubs.types_of import ANY, of_value

Render = Callable[[str], str]
# Bases that come from elsewhere, as `_typing.pyi` calls them.
_FOREIGN = {
    "unittest.case.TestCase": "TestCase",
    "collections.OrderedDict": "OrderedDict",
    "enum.Enum": "Enum",
    "enum.IntEnum": "IntEnum",
}
# The special methods that programs reach by what they write; others are as every object has them.
_SPECIAL = frozenset(
    f"__{name}__"
    for name in """
    call len getitem setitem delitem iter next contains enter exit add radd sub rsub mul rmul truediv rtruediv div rdiv floordiv
    rfloordiv mod rmod pow rpow matmul rmatmul neg pos abs invert and rand or ror xor rxor lt le gt ge int float index bool array
    getattr
    """.split()
)
# Methods that programs write again with arguments of their own.
_OVERRIDDEN = frozenset(["call", "build", "_call", "__call__"])
# Of classes whose attributes are what programs make them.
_OPEN = ["def __getattr__(self, name: str) -> Any: ...", "def __setattr__(self, name: str, value: Any) -> None: ..."]
# Members that instances have at run time by other ways than their classes.
_ADDED = {
    "Tensor": ["def numpy(self) -> Any: ...", "def __float__(self) -> float: ...", "def __int__(self) -> int: ..."],
    "Variable": ["def numpy(self) -> Any: ...", "def __getattr__(self, name: str) -> Any: ..."],
    **dict.fromkeys(["train.Checkpoint", "contrib.checkpoint.NumpyState", "contrib.training.HParams"], _OPEN),
}
# Results of methods that their source doesn't show.
_RESULTS = {
    r"(Tensor|Variable)\.__(?!iter|len|bool|array|contains|getattr|enter|exit)\w+__": "<Tensor>",
    r"(Tensor|Variable)\.__iter__": "Iterator[<Tensor>]",
    r"train\.Optimizer\.(minimize|apply_gradients)": "<Operation>",
    r"train\.Optimizer\.compute_gradients": "list[tuple[Any, Any]]",
    r"variable_scope\.__enter__": "<VariableScope>",
    r"data\.Dataset\.(apply|batch|cache|concatenate|enumerate|filter|flat_map|from_\w+|interleave|list_files|map|padded_batch"
    r"|prefetch|range|repeat|shard|shuffle|skip|take|unbatch|window|with_options|zip|filter_with_legacy_function"
    r"|map_with_legacy_function)": "<data.Dataset>",
    r"data\.Dataset\.make_\w+_iterator": "<data.Iterator>",
    r"keras\.Model\.(fit|fit_generator)": "Any",
    r"\w+(\.\w+)*\.__call__": "Any",
}


def written(cls: type, name: str, render: Render) -> Iterator[str]:
    """The lines of a class."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        yield from _named_tuple(cls, name, render)
        return
    bases = ", ".join(render(base) for base in _bases(cls))
    yield f"class {name}({bases}):" if bases else f"class {name}:"
    yield from (f"    {line}" for line in _body(cls, render) or ["..."])
    yield ""


def _bases(cls: type) -> list[str]:
    """The nearest public classes above, and builtin ones."""
    found: dict[type, str] = {}
    for base in cls.__bases__:
        _collect(base, found)
    return [
        text
        for base, text in found.items()
        if not any(base is not other and issubclass(other, base) for other in found)
    ]


def _collect(base: type, found: dict[type, str]) -> None:
    qualified = f"{base.__module__}.{base.__qualname__}"
    if id(base) in homes():
        found[base] = f"<{homes()[id(base)]}>"
    elif qualified in _FOREIGN:
        found[base] = _FOREIGN[qualified]
    elif base.__module__ == "builtins" and base is not object:
        found[base] = (
            f"{base.__name__}[Any, Any]"
            if base is dict
            else f"{base.__name__}[Any]"
            if base in (list, set)
            else base.__name__
        )
    else:
        for above in base.__bases__:
            _collect(above, found)


def _own_classes(cls: type) -> list[type]:
    """A class and those above it whose members its public bases don't have."""
    public = [c for c in cls.__mro__[1:] if id(c) in homes() or c.__module__ in ("builtins", "unittest.case")]
    above = {c for base in public for c in base.__mro__}
    return [c for c in cls.__mro__ if c is cls or c not in above and c.__module__.startswith("everflow")]


def _named_tuple(cls: type, name: str, render: Render) -> Iterator[str]:
    signature = parameters.signature_of(cls)
    yield f"class {name}({render('NamedTuple')}):"
    for field in cls._fields:  # type: ignore[attr-defined]
        given = signature.parameters.get(field)
        text = f"    {field}: {render(ANY)}"
        if field in getattr(cls, "_field_defaults", {}) or given is not None and given.default is not given.empty:
            text += " = ..."
        yield text
    for member, value in sorted(_members(cls).items()):
        if isinstance(value, property | types.FunctionType) and member not in (
            *cls._fields,
            "_replace",
            "_asdict",
            "_make",
        ):  # type: ignore[attr-defined]
            yield from (f"    {line}" for line in _member(cls, member, value, render))
    yield ""


def _members(cls: type) -> dict[str, Any]:
    """What a class has that its public bases don't, outermost definition last."""
    found: dict[str, Any] = {}
    for owner in reversed(_own_classes(cls)):
        for name, value in vars(owner).items():
            if name.startswith("__") and name not in _SPECIAL or not name.isidentifier():
                continue
            found[name] = value
    return found


def _body(cls: type, render: Render) -> list[str]:
    lines = []
    members = dict(sorted(_members(cls).items()))
    if issubclass(cls, enum.Enum):
        members = {name: value for name, value in members.items() if not name.startswith("_")}
    else:
        lines += _attributes(cls, members, render)
        lines += _constructor(cls, render)
    for name, value in members.items():
        lines += _member(cls, name, value, render)
    added = [line.replace("Any", render(ANY)) for line in _ADDED.get(homes().get(id(cls), ""), [])]
    return lines + [line for line in added if line.split("(")[0].removeprefix("def ") not in members]


def _constructor(cls: type, render: Render) -> list[str]:
    owners = _own_classes(cls)
    if not any("__init__" in vars(c) or "__new__" in vars(c) for c in owners):
        return []
    signature = parameters.signature_of(cls)
    if {p.kind for p in signature.parameters.values()} <= {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }:
        signature = parameters.signature_of(functools.partial(cls.__init__, None))  # type: ignore[misc]
    text = parameters.written(signature, inspect.unwrap(cls.__init__), render, False, first="self")  # type: ignore[misc]
    return [f"def __init__({text}) -> None: ..."]


def _member(cls: type, name: str, value: Any, render: Render) -> list[str]:
    if isinstance(value, property | functools.cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        result = render(results.of_function(getter, cls)) if getter is not None else render(ANY)
        lines = ["@property", f"def {name}(self) -> {result}: ..."]
        if isinstance(value, property) and value.fset is not None:
            lines += [f"@{name}.setter", f"def {name}(self, value: {render(ANY)}) -> None: ..."]
        return lines
    if isinstance(value, staticmethod | classmethod):
        kind = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        first = "" if isinstance(value, staticmethod) else "cls"
        return [f"@{kind}", _method(cls, name, value.__func__, first, render)]
    if inspect.isfunction(value):
        return [_method(cls, name, value, "self", render)]
    if isinstance(value, type):
        return [f"{name}: type[{render(ANY)}]"] if not name.startswith("_") else []
    if isinstance(value, enum.Enum) or issubclass(cls, enum.Enum) and not name.startswith("_"):
        return [f"{name} = ..."]
    return [f"{name}: {render(_plain(value))}"] if not name.startswith("__") else []


def _plain(value: Any) -> str:
    text = of_value(value)
    return text if text in ("str", "int", "float", "bool") or text == "<DType>" else ANY


def _method(cls: type, name: str, function: Any, first: str, render: Render) -> str:
    path = f"{homes().get(id(cls), '')}.{name}"
    known = next((text for pattern, text in _RESULTS.items() if re.fullmatch(pattern, path)), None)
    result = known or results.of_function(function, cls if first else None)
    if name in _OVERRIDDEN:
        signature = parameters.signature_of(lambda *args, **kwargs: None)
        text = parameters.written(signature, function, render, False, first=first)
        return f"def {name}({text}) -> {render(ANY)}: ..."
    text = parameters.written(parameters.signature_of(function), function, render, False, skip=bool(first), first=first)
    if name == "__enter__" and result == ANY:
        result = "Self"
    return f"def {name}({text}) -> {render('None' if name == '__exit__' else result)}: ..."


def _attributes(cls: type, members: dict[str, Any], render: Render) -> list[str]:
    """What methods set on `self`, and annotations in the class."""
    found: set[str] = set()
    for owner in _own_classes(cls):
        module = inspect.getmodule(owner)
        node = class_source(owner, getattr(module, "__file__", None))
        for inner in ast.walk(node) if node is not None else ():
            if (
                isinstance(inner, ast.Attribute)
                and isinstance(inner.ctx, ast.Store)
                and getattr(inner.value, "id", "") == "self"
            ):
                found.add(inner.attr)
            elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                found.add(inner.target.id)
    inherited = {name for base in cls.__mro__[1:] if id(base) in homes() for name in dir(base)}
    return [f"{name}: {render(ANY)}" for name in sorted(found - set(members) - inherited) if not name.startswith("__")]
