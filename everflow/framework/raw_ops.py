"""A function for every op type, made from its definition when first touched: `raw_ops.MatMul(a=x, b=y)`."""

from __future__ import annotations

import inspect
import keyword
import typing  # not `Any` from it: that is an op type
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from everflow.framework import op_defs
from everflow.framework.builder import create, structured_outputs
from everflow.framework.scopes import get_default_graph

if TYPE_CHECKING:
    from everflow.framework.op_defs import OpDef
    from everflow.framework.operation import Operation


def _python_name(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _parameters(definition: OpDef) -> tuple[list[str], list[tuple[str, typing.Any]]]:
    """Names in TensorFlow's order: inputs, attributes to be given, attributes with a default, name."""
    inferred = definition.inferred_attrs()
    free = [a for a in definition.attrs if a.name not in inferred]
    required = [_python_name(a.name) for a in definition.inputs] + [
        _python_name(a.name) for a in free if not a.has_default
    ]
    return required, [(_python_name(a.name), a.default) for a in free if a.has_default]


def make_function(definition: op_defs.OpDef) -> Callable[..., typing.Any]:
    """The build function of one op type."""
    required, optional = _parameters(definition)
    names = required + [n for n, _ in optional]
    originals = {_python_name(n): n for n in [a.name for a in definition.inputs] + [a.name for a in definition.attrs]}

    renamed = any(python != original for python, original in originals.items())

    def build(*args: typing.Any, name: str | None = None, **kwargs: typing.Any) -> typing.Any:
        if len(args) == len(names) + 1:  # the name, by position
            args, name = args[:-1], args[-1]
        graph = get_default_graph()
        if graph.executes:
            return graph.call(definition, args, kwargs, make, name)
        return structured_outputs(definition, make(args, name, kwargs))

    def make(args: Sequence[typing.Any], name: str | None, kwargs: Mapping[str, typing.Any]) -> Operation:
        if len(args) > len(names):
            raise TypeError(f"{definition.name}() takes at most {len(names)} arguments ({len(args)} given)")
        keywords = dict(zip(names, args))
        for key, value in kwargs.items():
            if key in keywords:
                raise TypeError(f"{definition.name}() got multiple values for argument '{key}'")
            keywords[key] = value
        if renamed:
            keywords = {originals.get(k, k): v for k, v in keywords.items()}
        return create(definition, name, keywords)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(n, kind) for n in required]
    parameters += [inspect.Parameter(n, kind, default=d) for n, d in optional]
    parameters.append(inspect.Parameter("name", kind, default=None))
    build.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    build.__name__ = build.__qualname__ = definition.name
    build.__doc__ = f"Make a `{definition.name}` op."
    return build


def __getattr__(name: str) -> Callable[..., typing.Any]:
    definition = op_defs.find(name) if not name.startswith("_") else None
    if definition is None:
        raise AttributeError(f"There is no op type {name!r}")
    function = globals()[name] = make_function(definition)
    return function


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(op_defs.names()))
