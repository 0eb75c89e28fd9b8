"""A Python function converted so that its branches and loops work on tensors: its source is rewritten and compiled
again.

Python values go through the rewritten function as they went through the old one; what is decided by a tensor becomes
`tf.cond` and `tf.while_loop` (see `operators`).
"""

from __future__ import annotations

import ast
import collections
import copy
import functools
import inspect
import os
import sys
import sysconfig
import textwrap
import types
import weakref

from everflow.ops.autograph.calls import surrounded
from everflow.ops.autograph.features import Feature
from everflow.ops.autograph.jumps import without_jumps
from everflow.ops.autograph.lists import with_list_values
from everflow.ops.autograph.rewriting import Unsupported, rewritten

# For what is asked for, whether functions that are called are converted too and which features: function → converted
# function.
_converted: dict[tuple, weakref.WeakKeyDictionary] = collections.defaultdict(weakref.WeakKeyDictionary)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_NOT_USERS = tuple(
    path + os.sep for path in (_PACKAGE, sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"])
)


def converted(function, recursive=True, features=frozenset()):
    """The function with branches and loops that work on tensors; the function itself where it can't be converted.

    `recursive` says that the user's functions that it calls are converted as well; `features` are those asked for
    beyond the usual.
    """
    if isinstance(function, functools.partial):
        return functools.partial(converted(function.func, recursive, features), *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        return types.MethodType(converted(function.__func__, recursive, features), function.__self__)
    if not isinstance(function, types.FunctionType) or getattr(function, "_autograph_keeps", False):
        return function
    known = _converted[recursive, features]
    if function not in known:
        try:
            made = _convert(function, recursive, features)
        except (Unsupported, OSError, SyntaxError, TypeError):
            # No source, or statements that only Python can run: it stays Python.
            made = function
        known[function] = made
        known[made] = made
    return known[function]


def is_users(function):
    """Whether a function is the user's: libraries are not converted."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return (
        code is not None
        and not os.path.abspath(code.co_filename).startswith(_NOT_USERS)
        and code.co_filename[:1] != "<"
    )


def source_of(function, features=frozenset()):
    """The rewritten source."""
    return ast.unparse(_tree(function, features))


def _tree(function, features) -> ast.FunctionDef:
    definition = (
        _lambda(function.__code__) if function.__code__.co_name == "<lambda>" else _definition(function.__code__)
    )
    definition.decorator_list = []
    definition.returns = None
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if Feature.LISTS in features:
        definition = with_list_values(definition)
    return rewritten(without_jumps(definition))


def _definition(code) -> ast.FunctionDef:
    """The `def` that a function was made by."""
    lines, first = inspect.getsourcelines(code)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or definition.name != code.co_name:
        raise Unsupported("only functions made with `def` or `lambda` are converted")
    return definition


def _lambda(code) -> ast.FunctionDef:
    """The lambda that a function was made by, as a `def`: of those on its line, the one that its code lies in."""
    lines, _ = inspect.findsource(code)
    # What begins a call has no place in the source: its columns are 0 or missing. Python 3.10 has no columns at all.
    places = (
        [place for place in code.co_positions() if None not in place and place[3]]
        if hasattr(code, "co_positions")
        else []
    )
    found = [
        node
        for node in ast.walk(_module("".join(lines)))
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and all(_holds(node.body, place) for place in places)
    ]
    if len(found) > 1 and not places:
        found = [node for node in found if _traits(_compiled(node)) == _traits(code)]
    elif len(found) > 1:  # one inside another: the innermost that holds the code
        found = [node for node in found if not any(other is not node and _holds(node, _span(other)) for other in found)]
    if len(found) != 1:
        raise Unsupported("it isn't known which lambda of this line it is")
    node = copy.deepcopy(found[0])
    result = ast.copy_location(ast.Return(node.body), node)
    made = ast.copy_location(ast.FunctionDef(name="ag__lambda", args=node.args, body=[result], decorator_list=[]), node)
    if sys.version_info >= (3, 12):
        made.type_params = []
    return ast.fix_missing_locations(made)


def _compiled(node: ast.Lambda):
    """The code of a lambda by itself."""
    made = compile(ast.Expression(node), "<lambda>", "eval")
    return next(value for value in made.co_consts if inspect.iscode(value))


def _traits(code) -> tuple:
    """What tells the codes of two lambdas apart, whatever is around them: their arguments, the names and the values
    they use.
    """
    names = frozenset(code.co_names) | frozenset(code.co_freevars)
    return code.co_varnames, code.co_cellvars, names, [value for value in code.co_consts if not inspect.iscode(value)]


@functools.lru_cache(maxsize=32)
def _module(source):
    return ast.parse(source)


def _span(node):
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _holds(node, place):
    """Whether a node of the source spans a place: (line, last line, column, last column)."""
    line, last_line, column, last_column = place
    return (node.lineno, node.col_offset) <= (line, column) and (last_line, last_column) <= (
        node.end_lineno,
        node.end_col_offset,
    )


def _convert(function, recursive, features):
    from everflow.ops.autograph import operators  # builds on this module

    definition = _tree(function, features)
    # The function's own name stays what it is outside, say the function with its decorator.
    definition.name = "ag__converted"
    # Defaults are taken from the function as it is; those in the source must not be computed again.
    definition.args.defaults = [ast.Constant(None) for _ in definition.args.defaults]
    definition.args.kw_defaults = [None if d is None else ast.Constant(None) for d in definition.args.kw_defaults]
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    free["ag__"] = types.CellType(operators.environment(recursive, features))
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=n) for n in free], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    body = [definition, ast.Return(ast.Name(definition.name, ast.Load()))]
    factory = ast.FunctionDef(name="ag__factory", args=arguments, body=body, decorator_list=[], lineno=1, col_offset=0)
    if sys.version_info >= (3, 12):
        factory.type_params = []
    module = ast.fix_missing_locations(ast.Module(body=[factory], type_ignores=[]))
    namespace: dict = {}
    exec(compile(module, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    inner = namespace["ag__factory"](*[None] * len(free))
    closure = tuple(free[name] for name in inner.__code__.co_freevars)
    code = inner.__code__.replace(co_name=function.__code__.co_name)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__qualname__, made.__doc__, made.__module__ = function.__qualname__, function.__doc__, function.__module__
    return surrounded(made, features)
