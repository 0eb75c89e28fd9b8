"""tensorflow.python.framework.error_interpolation: tags such as {{node a}} in messages, replaced by what is known of the
op: where it was made, and what asked for its device there.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import everflow
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation
from everflow.protos.graph_debug_info_pb2 import GraphDebugInfo

_WORD = r"[A-Za-z0-9_.][A-Za-z0-9_.\-/]*?"
_TAG = re.compile(rf"{{{{({_WORD}) ({_WORD})}}}}")
# A file whose path has one of these is not the program's.
_BAD_FILE_SUBSTRINGS = [os.path.dirname(everflow.__file__) + os.sep, "<embedded"]


class _ParseTag(NamedTuple):
    type: str
    name: str


def parse_message(message: str) -> tuple[list[str], list[_ParseTag]]:
    """(the text before, between and behind tags, the tags).

    >>> parse_message("at {{node a/b}}!")
    (['at ', '!'], [_ParseTag(type='node', name='a/b')])
    """
    parts = _TAG.split(message)
    return parts[::3], [_ParseTag(*tag) for tag in zip(parts[1::3], parts[2::3], strict=True)]


def interpolate(error_message: str, graph: Graph) -> str:
    """A message with its tags replaced: a node by where it was made, a colocation node also by its devices, a
    function's by nothing. Nodes that the graph hasn't stay tags.
    """
    separators, tags = parse_message(error_message)
    ops = [_op_or_none(graph, tag.name) for tag in tags]
    prefix = traceback_files_common_prefix([[op] for op in ops if op is not None])
    shown = [_shown(tag, op, prefix) for tag, op in zip(tags, ops, strict=True)]
    return "".join(itertools.chain.from_iterable(itertools.zip_longest(separators, shown, fillvalue="")))


def _op_or_none(graph: Graph, name: str) -> Operation | None:
    return graph._nodes_by_name.get(name)


def _shown(tag: _ParseTag, op: Operation | None, prefix: str) -> str:
    if tag.type == "function_node":
        return ""
    if op is None:
        return f"{{{{{tag.type} {tag.name}}}}}"
    text, _ = _build_error_message(op, [], prefix)
    if tag.type != "colocation_node":
        return text
    known = compute_field_dict(op, prefix)
    return (
        f"{text}placed on device {known['devices']} Additional information about colocations:{known['devs_and_colocs']}"
    )


def _build_error_message(op: Operation, input_ops: Sequence[Operation], common_prefix: str) -> tuple[str, str]:
    """(an op and where it was made, the same of ops that it takes)."""
    first = f"node {op.name}{compute_field_dict(op, common_prefix)['defined_at']} "
    inputs = [f" {op.name}{compute_field_dict(op, common_prefix)['defined_at']}" for op in input_ops]
    return first, "\n".join(["Input Source operations connected to node", *inputs]) if any(inputs) else ""


def compute_field_dict(op: Operation, strip_file_prefix: str = "") -> dict[str, str]:
    """What is known of an op, by field: file, line, defined_at, colocations, devices, devs_and_colocs."""
    frame = _get_defining_frame_from_op(op)
    file, line = (frame[0].removeprefix(strip_file_prefix), str(frame[1])) if frame else ("", "")
    colocations = _compute_colocation_summary_from_op(op)
    devices = _compute_device_assignment_summary_from_op(op)
    return {
        "file": file or "<unknown>",
        "line": line,
        "defined_at": f" (defined at {file}:{line})" if frame else "",
        "colocations": colocations,
        "devices": devices,
        "devs_and_colocs": f"{colocations}\n{devices}",
    }


# --- where an op was made ---------------------------------------------------------------------------


def _find_index_of_defining_frame_for_op(op: Operation) -> int:
    """The innermost frame of an op's traceback that is the program's own; 0 where none is."""
    frames = op.traceback
    return next((i for i in reversed(range(len(frames))) if not _is_inner(frames[i][0])), 0)


def _is_inner(file: str) -> bool:
    return any(part in file for part in _BAD_FILE_SUBSTRINGS)


def _get_defining_frame_from_op(op: Operation) -> tuple[str, int, str, str] | None:
    frames = op.traceback
    return frames[_find_index_of_defining_frame_for_op(op)] if frames else None


def _compute_useful_frames(op: Operation, num: int) -> list[tuple[str, int, str, str]]:
    """Up to `num` frames of an op's traceback, down to the one that made it."""
    end = _find_index_of_defining_frame_for_op(op) + 1
    return op.traceback[max(end - num, 0) : end]


def traceback_files_common_prefix(all_ops: Iterable[Iterable[Operation]]) -> str:
    """The folder that the files of all these ops' tracebacks are in; "" where there is only one file."""
    files = {frame[0] for ops in all_ops for op in ops for frame in op.traceback}
    if len(files) < 2:
        return ""
    folder = os.path.dirname(os.path.commonprefix(list(files)))
    return folder if not folder or folder.endswith(os.sep) else folder + os.sep


def _sources_for_node(node: Operation, graph: Graph) -> list[Operation]:
    """The ops that an op takes its inputs from, those for control included."""
    return sorted({t.op for t in node.inputs} | set(node.control_inputs), key=lambda op: op.name)


def create_graph_debug_info_def(operations: Iterable[tuple[str, Operation]]) -> GraphDebugInfo:
    """The tracebacks of (function's name, op) pairs as a message."""
    made = GraphDebugInfo()
    operations = list(operations)
    files = sorted({frame[0] for _, op in operations for frame in op.traceback})
    made.files.extend(files)
    for function, op in operations:
        trace = made.traces[function + op.name]
        for file, line, name, text in _compute_useful_frames(op, 10):
            trace.file_line_cols.add(file_index=files.index(file), line=line, func=name, code=text)
    return made


# --- what asked for its device ----------------------------------------------------------------------


def _compute_device_assignment_summary_from_op(op: Operation, prefix: str = "") -> str:
    return _compute_device_summary_from_list(op.name, op._device_assignments, prefix)


def _compute_device_summary_from_list(name: str, device_assignment_list: Sequence[Any], prefix: str = "") -> str:
    if not device_assignment_list:
        return f"{prefix}No device assignments around op '{name}' where it was made."
    lines = [f"  with tf.device({each.obj}): <{each.filename}:{each.lineno}>" for each in device_assignment_list]
    return "\n".join(prefix + line for line in [f"Device assignments around op '{name}' where it was made:", *lines])


def _compute_colocation_summary_from_op(op: Operation, prefix: str = "") -> str:
    return _compute_colocation_summary_from_dict(op.name, op._colocation_dict, prefix)


def _compute_colocation_summary_from_dict(name: str, colocation_dict: Mapping[str, Any], prefix: str = "") -> str:
    if not colocation_dict:
        return f"{prefix}No node-device colocations around op '{name}' where it was made."
    lines = [f"  with tf.colocate_with({op}): <{at.filename}:{at.lineno}>" for op, at in colocation_dict.items()]
    return "\n".join(
        prefix + line for line in [f"Node-device colocations around op '{name}' where it was made:", *lines]
    )
