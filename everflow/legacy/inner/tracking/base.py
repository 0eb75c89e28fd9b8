"""Names that programs take from inside TensorFlow's `training.tracking.base`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from everflow.ops.variables.saveables import NoRestoreSaveable, PythonStateSaveable, PythonStringStateSaveable
from everflow.train.tracking import OBJECT_GRAPH_KEY as OBJECT_GRAPH_PROTO_KEY
from everflow.train.tracking import VARIABLE_VALUE as VARIABLE_VALUE_KEY

__all__ = [
    "OBJECT_CONFIG_JSON_KEY",
    "OBJECT_GRAPH_PROTO_KEY",
    "VARIABLE_VALUE_KEY",
    "NoRestoreSaveable",
    "PythonStateSaveable",
    "PythonStringStateSaveable",
    "no_automatic_dependency_tracking_scope",
]
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A context in which attributes that are set on an object are not what hangs on it."""
    before = obj.__dict__.get("_is_tracking", True)
    obj.__dict__["_is_tracking"] = False
    try:
        yield
    finally:
        obj.__dict__["_is_tracking"] = before
