"""`pyct.parser` and `pyct.inspect_utils`: from functions to trees, from trees to source, and what can be asked of
functions on the way.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
import textwrap
import types

from everflow.legacy.inner.autograph import trees

SPECIAL_BUILTINS = {
    name: getattr(builtins, name)
    for name in ("dict", "enumerate", "float", "int", "len", "list", "print", "range", "tuple", "type", "zip")
}
# Features that every Python here has anyway; trees are parsed with what was asked for.
STANDARD_PREAMBLE = "\nfrom __future__ import division\nfrom __future__ import print_function\n"
STANDARD_PREAMBLE_LEN = 2


def parse_entity(entity, future_features):
    """(the tree of a function, class or method, its source below what it wants of `__future__`); for a lambda, of the
    statement that it is in.
    """
    try:
        source = getimmediatesource(entity)
    except OSError as no_source:
        raise ValueError(f"{entity!r}: its source isn't known, say because it was typed into a shell") from no_source
    source = textwrap.dedent(source)
    imports = "".join(f"from __future__ import {name}\n" for name in future_features)
    source = imports + source
    return parse_str(source, preamble_len=len(future_features)), source


def parse_str(src, preamble_len=0, single_node=True):
    """The tree of some source: of its one statement, or with `single_node` False of all of them."""
    body = trees.from_python(ast.parse(src)).body[preamble_len:]
    if not single_node:
        return body
    if len(body) != 1:
        raise ValueError(f"one statement is wanted, there are {len(body)}")
    return body[0]


def parse_expression(src):
    """The tree of an expression."""
    src = STANDARD_PREAMBLE + src.strip()
    found = parse_str(src, preamble_len=STANDARD_PREAMBLE_LEN, single_node=False)
    if len(found) != 1 or type(found[0]).__name__ != "Expr":
        raise ValueError(f"one expression is wanted: {src.strip()!r}")
    return found[0].value


def ast_to_source(node, indentation="  ", include_encoding_marker=True):
    """The source that a tree, or a list of them, stands for."""
    made = [
        ast.fix_missing_locations(statement)
        for statement in trees.to_python(node if isinstance(node, (list, tuple)) else [node])
    ]
    text = "\n".join(map(ast.unparse, made)) + "\n"
    lines = [_reindented(line, indentation) for line in text.splitlines(keepends=True)]
    return ("# coding=utf-8\n" if include_encoding_marker else "") + "".join(lines)


def _reindented(line, indentation):
    depth = (len(line) - len(line.lstrip(" "))) // 4
    return indentation * depth + line[4 * depth :]


def islambda(f):
    """Whether it was made by a lambda expression."""
    return isinstance(f, types.FunctionType) and f.__code__.co_name == "<lambda>"


def isnamedtuple(f):
    """Whether it is a class of named tuples."""
    return (
        inspect.isclass(f)
        and issubclass(f, tuple)
        and hasattr(f, "_fields")
        and all(isinstance(n, str) for n in f._fields)
    )


def isbuiltin(f):
    """Whether it is one of Python's built-in functions or types."""
    return inspect.isbuiltin(f) or any(f is known for known in vars(builtins).values())


def getfutureimports(entity):
    """The features of `__future__` that the module of a function asked for."""
    if not (inspect.isfunction(entity) or inspect.ismethod(entity)):
        return ()
    features = entity.__globals__.items()
    return tuple(
        sorted(
            name
            for name, value in features
            if getattr(value, "__class__", None) is __future__._Feature and hasattr(__future__, name)
        )
    )


def getnamespace(f):
    """{name: value} of what a function sees from outside."""
    inside = dict(f.__globals__)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        try:
            inside[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return inside


def getqualifiedname(namespace, object_, max_depth=5, visited=None):
    """How something can be written in a namespace: `"np"`, `"np.linalg"`; None where it can't be reached."""
    for name, value in list(namespace.items()):
        if value is object_:
            return name
    if max_depth == 0 or (parent := inspect.getmodule(object_)) is None or parent is object_:
        return None
    seen = set() if visited is None else visited
    for name, value in list(namespace.items()):
        if isinstance(value, types.ModuleType) and id(value) not in seen:
            seen.add(id(value))
            inside = getqualifiedname(vars(value), object_, max_depth - 1, seen)
            if inside is not None:
                return f"{name}.{inside}"
    return None


def getdefiningclass(m, owner_class):
    """The class among a class's ancestors that a method comes from."""
    method = getattr(m, "__func__", m)
    for ancestor in inspect.getmro(owner_class):
        if getattr(vars(ancestor).get(m.__name__), "__func__", vars(ancestor).get(m.__name__)) is method:
            return ancestor
    return owner_class


def getmethodself(m):
    """What a method is bound to."""
    return getattr(m, "__self__", None)


def getmethodclass(m):
    """The class that a method is of; None for other functions. What is called like a function
    has the class that it is of.
    """
    if not hasattr(m, "__name__") and callable(m):
        return type(m)
    owner = getmethodself(m)
    if owner is None and inspect.isfunction(m):
        owner = _lexical_class(m)
    if owner is None or isinstance(owner, types.ModuleType):
        return None
    return owner if inspect.isclass(owner) else type(owner)


def _lexical_class(function):
    """The class in whose body a function stands, where its qualified name tells."""
    *path, _ = function.__qualname__.split(".")
    found = None
    for part in path:
        found = function.__globals__.get(part) if found is None else getattr(found, part, None)
    return found if inspect.isclass(found) else None


def istfmethodtarget(m):
    """Whether what a method is bound to only stands for the object, as `tf.function` has it."""
    return hasattr(getmethodself(m), "weakrefself_target__")


def getimmediatesource(obj):
    """The source of this object alone, not of what it wraps."""
    lines, first = inspect.findsource(obj)
    return "".join(inspect.getblock(lines[first:]))
