"""What a person is told when a node fails: which op, what it was given, and the line that built it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import errors
from everflow.runtime.plan.program import FEED, Node, is_ref
from everflow.runtime.plan.prune import describe_dtype

if TYPE_CHECKING:
    from types import TracebackType

    from everflow.framework.dtypes import DType
    from everflow.framework.operation import Operation
    from everflow.kernels.state import Ref
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.emit import Emitted
    from everflow.runtime.plan.program import Edge

# What kernels may raise besides our own errors, and what TensorFlow raises then. The first match counts.
_KINDS: list[tuple[type | tuple[type, ...], type[errors.OpError]]] = [
    (NotImplementedError, errors.UnimplementedError),
    (MemoryError, errors.ResourceExhaustedError),
    (torch.OutOfMemoryError, errors.ResourceExhaustedError),
    (FileNotFoundError, errors.NotFoundError),
    (PermissionError, errors.PermissionDeniedError),
    ((RuntimeError, ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError), errors.InvalidArgumentError),
]


_MEMORY_WORDS = (
    "not enough memory",
    "out of memory",
    "allocate memory",
    "storage size calculation overflowed",
    "too large",
)


def translated(error: Exception, emitted: Emitted) -> Exception:
    """The error to raise for one that came out of a plan's function."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    node, local_values = _failing(error, emitted)
    if node is None:
        return error
    return told(error, node, [local_values.get(emitted.names.get(edge)) for edge in node.inputs])


def told(error: Exception, node: Node, values: list[Value]) -> Exception:
    """The error to raise for one that came while a node ran that was given these values."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    kind, message = _kind_and_message(error, node, values)
    op = node.op
    text = f"{message}\n\t [[node {op.name}{_defined_at(op)}]]{_inputs_text(node, values)}"
    if isinstance(error, errors.OpError) and type(error) not in errors.CODE_TO_CLASS.values():
        return errors.OpError(op.node_def, op, text, error.error_code)
    return kind(op.node_def, op, text)


def refused(error: errors.OpError, node: Node) -> errors.OpError:
    """The error to raise for one that came while a node was bound to its kernel."""
    op = node.op
    return errors.of_code(error.error_code, op.node_def, op, f"{error.message}\n\t [[node {op.name}{_defined_at(op)}]]")


def unfed(node: Node) -> errors.OpError:
    """The error of a placeholder that no value was given for."""
    shape = node.output_shapes[0]
    known = (
        ""
        if shape is None or shape.ndims is None
        else " and shape [" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"
    )
    dtype = describe_dtype(node.output_dtypes[0])
    return errors.InvalidArgumentError(
        None, None, f"You must feed a value for placeholder tensor '{node.name}' with dtype {dtype}{known}"
    )


def uninitialized(ref: Ref) -> errors.OpError:
    """The error of a variable that is read before it has a value."""
    return errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {ref.name}")


def not_there(position: int, node: Node) -> errors.OpError:
    """The error of a fetch whose branch was not taken."""
    text = f"Retval[{position}] does not have value: '{node.name}' is in a branch that was not taken"
    return errors.InvalidArgumentError(None, None, text)


def _failing(error: Exception, emitted: Emitted) -> tuple[Node | None, Any]:
    """The node whose line raised, and the values there were."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in emitted.codes and _inner(trace, emitted) is None:
            return emitted.node_at(trace.tb_lineno), _Values(emitted.function.__globals__, trace.tb_frame.f_locals)
        trace = trace.tb_next
    return None, {}


def _inner(trace: TracebackType, emitted: Emitted) -> TracebackType | None:
    """The next frame of the same plan, where a piece was called; None in the innermost."""
    following = trace.tb_next
    while following is not None and following.tb_frame.f_code not in emitted.codes:
        following = following.tb_next
    return following


class _Values:
    """The values of a plan's expressions where it failed: locals, what its pieces share, and constants."""

    def __init__(self, constants: dict[str, Any], local_values: dict[str, Any]) -> None:
        self._constants, self._locals = constants, local_values

    def get(self, expression: str | None) -> Value:
        if expression is None:
            return None
        if expression.startswith("r["):
            shared = self._locals.get("r")
            return None if shared is None else shared[int(expression[2:-1])]
        return self._locals.get(expression, self._constants.get(expression))


def _kind_and_message(error: Exception, node: Node, values: list[Value]) -> tuple[Callable[..., errors.OpError], str]:
    for edge, ref in zip(node.inputs, values, strict=True):
        if is_ref(*edge) and not _wants_ref(node, edge) and ref is not None and getattr(ref, "value", 0) is None:
            return errors.FailedPreconditionError, f"Attempting to use uninitialized value {ref.name}"
    return kind_and_message(error, values)


def kind_and_message(error: Exception, values: list[Value]) -> tuple[Callable[..., errors.OpError], str]:
    """What TensorFlow raises where a kernel raised `error` when given these values, and what it says."""
    if isinstance(error, errors.OpError):
        return errors.CODE_TO_CLASS.get(error.error_code, errors.UnknownError), error.message
    text = str(error) or type(error).__name__
    if isinstance(error, RuntimeError) and any(words in text.lower() for words in _MEMORY_WORDS):
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


def _in_known_words(text: str, values: Sequence[Value]) -> str:
    """Torch's message in the words that TensorFlow's users know, where there are such."""
    shapes = ["[" + ",".join(map(str, v.shape)) + "]" for v in values if isinstance(v, torch.Tensor)]
    for part, words in _WORDS:
        if part in text and len(shapes) >= 2:
            return words.format(*shapes[:2])
    return text


def _wants_ref(node: Node, edge: Edge) -> bool:
    if node.definition is None:
        return False
    position = node.inputs.index(edge)
    return position < len(node.definition.inputs) and node.definition.inputs[position].is_ref


def _defined_at(op: Operation) -> str:
    frame = op.user_frame
    return f" (defined at {frame[0]}:{frame[1]}) " if frame is not None else ""


def _inputs_text(node: Node, values: list[Value]) -> str:
    """One line for each input: its tensor's name, dtype and the shape that was seen."""
    lines = [f"\n\t {node.type} was given:"]
    for (source, output), value in zip(node.inputs[:8], values, strict=False):
        how = ", fed" if source.type == FEED else ""
        lines.append(f"\t   {source.name}:{output}  {describe(value, source.output_dtypes[output])}{how}")
    if len(node.inputs) > 8:
        lines.append(f"\t   and {len(node.inputs) - 8} more")
    return "\n".join(lines) if node.inputs else ""


def describe(value: Value, dtype: DType) -> str:
    """The dtype and shape of a kernel's value."""
    value = getattr(value, "value", value)
    name = dtype.base_dtype.name
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return f"{name} {list(value.shape)}"
    return f"{name} []" if isinstance(value, int) else name
