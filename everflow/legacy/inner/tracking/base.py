"""Names that programs take from inside TensorFlow's `training.tracking.base`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from everflow.framework import dtypes
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.train.tracking import OBJECT_GRAPH_KEY as OBJECT_GRAPH_PROTO_KEY
from everflow.train.tracking import VARIABLE_VALUE as VARIABLE_VALUE_KEY
from everflow.train.tracking import PythonState

__all__ = [
    "OBJECT_CONFIG_JSON_KEY",
    "OBJECT_GRAPH_PROTO_KEY",
    "VARIABLE_VALUE_KEY",
    "NoRestoreSaveable",
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


class PythonStringStateSaveable(SaveableObject, PythonState):
    """A string of a Python object that `state_callback` gives when it is saved, and `restore_callback` gets back."""

    optional_restore = True

    def __init__(
        self, name: str, state_callback: Callable[[], str], restore_callback: Callable[[str], Any] | None = None
    ) -> None:
        self._state, self._restore = state_callback, restore_callback
        spec = SaveSpec(lambda: constant(self._state(), dtype=dtypes.string), "", name, dtypes.string, "/cpu:0")
        super().__init__(None, [spec], name)

    def serialize(self) -> str:
        """The string to save."""
        return self._state()

    def deserialize(self, string_value: str) -> None:
        """Hand on the string that was saved."""
        if self._restore is not None:
            self._restore(string_value)

    python_restore = deserialize

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Nothing is left to do in a graph."""
        return no_op()


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved and not restored."""

    def __init__(self, tensor: Any, name: str, dtype: Any = None, device: str | None = None) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype, device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Leave everything as it is."""
        return no_op()
