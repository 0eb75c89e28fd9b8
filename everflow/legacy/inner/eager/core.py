"""TensorFlow's `python.eager.core`: how what became of an operation becomes an exception."""

from __future__ import annotations

from everflow.framework import errors


class _NotOkStatusException(Exception):
    """An operation failed: a message, and one of the codes of `tf.errors`."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.message, self.code = message, code

    def __str__(self) -> str:
        error = _status_to_exception(self.code, self.message)
        return f"{type(error).__name__}: {error}"


class _FallbackException(Exception):
    """The quick way to run an operation doesn't do: the long one has to be taken."""


class _SymbolicException(Exception):
    """A tensor of a graph came where operations run at once."""


def _status_to_exception(code: int, message: str) -> errors.OpError:
    """The exception of a code."""
    try:
        kind = errors.exception_type_from_error_code(code)
    except KeyError:
        return errors.UnknownError(None, None, message, code)
    return kind(None, None, message)
