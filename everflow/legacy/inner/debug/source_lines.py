"""tensorflow.python.debug.lib.source_utils: lines of a program, and what nodes that they made did in a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import everflow
from everflow.legacy.inner.debug import profiling

UNCOMPILED_SOURCE_SUFFIXES = (".py",)
COMPILED_SOURCE_SUFFIXES = (".pyc", ".pyo")
_TENSORFLOW_BASEDIR = os.path.dirname(os.path.abspath(everflow.__file__ or ""))


def _norm_abs_path(file_path: str) -> str:
    return os.path.normpath(os.path.abspath(file_path))


def is_extension_uncompiled_python_source(file_path: str) -> bool:
    """Whether a file is Python's source, by its name."""
    return os.path.splitext(file_path)[1].lower() in UNCOMPILED_SOURCE_SUFFIXES


def is_extension_compiled_python_source(file_path: str) -> bool:
    """Whether a file is what Python made of source, by its name."""
    return os.path.splitext(file_path)[1].lower() in COMPILED_SOURCE_SUFFIXES


def _convert_watch_key_to_tensor_name(watch_key: str) -> str:
    return watch_key.rpartition(":")[0]


def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a file is one of this package, not of a program or test."""
    if not is_extension_uncompiled_python_source(py_file_path) and not is_extension_compiled_python_source(
        py_file_path
    ):
        return False
    path = _norm_abs_path(py_file_path)
    return path.startswith(_TENSORFLOW_BASEDIR + os.sep) and not py_file_path.endswith("_test.py")


def load_source(source_file_path: str) -> tuple[list[str], int]:
    """(the lines of a file, how wide their numbers are with a blank before and after)"""
    if not os.path.isfile(source_file_path):
        raise FileNotFoundError(f"there is no file {source_file_path}")
    with open(source_file_path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    return lines, len(str(len(lines))) + 3


def _made_by(traceback: Iterable, source_file_path: str) -> list[int]:
    """The lines of a file that are in a traceback, the innermost first."""
    wanted = _norm_abs_path(source_file_path)
    return [frame[1] for frame in reversed(list(traceback)) if _norm_abs_path(frame[0]) == wanted]


def annotate_source(
    dump: Any,
    source_file_path: str,
    do_dumped_tensors: bool = False,
    file_stack_top: bool = False,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, list[str]]:
    """{line: the nodes that it made, or with `do_dumped_tensors` their dumped tensors}; with `file_stack_top` only the
    innermost line of the file counts.
    """
    if dump.python_graph is None:
        raise ValueError("which lines made nodes is known to the Python graph only: call set_python_graph first")
    found: dict[int, list[str]] = {}
    for op in dump.python_graph.get_operations():
        lines = _made_by(dump.node_traceback(op.name), source_file_path)
        for line in lines[:1] if file_stack_top else lines:
            if min_line is not None and line < min_line or max_line is not None and line >= max_line:
                continue
            names = [op.name]
            if do_dumped_tensors:
                keys = dump.debug_watch_keys(op.name)
                names = list(dict.fromkeys(map(_convert_watch_key_to_tensor_name, keys)))
            found.setdefault(line, []).extend(names)
    return found


def annotate_source_against_profile(
    profile_data: Iterable[Any],
    source_file_path: str,
    node_name_filter: str | None = None,
    op_type_filter: str | None = None,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, Any]:
    """{line: what nodes that it made took}"""
    wanted = _norm_abs_path(source_file_path)
    found: dict[int, Any] = {}
    for datum in profile_data:
        if not datum.file_path or _norm_abs_path(datum.file_path) != wanted:
            continue
        if min_line is not None and datum.line_number < min_line:
            continue
        if max_line is not None and datum.line_number >= max_line:
            continue
        if node_name_filter and not re.match(node_name_filter, datum.node_exec_stats.node_name):
            continue
        if op_type_filter and not re.match(op_type_filter, datum.op_type):
            continue
        if datum.line_number in found:
            found[datum.line_number].add(datum)
        else:
            found[datum.line_number] = profiling.AggregateProfile(datum)
    return found


def list_source_files_against_dump(
    dump: Any, path_regex_whitelist: str | None = None, node_name_regex_whitelist: str | None = None
) -> list[tuple[str, bool, int, int, int, int]]:
    """[(file, whether it is this package's, nodes, tensors, dumps, the first line that made any)] of all files that made
    nodes, by their names.
    """
    if dump.python_graph is None:
        raise ValueError("which files made nodes is known to the Python graph only: call set_python_graph first")
    tensors: dict[str, set[str]] = {}
    dumps: dict[str, int] = {}
    for datum in dump.dumped_tensor_data:
        tensors.setdefault(datum.node_name, set()).add(datum.tensor_name)
        dumps[datum.node_name] = dumps.get(datum.node_name, 0) + 1
    nodes: dict[str, set[str]] = {}
    first: dict[str, int] = {}
    for op in dump.python_graph.get_operations():
        if node_name_regex_whitelist and not re.match(node_name_regex_whitelist, op.name):
            continue
        for path, line, *_ in dump.node_traceback(op.name):
            if path_regex_whitelist and not re.match(path_regex_whitelist, path):
                continue
            path = _norm_abs_path(path)
            nodes.setdefault(path, set()).add(op.name)
            first[path] = min(line, first.get(path, line))
    return [
        (
            path,
            guess_is_tensorflow_py_library(path),
            len(names),
            len(set().union(*(tensors.get(name, set()) for name in names))),
            sum(dumps.get(name, 0) for name in names),
            first[path],
        )
        for path, names in sorted(nodes.items())
    ]
