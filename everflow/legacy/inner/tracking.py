"""Names that programs take from inside TensorFlow's `training.tracking.base`."""

import contextlib

from everflow.train.tracking import OBJECT_GRAPH_KEY as OBJECT_GRAPH_PROTO_KEY
from everflow.train.tracking import VARIABLE_VALUE as VARIABLE_VALUE_KEY

__all__ = ["OBJECT_GRAPH_PROTO_KEY", "VARIABLE_VALUE_KEY", "no_automatic_dependency_tracking_scope"]


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    """A context in which attributes that are set on an object are not what hangs on it."""
    before = obj.__dict__.get("_is_tracking", True)
    obj.__dict__["_is_tracking"] = False
    try:
        yield
    finally:
        obj.__dict__["_is_tracking"] = before
