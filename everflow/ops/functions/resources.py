"""Things that functions use and that are no tensors: resources which an object owns, and files that belong to a model.

A SavedModel takes them along: resources by functions that make and fill them, files as its assets.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from everflow.framework import dtypes
from everflow.framework.conversion import internal_convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import device, init_scope
from everflow.ops.array.constants import constant
from everflow.ops.functions.traced import function
from everflow.ops.variables.trackable import Trackable

_trackers: list[ResourceTracker] = []


class ResourceTracker:
    """The resources that are made while its scope is open."""

    def __init__(self) -> None:
        self._resources: list[TrackableResource] = []

    resources = property(lambda self: self._resources)

    def add_resource(self, resource: TrackableResource) -> None:
        """Take down a resource."""
        self._resources.append(resource)


@contextlib.contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """A context in which resources are told to a tracker."""
    before = list(_trackers)
    _trackers.append(resource_tracker)
    try:
        yield
    finally:
        _trackers[:] = before


class CapturableResourceDeleter:
    """Gives a resource back when nobody holds this any more."""

    def __init__(self, destroy_resource_fn: Callable[[], Any] | None = None) -> None:
        self._destroy = destroy_resource_fn

    def destroy_resource(self) -> Any:
        """Give it back now."""
        return None if self._destroy is None else self._destroy()

    def __del__(self) -> None:
        self.destroy_resource()


class CapturableResource(Trackable):
    """A resource that functions may use; subclasses make its handle in `_create_resource`, once it is asked for."""

    def __init__(self, device: str = "", deleter: CapturableResourceDeleter | None = None) -> None:
        self._resource_handle: Tensor | None = None
        self._resource_device = device
        self._destruction_context = deleter or CapturableResourceDeleter()

    def _create_resource(self) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no `_create_resource`, which makes the handle")

    def _initialize(self) -> None:
        """Fill the resource; nothing, unless a subclass does."""

    @property
    def resource_handle(self) -> Tensor:
        """The handle, made when it is first asked for."""
        if self._resource_handle is None:
            with init_scope(), device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _list_functions_for_serialization(self, unused_functions: Any) -> dict[str, Any]:
        """{name: function} of how a SavedModel makes it, fills it and gives it back."""

        def initialize() -> Tensor:
            self._initialize()
            return constant(1)  # a function of a SavedModel gives something

        def destroy() -> Tensor:
            self._destruction_context.destroy_resource()
            return constant(1)

        return {
            "_create_resource": function(self._create_resource, input_signature=[], autograph=False),
            "_initialize": function(initialize, input_signature=[], autograph=False),
            "_destroy_resource": function(destroy, input_signature=[], autograph=False),
        }


class TrackableResource(CapturableResource):
    """A resource that trackers are told of."""

    def __init__(self, device: str = "", deleter: CapturableResourceDeleter | None = None) -> None:
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device, deleter)


class TrackableAsset(Trackable):
    """A file that belongs to a model: a tensor with its path."""

    def __init__(self, path: str | bytes | Tensor) -> None:
        with init_scope(), device("CPU"):
            self._path = internal_convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    asset_path = property(lambda self: self._path, doc="The path, a tensor.")
