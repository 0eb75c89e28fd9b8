"""tensorflow.python.util.tf_stack: who calls, with what a thread wants left out of that or shown as other lines."""

from __future__ import annotations

import collections
import linecache
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

TB_FILENAME, TB_LINENO, TB_FUNCNAME, TB_CODEDICT = range(4)


class StackFrame(NamedTuple):
    """A frame: file, line, function, the module's names, and the line where the function begins."""

    filename: str
    lineno: int
    name: str
    globals: dict
    func_start_lineno: int


class _Transforms(threading.local):
    """What changes the stacks of a thread, the innermost last."""

    def __init__(self) -> None:
        self.by_kind: dict[type, list[StackTraceTransform]] = collections.defaultdict(list)


_transforms = _Transforms()


class StackTraceTransform:
    """A context in which stacks are shown otherwise."""

    _kind: type

    def reset(self) -> None:
        """Called where the context begins."""

    def __enter__(self):
        self.reset()
        _transforms.by_kind[self._kind].append(self)
        return self

    def __exit__(self, kind, value, trace) -> None:
        _transforms.by_kind[self._kind].pop()


class StackTraceMapper(StackTraceTransform):
    """A context in which frames stand for other places: those of a program that was translated."""

    def get_effective_source_map(self) -> Mapping[tuple[str, int], tuple[str, int, str]]:
        """{(file, line): (file, line, function) to show}."""
        raise NotImplementedError("A StackTraceMapper says which places stand for which")


class StackTraceFilter(StackTraceTransform):
    """A context in which the frames of some files are left out."""

    def get_filtered_filenames(self) -> Iterable[str]:
        """The files."""
        raise NotImplementedError("A StackTraceFilter says which files it leaves out")


StackTraceMapper._kind = StackTraceMapper
StackTraceFilter._kind = StackTraceFilter


class CurrentModuleFilter(StackTraceFilter):
    """Leaves out the file that opens the context."""

    def __init__(self) -> None:
        self._filename = sys._getframe(1).f_code.co_filename

    def get_filtered_filenames(self) -> set[str]:
        """That file."""
        return {self._filename}


def extract_stack(limit: int = -1) -> list[StackFrame]:
    """The frames of the caller, outermost first; with a `limit` so many of the innermost."""
    mappers, filters = (_transforms.by_kind[kind] for kind in (StackTraceMapper, StackTraceFilter))
    places = mappers[-1].get_effective_source_map() if mappers else {}
    left_out = set(filters[-1].get_filtered_filenames()) if filters else set()
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) != limit:
        code = frame.f_code
        where = places.get((code.co_filename, frame.f_lineno), (code.co_filename, frame.f_lineno, code.co_name))
        if where[0] not in left_out:
            found.append(StackFrame(*where, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back
    return found[::-1]


def convert_stack(stack: Iterable[StackFrame], include_func_start_lineno: bool = False) -> tuple[tuple, ...]:
    """Frames as (file, line, function, the line's text), and the line where the function begins if that is asked for."""
    lines = ((f, linecache.getline(f.filename, f.lineno, f.globals).strip() or None) for f in stack)
    return tuple((*f[:3], text, *f[4 : 5 if include_func_start_lineno else 4]) for f, text in lines)
