"""What a function returns, read off its source: op functions make tensors, calls return what the functions they call
return, arithmetic on tensors gives tensors. What can't be seen so is Any.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import everflow as tf
from docsite.stubs.sources import function_source
from docsite.stubs.types_of import ANY, alternatives, of_annotation, of_class, of_value, resolve, split, union
from everflow.framework import op_defs

TENSOR, OPERATION = "<Tensor>", "<Operation>"
_UNKNOWN = frozenset([ANY])
_RAW_OPS = ("everflow.framework.raw_ops", "everflow.raw_ops")
# What is a tensor once there is arithmetic on it.
_ACTS_AS_TENSOR = {TENSOR, "<Variable>"}

# How deep calls are followed with what they are given.
_DEPTH = 6

_known: dict[tuple, str] = {}
_open: list[Callable] = []


class Given(NamedTuple):
    """What is known of an argument: its types, and its value where that is known before the function runs."""

    types: frozenset[str] = _UNKNOWN
    value: Any = inspect.Parameter.empty

    @property
    def key(self) -> tuple:
        plain = isinstance(self.value, str | int | None)
        return self.types, self.value if plain else id(self.value)


def of_op(definition: op_defs.OpDef) -> str:
    """What the function of an op type returns."""
    outputs = ["list[<Tensor>]" if out.is_list else TENSOR for out in definition.outputs]
    if not outputs:
        return OPERATION
    return outputs[0] if len(outputs) == 1 else ANY


def of_function(function: Any, owner: type | None = None, given: Mapping[str, Given] = MappingProxyType({})) -> str:
    """The type of a function's result, called with what is known of some arguments; of a method's, if it is called on an
    instance of `owner`.
    """
    function = getattr(function, "__func__", function)
    if isinstance(function, functools.partial):
        return of_function(function.func)
    unwrapped = inspect.unwrap(function)
    if _is_context_manager(function):
        return "AbstractContextManager[Any]"
    if getattr(unwrapped, "__module__", None) in _RAW_OPS and op_defs.find(unwrapped.__name__):
        return of_op(op_defs.find(unwrapped.__name__))
    if not isinstance(unwrapped, types.FunctionType):
        return ANY
    key = (unwrapped, owner, tuple((name, argument.key) for name, argument in given.items()))
    if key not in _known:
        if unwrapped in _open or len(_open) > _DEPTH:
            return ANY
        _open.append(unwrapped)
        _known[key] = _annotated(unwrapped) or _from_source(unwrapped, owner, given)
        _open.pop()
    return _known[key]


def _is_context_manager(function: Any) -> bool:
    """Whether `contextlib.contextmanager` made it."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename == contextlib.__file__


def _annotated(function: Callable) -> str | None:
    annotation = getattr(function, "__annotations__", {}).get("return", inspect.Parameter.empty)
    if annotation is inspect.Parameter.empty:
        return None
    # As in `result_of`: programs of the time don't ask whether a size is None.
    return of_annotation(annotation, function).replace(" | None", f" | {ANY}")


def _from_source(function: types.FunctionType, owner: type | None, given: Mapping[str, Given]) -> str:
    node = function_source(function)
    if node is None:
        return ANY
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return "Iterator[Any]"
    body = _Body(function, node, owner, given)
    statements = list(_own(node))
    returned = [s.value for s in statements if isinstance(s, ast.Return) and s.value is not None]
    if not returned:
        return ANY if isinstance(node.body[-1], ast.Raise | ast.Pass) or _is_abstract(node) else "None"
    return result_of(frozenset().union(*(body.types(value) for value in returned)))


def result_of(found: frozenset[str]) -> str:
    """One type of all that a function may return. None beside something else would have programs check for it, a sparse
    tensor or list that comes of special arguments would refuse what a tensor can do, and editors complete nothing where
    a part is unknown: all of these give way.
    """
    known = found - {ANY, "None"}
    if TENSOR in known:
        known = frozenset([TENSOR])
    if len(known) > 1:
        return ANY
    if not known:
        return "None" if found == {"None"} else ANY
    (text,) = known
    return text if text.startswith("<") or ANY not in found else ANY


def _is_abstract(node: ast.FunctionDef) -> bool:
    """Whether there is nothing but a docstring."""
    return all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in node.body)


def _own(node: ast.FunctionDef) -> Iterator[ast.AST]:
    """The statements of a function without those of functions inside of it."""
    waiting: list[ast.AST] = list(reversed(node.body))
    while waiting:
        found = waiting.pop()
        yield found
        if not isinstance(found, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(reversed([c for c in ast.iter_child_nodes(found) if not isinstance(c, ast.expr)]))


class _Body:
    """The types of expressions in a function's body."""

    def __init__(
        self, function: types.FunctionType, node: ast.FunctionDef, owner: type | None, given: Mapping[str, Given]
    ) -> None:
        self._function = function
        self._owner = owner
        self._given = given
        self._locals: dict[str, set[str]] = {}
        parameters = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        self._parameters = {name: self._parameter(name) for name in parameters}
        if owner is not None and parameters:
            self._parameters[parameters[0]] = frozenset(["Self"])
        for statement in _own(node):
            self._assign(statement)

    def _parameter(self, name: str) -> frozenset[str]:
        if name in self._given:
            return self._given[name].types
        annotation = self._function.__annotations__.get(name, inspect.Parameter.empty)
        return frozenset(alternatives(of_annotation(annotation, self._function)))

    def _assign(self, statement: ast.AST) -> None:
        if isinstance(statement, ast.FunctionDef):
            self._locals.setdefault(statement.name, set()).add("Callable[..., Any]")
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._bind(target, self.types(statement.value))
        elif isinstance(statement, ast.For):
            self._bind(statement.target, _UNKNOWN)
        elif isinstance(statement, ast.With):
            for item in statement.items:
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, _UNKNOWN)

    def _bind(self, target: ast.expr, found: frozenset[str]) -> None:
        if isinstance(target, ast.Name):
            self._locals.setdefault(target.id, set()).update(found)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = _elements(found, len(target.elts))
            for part, element in zip(target.elts, parts):
                self._bind(part, frozenset(alternatives(element)))

    def types(self, node: ast.expr) -> frozenset[str]:
        """What an expression may be."""
        match node:
            case ast.Constant(value=value):
                return frozenset([of_value(value)])
            case ast.JoinedStr():
                return frozenset(["str"])
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.IfExp():
                return self.types(node.body) | self.types(node.orelse)
            case ast.BoolOp():
                return frozenset().union(*map(self.types, node.values))
            case ast.UnaryOp(op=ast.Not()):
                return frozenset(["bool"])
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                return self._arithmetic(node)
            case ast.Subscript():
                return _item(self.types(node.value))
            case ast.Tuple(elts=elements) if elements and not any(isinstance(e, ast.Starred) for e in elements):
                return frozenset([f"tuple[{', '.join(union(sorted(self.types(e))) for e in elements)}]"])
            case ast.ListComp() | ast.List():
                return frozenset([self._list(node)])
            case ast.Dict() | ast.DictComp():
                return frozenset(["dict[Any, Any]"])
            case ast.Lambda():
                return frozenset(["Callable[..., Any]"])
        return _UNKNOWN

    def _name(self, name: str) -> frozenset[str]:
        if name in self._locals:
            return frozenset(self._locals[name])
        if name in self._parameters:
            return self._parameters[name]
        with contextlib.suppress(LookupError):
            return frozenset([of_value(resolve(ast.Name(id=name), self._function))])
        return _UNKNOWN

    def _list(self, node: ast.ListComp | ast.List) -> str:
        parts = [node.elt] if isinstance(node, ast.ListComp) else node.elts
        found = frozenset().union(*map(self.types, parts)) if parts else _UNKNOWN
        return f"list[{union(sorted(found))}]"

    def _static(self, node: ast.expr) -> Any:
        """What an expression is before the function runs: names of the module, their attributes, `getattr` of those."""
        if isinstance(node, ast.Name) and (node.id in self._locals or node.id in self._parameters):
            value = self._given[node.id].value if node.id in self._given else inspect.Parameter.empty
            if value is inspect.Parameter.empty or node.id in self._locals:
                raise LookupError(node.id)
            return value
        if isinstance(node, ast.JoinedStr):
            return "".join(
                str(self._static(getattr(part, "value", part))) if isinstance(part, ast.FormattedValue) else part.value
                for part in node.values
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            return getattr(self._static(node.args[0]), str(self._static(node.args[1])), None)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            self._static(node.value)
        return resolve(node, self._function)

    def _call(self, node: ast.Call) -> frozenset[str]:
        try:
            called = self._static(node.func)
        except LookupError:
            if isinstance(node.func, ast.Attribute):
                return self._method(self.types(node.func.value), node.func.attr)
            return _UNKNOWN
        if isinstance(called, type):
            return frozenset([of_class(called)])
        if isinstance(called, types.FunctionType):
            return frozenset(alternatives(of_function(called, given=self._arguments(called, node))))
        if inspect.isroutine(called) or isinstance(called, functools.partial):
            return frozenset(alternatives(of_function(called)))
        return _UNKNOWN

    def _arguments(self, called: types.FunctionType, node: ast.Call) -> dict[str, Given]:
        """What is known of the arguments of a call."""
        code = inspect.unwrap(called).__code__
        names = code.co_varnames[: code.co_argcount]
        pairs = list(zip(names, node.args)) + [(k.arg, k.value) for k in node.keywords if k.arg]
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            pairs = []
        found = {}
        for name, argument in pairs:
            given = Given(self.types(argument), self._value(argument))
            if given != Given():
                found[name] = given
        return found

    def _value(self, node: ast.expr) -> Any:
        try:
            return self._static(node)
        except LookupError:
            return inspect.Parameter.empty

    def _method(self, owners: frozenset[str], name: str) -> frozenset[str]:
        found: set[str] = set()
        for owner in owners:
            cls = self._owner if owner == "Self" else class_of(owner)
            method = inspect.getattr_static(cls, name, None) if cls is not None else None
            method = getattr(method, "__func__", method)
            result = of_function(method, cls) if isinstance(method, types.FunctionType) else ANY
            found.update(alternatives(result.replace("Self", owner)))
        return frozenset(found)

    def _attribute(self, node: ast.Attribute) -> frozenset[str]:
        found: set[str] = set()
        for owner in self.types(node.value):
            cls = self._owner if owner == "Self" else class_of(owner)
            member = inspect.getattr_static(cls, node.attr, None) if cls is not None else None
            found.update(alternatives(of_function(member.fget, cls)) if isinstance(member, property) else [ANY])
        return frozenset(found)

    def _arithmetic(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[str]:
        parts = [getattr(node, field, None) for field in ("left", "right", "operand")]
        found = frozenset().union(*(self.types(part) for part in parts if part is not None))
        if found & _ACTS_AS_TENSOR:
            return frozenset([TENSOR])
        if isinstance(node, ast.Compare):
            return (
                frozenset(["bool"])
                if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
                else _UNKNOWN
            )
        return found if found <= {"int", "float", "str"} and len(found) == 1 else _UNKNOWN


def class_of(text: str) -> type | None:
    """The class that a type's text names."""
    if not text.startswith("<") or ":" in text:
        return None
    found: Any = tf
    for part in text[1:-1].split("."):
        found = getattr(found, part)
    return found


def _elements(found: frozenset[str], count: int) -> list[str]:
    if len(found) == 1 and (text := next(iter(found))).startswith("tuple["):
        parts = split(text[6:-1], ",")
        if len(parts) == count:
            return parts
    return [ANY] * count


def _item(found: frozenset[str]) -> frozenset[str]:
    """What an item or a slice is."""
    results = set()
    for text in found:
        if text == TENSOR:
            results.add(TENSOR)
        elif text.startswith("list["):
            results.update(alternatives(text[5:-1]))
        else:
            results.add(ANY)
    return frozenset(results)
