"""The exceptions of TensorFlow: one class for each status code, all `OpError`s."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from everflow.framework.operation import Operation
    from everflow.protos import node_def_pb2

# code, public constant, class
_TABLE = [
    (1, "CANCELLED", "CancelledError", "an operation or step was cancelled"),
    (2, "UNKNOWN", "UnknownError", "a failure whose kind is not known"),
    (3, "INVALID_ARGUMENT", "InvalidArgumentError", "an op was given an argument it can't take"),
    (4, "DEADLINE_EXCEEDED", "DeadlineExceededError", "a step took longer than it was allowed"),
    (5, "NOT_FOUND", "NotFoundError", "something asked for, such as a file, is not there"),
    (6, "ALREADY_EXISTS", "AlreadyExistsError", "something to be made is there already"),
    (7, "PERMISSION_DENIED", "PermissionDeniedError", "the caller may not do this"),
    (16, "UNAUTHENTICATED", "UnauthenticatedError", "the caller is not known"),
    (8, "RESOURCE_EXHAUSTED", "ResourceExhaustedError", "memory, disk or a quota is used up"),
    (
        9,
        "FAILED_PRECONDITION",
        "FailedPreconditionError",
        "the system is not in a state for this, e.g. a variable is not initialized",
    ),
    (10, "ABORTED", "AbortedError", "the operation was given up, often for another one at the same time"),
    (11, "OUT_OF_RANGE", "OutOfRangeError", "reading went past the end"),
    (12, "UNIMPLEMENTED", "UnimplementedError", "the operation is not there"),
    (13, "INTERNAL", "InternalError", "something in the system is broken"),
    (14, "UNAVAILABLE", "UnavailableError", "the runtime can't be reached just now"),
    (15, "DATA_LOSS", "DataLossError", "data is lost or corrupt"),
]
OK = 0
# Spelled out for type checkers; the table above makes them.
UNAVAILABLE: int


_PACKAGE_ROOT = __file__.rpartition("framework")[0]


class OpError(Exception):
    """An error raised while a graph runs. Has `op`, `node_def`, `message` and `error_code`.

    Args:
        node_def: The node that failed, as a message; None where it isn't known.
        op: The Operation that failed; None where it isn't known.
        message: What happened.
        error_code: One of the codes in `tf.errors`.

    Example:
        >>> try:
        ...     sess.run(tf.check_numerics(tf.log(-1.0), "logarithm"))
        ... except tf.OpError as error:
        ...     print(type(error).__name__, error.op.name)
        InvalidArgumentError CheckNumerics
    """

    def __init__(
        self,
        node_def: node_def_pb2.NodeDef | None,
        op: Operation | None,
        message: str,
        error_code: int,
    ) -> None:
        super().__init__()
        self._node_def, self._op, self._message, self._error_code = node_def, op, message, error_code

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Operation | None:
        """The Operation that failed, where it is known."""
        return self._op

    @property
    def error_code(self) -> int:
        return self._error_code

    @property
    def node_def(self) -> node_def_pb2.NodeDef | None:
        return self._node_def

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        frames = self._op.traceback  # `op.traceback` has those of the package, too
        shown = [frame for frame in frames if not frame[0].startswith(_PACKAGE_ROOT)] or frames
        lines = [self._message, "", f"Original stack trace for {self._op.name!r}:"]
        lines += [f'  File "{file}", line {line}, in {function}\n    {text}' for file, line, function, text in shown]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self) is OpError:
            return OpError, (self._node_def, None, self._message, self._error_code)
        return type(self), (self._node_def, None, self._message)


_DOCUMENT = """Raised when {meaning}.

Args:
    node_def: The node that failed, as a message; None where it isn't known.
    op: The Operation that failed; None where it isn't known.
    message: What happened.

Example:
    >>> error = tf.errors.{name}(None, None, "what happened")
    >>> error.message, error.error_code
    ('what happened', {code})
"""


def _make_class(code: int, class_name: str, meaning: str) -> type[OpError]:
    def __init__(self: OpError, node_def: node_def_pb2.NodeDef | None, op: Operation | None, message: str) -> None:
        OpError.__init__(self, node_def, op, message, code)

    def with_code(
        self: OpError,
        node_def: node_def_pb2.NodeDef | None,
        op: Operation | None,
        message: str,
        error_code: int = code,
    ) -> None:
        OpError.__init__(self, node_def, op, message, error_code)

    if class_name == "UnknownError":  # it also stands for codes that have no class
        __init__ = with_code

    about = _DOCUMENT.format(meaning=meaning, name=class_name, code=code)
    if class_name == "UnknownError":
        about = about.replace("\n\nExample:", "\n    error_code: The code, where it is another one.\n\nExample:")
    return type(class_name, (OpError,), {"__init__": __init__, "__doc__": about, "__module__": __name__})


CODE_TO_CLASS: dict[int, Any] = {}
for _code, _constant, _class_name, _meaning in _TABLE:
    CODE_TO_CLASS[_code] = _make_class(_code, _class_name, _meaning)
    globals()[_constant] = _code
    globals()[_class_name] = CODE_TO_CLASS[_code]
_CLASS_TO_CODE = {cls: code for code, cls in CODE_TO_CLASS.items()}

# Spelled out for readers and type checkers; made by the table above.
CancelledError = CODE_TO_CLASS[1]
UnknownError = CODE_TO_CLASS[2]
InvalidArgumentError = CODE_TO_CLASS[3]
DeadlineExceededError = CODE_TO_CLASS[4]
NotFoundError = CODE_TO_CLASS[5]
AlreadyExistsError = CODE_TO_CLASS[6]
PermissionDeniedError = CODE_TO_CLASS[7]
ResourceExhaustedError = CODE_TO_CLASS[8]
FailedPreconditionError = CODE_TO_CLASS[9]
AbortedError = CODE_TO_CLASS[10]
OutOfRangeError = CODE_TO_CLASS[11]
UnimplementedError = CODE_TO_CLASS[12]
InternalError = CODE_TO_CLASS[13]
UnavailableError = CODE_TO_CLASS[14]
DataLossError = CODE_TO_CLASS[15]
UnauthenticatedError = CODE_TO_CLASS[16]


class OperatorNotAllowedInGraphError(TypeError):
    """Raised where Python needs a value (truth, iteration) and there is only a graph tensor."""


class InaccessibleTensorError(ValueError):
    """Raised when a tensor is used outside the function or branch that made it."""


def of_code(error_code: int, node_def: node_def_pb2.NodeDef | None, op: Operation | None, message: str) -> OpError:
    """The error for a status code; a plain OpError for one that has no class."""
    kind = CODE_TO_CLASS.get(error_code)
    return OpError(node_def, op, message, error_code) if kind is None else kind(node_def, op, message)


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The exception class for a status code.

    Args:
        error_code: The number.

    Returns:
        A class.

    Example:
        >>> tf.errors.exception_type_from_error_code(5).__name__
        'NotFoundError'
    """
    return CODE_TO_CLASS[error_code]


def error_code_from_exception_type(cls: type) -> int:
    """The status code for an exception class; UNKNOWN for one that isn't ours.

    Args:
        cls: The class.

    Returns:
        A number.

    Example:
        >>> tf.errors.error_code_from_exception_type(tf.errors.NotFoundError)
        5
    """
    return _CLASS_TO_CODE.get(cls, 2)


class raise_exception_on_not_ok_status(contextlib.AbstractContextManager):
    """Kept for programs that wrap calls in it; our calls raise by themselves.

    Example:
        >>> with tf.errors.raise_exception_on_not_ok_status():
        ...     pass
    """

    def __exit__(self, *exc: Any) -> Literal[False]:
        return False
