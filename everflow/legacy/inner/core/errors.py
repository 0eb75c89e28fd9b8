"""Names that programs take from inside TensorFlow's module `framework.errors_impl`."""

from __future__ import annotations

from typing import Any

from everflow.framework.errors import CODE_TO_CLASS, OpError, UnknownError


def _make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The exception for a status code; one that has no class of its own is an `UnknownError` with that code."""
    if error_code in CODE_TO_CLASS:
        return CODE_TO_CLASS[error_code](node_def, op, message)
    unknown = UnknownError(node_def, op, message)
    unknown._error_code = error_code
    return unknown
