"""Tracebacks for people: the program's frames as Python shows them, those of the package and of torch folded into a line,
and what to try where that can be told. `EVERFLOW_TRACEBACK=full` shows everything.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import linecache
import os
import re
import sys
import traceback
import types
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
FOLDED = "of everflow; EVERFLOW_TRACEBACK=full shows them"
_UNEXPECTED = re.compile(r".*\bgot an unexpected keyword argument '(\w+)'")
# A foreign library's frames are folded only where they lie between ours.
_OTHERS = tuple(
    os.path.dirname(spec.origin) + os.sep
    for name in ("torch", "absl", "contextlib", "functools")
    if (spec := importlib.util.find_spec(name)) and spec.origin
)


def lines(error: BaseException, frames: types.TracebackType | None = None) -> list[str]:
    """What to print for an error, from a frame on."""
    told = traceback.TracebackException(type(error), error, frames or error.__traceback__)
    if os.environ.get("EVERFLOW_TRACEBACK") != "full":
        _fold(told)
        if isinstance(error, SyntaxError) and all(_is_ours(frame.filename) for frame in told.stack):
            told.stack = None  # type: ignore[assignment]  # of a program that could not be compiled, as Python does
    return [line for part in told.format() for line in part.splitlines()] + hints(error)


def _fold(told: traceback.TracebackException) -> None:
    """Fold the frames of an error, and of those that it came of."""
    told.stack = traceback.StackSummary.from_list(_folded(list(told.stack)))
    for other in (told.__cause__, told.__context__):
        if other is not None:
            _fold(other)


def _folded(stack: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """Frames with each row of ours as one line. Where a program has no frames there is nothing to put first."""
    kept: list[traceback.FrameSummary] = []
    if all(_is_ours(frame.filename) for frame in stack):
        return stack
    row: list[traceback.FrameSummary] = []
    for frame in [*stack, None]:
        if frame is not None and (_is_ours(frame.filename) or row and frame.filename.startswith(_OTHERS)):
            row.append(frame)
            continue
        if row:
            inner = next(frame for frame in reversed(row) if _is_ours(frame.filename))
            said = f"{len(row)} frame{'s' * (len(row) > 1)} {FOLDED}"
            kept.append(traceback.FrameSummary(inner.filename, inner.lineno, f"{inner.name} ({said})", line=""))
        row = []
        if frame is not None:
            kept.append(frame)
    return kept


def _is_ours(filename: str) -> bool:
    return filename.startswith((_PACKAGE, "<plan"))


# What an error says at its beginning, and what to try then.
_TRY = {
    "Attempting to use uninitialized value ": "run tf.global_variables_initializer() before, or restore a checkpoint; metrics and epochs need tf.local_variables_initializer()",
    "The session's graph is empty": "if the tensors are in another graph, give it to the session: tf.Session(graph=...)",
    "No variables to optimize": "make the loss out of tf.Variable or tf.get_variable, with trainable=True",
    "No variables to save": "make the Saver after the variables",
    "You must feed a value for placeholder": "give it in sess.run(..., feed_dict={placeholder: value})",
    "Unsuccessful TensorSliceReader constructor": "tf.train.latest_checkpoint(folder) finds the newest checkpoint of a folder; its name ends before .index and .data-",
}


def hints(error: BaseException) -> list[str]:
    """What to try: the name that a misspelt one was meant to be, or what most programs lack that fail so."""
    if isinstance(error, AttributeError):
        return _nearest_attribute(error)
    found = [f"Try: {what}" for start, what in _TRY.items() if str(error).startswith(start)]
    return found or _nearest_argument(error)


def _nearest_attribute(error: AttributeError) -> list[str]:
    """What Python itself adds when it prints an error; its module `traceback` does so from 3.12 on."""
    if sys.version_info >= (3, 12) or error.obj is None or not error.name or "Did you mean" in str(error):
        return []
    near = difflib.get_close_matches(error.name, dir(error.obj), 1, 0.6)
    return [f"Did you mean: {near[0]!r}?"] if near else []


def _nearest_argument(error: BaseException) -> list[str]:
    match = _UNEXPECTED.match(str(error)) if isinstance(error, TypeError) else None
    if match is None:
        return []
    called = _called(error, match[1])
    if called is None:
        return []
    parameters = [p.name for p in inspect.signature(called).parameters.values() if p.kind != p.VAR_KEYWORD]
    near = difflib.get_close_matches(match[1], parameters, 1, 0.6)
    takes = f"{called.__name__} takes {', '.join(parameters)}"
    return [f"Did you mean {near[0]}=? {takes}" if near else takes]


def _called(error: BaseException, keyword: str) -> Any:
    """What a program called with an argument it doesn't take: found in the source of the innermost frame of the program
    that has such a call.
    """
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        for call in _calls(frame.f_code.co_filename, line, frame.f_globals):
            if keyword in [k.arg for k in call.keywords]:
                found = _value(call.func, {**frame.f_globals, **frame.f_locals})
                if callable(found) and hasattr(found, "__name__"):
                    return found
    return None


def _calls(file: str, line: int, names: dict[str, Any]) -> list[ast.Call]:
    """The calls that a line of a file is part of."""
    try:
        tree = ast.parse("".join(linecache.getlines(file, names)))
    except SyntaxError:
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if call.lineno <= line <= (call.end_lineno or call.lineno)]


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a dotted name stands for; nothing is called."""
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, names)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType | type) else None
    return names.get(node.id) if isinstance(node, ast.Name) else None
