"""Names that programs take from inside TensorFlow's `training.tracking.tracking`: resources that objects own, and
values that properties keep.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from everflow.ops.functions.resources import (
    CapturableResource,
    CapturableResourceDeleter,
    ResourceTracker,
    TrackableAsset,
    TrackableResource,
    resource_tracker_scope,
)
from everflow.ops.variables.trackable import NotTrackable

__all__ = [
    "CapturableResource",
    "CapturableResourceDeleter",
    "NotTrackable",
    "ResourceTracker",
    "TrackableAsset",
    "TrackableResource",
    "cached_per_instance",
    "delete_tracking",
    "resource_tracker_scope",
]


def delete_tracking(obj: Any, name: str) -> None:
    """Let what hangs on an object under a name hang there no more; the attribute stays."""
    obj.__dict__.get("_named_children", {}).pop(name, None)
    obj.__dict__.setdefault("_untracked_names", set()).add(name)


def cached_per_instance(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Decorator of a method without arguments: it is called once for each object, and its value kept."""
    values: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
    lock = threading.RLock()

    @functools.wraps(f)
    def kept(self: Any) -> Any:
        with lock:
            if self not in values:
                values[self] = f(self)
            return values[self]

    return kept
