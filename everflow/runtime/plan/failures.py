"""What a person is told when a node fails: which op, what it was given, and the line that built it."""

from __future__ import annotations

import numpy as np
import torch

from everflow.framework import errors
from everflow.runtime.plan.program import FEED, Node, is_ref

# What kernels may raise besides our own errors, and what TensorFlow raises then. The first match counts.
_KINDS = [
    (NotImplementedError, errors.UnimplementedError),
    (MemoryError, errors.ResourceExhaustedError),
    (torch.OutOfMemoryError, errors.ResourceExhaustedError),
    (FileNotFoundError, errors.NotFoundError),
    (PermissionError, errors.PermissionDeniedError),
    ((RuntimeError, ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError), errors.InvalidArgumentError),
]


_MEMORY_WORDS = ("not enough memory", "out of memory", "allocate memory", "storage size calculation overflowed", "too large")


def translated(error: Exception, emitted) -> Exception:
    """The error to raise for one that came out of a plan's function."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    node, local_values = _failing(error, emitted)
    if node is None:
        return error
    names = emitted.names
    kind, message = _kind_and_message(error, node, names, local_values)
    op = node.op
    text = f"{message}\n\t [[node {op.name}{_defined_at(op)}]]{_inputs_text(node, names, local_values)}"
    found = kind(op.node_def, op, text)
    if isinstance(error, errors.OpError) and type(error) not in errors.CODE_TO_CLASS.values():
        found = errors.OpError(op.node_def, op, text, error.error_code)
    return found


def refused(error: errors.OpError, node: Node) -> errors.OpError:
    """The error to raise for one that came while a node was bound to its kernel."""
    op = node.op
    return type(error)(op.node_def, op, f"{error.message}\n\t [[node {op.name}{_defined_at(op)}]]")


def _failing(error: Exception, emitted):
    """The node whose line raised, and the values there were."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is emitted.code:
            return emitted.node_at(trace.tb_lineno), {**emitted.function.__globals__, **trace.tb_frame.f_locals}
        trace = trace.tb_next
    return None, {}


def _kind_and_message(error, node, names, local_values):
    for edge in node.inputs:
        if is_ref(*edge) and not _wants_ref(node, edge):
            ref = local_values.get(names.get(edge))
            if ref is not None and getattr(ref, "value", 0) is None:
                return errors.FailedPreconditionError, f"Attempting to use uninitialized value {ref.name}"
    return kind_and_message(error, [local_values.get(names.get(edge)) for edge in node.inputs])


def kind_and_message(error: Exception, values: list) -> tuple[type, str]:
    """What TensorFlow raises where a kernel raised `error` when given these values, and what it says."""
    if isinstance(error, errors.OpError):
        return errors.CODE_TO_CLASS.get(error.error_code, errors.UnknownError), error.message
    text = str(error) or type(error).__name__
    if isinstance(error, RuntimeError) and any(words in text for words in _MEMORY_WORDS):
        return errors.ResourceExhaustedError, text
    for raised, kind in _KINDS:
        if isinstance(error, raised):
            return kind, _in_known_words(text, values)
    return errors.InternalError, f"{type(error).__name__}: {text}"


# Part of what torch says, and what TensorFlow says then with the shapes of the first two inputs.
_WORDS = [
    ("must match the size of tensor b", "Incompatible shapes: {} vs. {}"),
    ("shapes cannot be multiplied", "Matrix size-incompatible: In[0]: {}, In[1]: {}"),
]


def _in_known_words(text, values):
    """Torch's message in the words that TensorFlow's users know, where there are such."""
    shapes = ["[" + ",".join(map(str, v.shape)) + "]" for v in values if isinstance(v, torch.Tensor)]
    for part, words in _WORDS:
        if part in text and len(shapes) >= 2:
            return words.format(*shapes[:2])
    return text


def _wants_ref(node: Node, edge) -> bool:
    if node.definition is None:
        return False
    position = node.inputs.index(edge)
    return position < len(node.definition.inputs) and node.definition.inputs[position].is_ref


def _defined_at(op) -> str:
    frame = op.user_frame
    return f" (defined at {frame[0]}:{frame[1]}) " if frame is not None else ""


def _inputs_text(node: Node, names, local_values) -> str:
    """One line for each input: its tensor's name, dtype and the shape that was seen."""
    lines = [f"\n\t {node.type} was given:"]
    for source, output in node.inputs[:8]:
        value = local_values.get(names.get((source, output)))
        how = ", fed" if source.type == FEED else ""
        lines.append(f"\t   {source.name}:{output}  {describe(value, source.output_dtypes[output])}{how}")
    if len(node.inputs) > 8:
        lines.append(f"\t   and {len(node.inputs) - 8} more")
    return "\n".join(lines) if node.inputs else ""


def describe(value, dtype) -> str:
    """The dtype and shape of a kernel's value."""
    value = getattr(value, "value", value)
    name = dtype.base_dtype.name
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return f"{name} {list(value.shape)}"
    return f"{name} []" if isinstance(value, int) else name
