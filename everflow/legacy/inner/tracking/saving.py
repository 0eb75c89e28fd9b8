"""Names that programs take from inside TensorFlow's `training.tracking.util`: saving what a view shows, and looking at
what was saved.
"""

from __future__ import annotations

import functools
from typing import Any

from everflow.framework import dtypes
from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.framework.shapes import TensorShape
from everflow.keras import backend
from everflow.legacy.inner.tracking.graph_view import ObjectGraphView
from everflow.ops.array.constants import constant
from everflow.ops.variables.initializers import glorot_uniform_initializer, zeros_initializer
from everflow.ops.variables.template import capture_dependencies
from everflow.ops.variables.variable import Variable
from everflow.platform import compat
from everflow.protos.trackable_object_graph_pb2 import TrackableObjectGraph
from everflow.train.object_checkpoint import Checkpoint as CheckpointV1
from everflow.train.object_checkpoint import ObjectSaver
from everflow.train.restoration import object_paths
from everflow.train.restore_status import InitializationOnlyStatus
from everflow.train.saving.functional_saver import MultiDeviceSaver

__all__ = [
    "CheckpointV1",
    "TrackableSaver",
    "add_variable",
    "capture_dependencies",
    "frozen_saver",
    "gather_initializers",
    "get_session",
    "saver_with_op_caching",
    "streaming_restore",
]


class TrackableSaver:
    """Saves and restores the objects that a view shows."""

    def __init__(self, graph_view: ObjectGraphView) -> None:
        self._view = graph_view
        self._saver = ObjectSaver(graph_view.root, graph_view.branches)

    def save(self, file_prefix: Any, checkpoint_number: Any = None, session: Any = None) -> Any:
        """Save to a path, with a number behind it where one is given; the path, as a tensor when executing eagerly."""
        path = compat.as_str(file_prefix.numpy() if hasattr(file_prefix, "numpy") else file_prefix)
        if checkpoint_number is not None:
            number = checkpoint_number.numpy() if hasattr(checkpoint_number, "numpy") else checkpoint_number
            path = f"{path}-{number}"
        written = self._saver.write(path, session)
        return constant(written, dtype=dtypes.string) if executing_eagerly() else compat.as_bytes(written)

    def restore(self, save_path: Any) -> Any:
        """What restores from a path; from None: what initializes."""
        if save_path is None:
            return InitializationOnlyStatus(self._view.root)
        return self._saver.read(compat.as_str(save_path.numpy() if hasattr(save_path, "numpy") else save_path))


def saver_with_op_caching(obj: Any) -> TrackableSaver:
    """A saver of an object whose nodes are made once for each graph."""
    return TrackableSaver(ObjectGraphView(obj))


def frozen_saver(root_trackable: Any) -> MultiDeviceSaver:
    """What saves the objects that hang on a root now, and the message about them."""
    return MultiDeviceSaver(ObjectGraphView(root_trackable).frozen_saveable_objects())


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of what hangs on an object; none when executing eagerly, where they have run."""
    things = ObjectGraphView(root_trackable).list_objects()
    found = [getattr(thing, "initializer", None) for thing in things if not executing_eagerly()]
    return [initializer for initializer in found if initializer is not None]


def streaming_restore(status: Any, session: Any = None) -> None:
    """Restore what a status can restore by now, and what comes later when it comes; of executing eagerly only that is
    left to be done for what comes later.
    """
    if executing_eagerly():
        return
    if isinstance(status, InitializationOnlyStatus):
        raise NotImplementedError("Nothing is restored: there is no checkpoint, and `status` only initializes")
    status.run_restore_ops(session)


def get_session() -> Any:
    """The default session, or else that of Keras."""
    return get_default_session() or backend.get_session()


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Variable:
    """A variable that hangs on an object under its name.

    ValueError for a name that is taken, and for a shape beside a value to start with.
    """
    if trackable._lookup_dependency(name) is not None:
        raise ValueError(f"A variable '{name}' is already declared on this object: {trackable!r}")
    if shape is not None and initializer is not None and not callable(initializer):
        raise ValueError(f"'{name}' starts with {initializer!r}, which has a shape: do not specify shape as well")
    return trackable._add_variable_with_custom_getter(
        name=name, shape=shape, dtype=dtype, initializer=initializer, getter=_default_getter, trainable=trainable
    )


def _default_getter(
    name: str,
    shape: Any,
    dtype: Any,
    initializer: Any = None,
    partition_info: Any = None,
    **kwargs: Any,
) -> Variable:
    """A resource variable of a shape; of a value's, where the initializer is one."""
    dtype = dtypes.as_dtype(dtype)
    if initializer is None:
        initializer = glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()
    if isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer):
        parts = {} if partition_info is None else {"partition_info": partition_info}
        initializer = functools.partial(initializer, TensorShape(shape).as_list(), dtype=dtype, **parts)
    return Variable(initializer, name=name, dtype=dtype.base_dtype, use_resource=True, **kwargs)


class _ObjectGraphProtoPrettyPrinter:
    """Names for the objects of a checkpoint, by the ways that lead to them."""

    def __init__(self, object_graph_proto: TrackableObjectGraph) -> None:
        self._proto = object_graph_proto

    @property
    def node_names(self) -> dict[int, str]:
        """{number: name}, as `(root).layers.0`; slots are named by what they are of."""
        return object_paths(self._proto)
