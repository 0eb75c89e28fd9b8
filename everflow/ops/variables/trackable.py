"""`Trackable`: objects that say what hangs on them, for checkpoints to follow, and which values can hang on others."""

from __future__ import annotations

import collections

from everflow.framework import attachments, dtypes
from everflow.ops.variables.variable import Variable

TrackableReference = collections.namedtuple("TrackableReference", ["name", "ref"])


def is_trackable(value):
    """Whether a value can be a branch of the tree by itself."""
    return isinstance(value, Variable) or (
        not isinstance(value, type)
        and (hasattr(value, "_checkpoint_children") or hasattr(value, "_gather_saveables_for_checkpoint"))
    )


class NotTrackable:
    """Base class of objects that no checkpoint can hold, though another of their bases says that it could."""


class NoDependency:
    """Around a value that is set as an attribute of an object that checkpoints follow: it is kept there, but not saved."""

    def __init__(self, value):
        self.value = value


class Trackable:
    """Base class of objects that say themselves what hangs on them."""

    _object_identifier = "_generic_user_object"
    _tracking_metadata = ""

    def _maybe_initialize_trackable(self):
        """Nothing: an object can have others hang on it from the start."""

    def _track_trackable(self, trackable, name, overwrite=False):
        """Let an object hang on this one under a name; the object itself."""
        if not is_trackable(trackable):
            raise TypeError(f"{trackable!r} is a {type(trackable).__name__}, which checkpoints can't follow")
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(f"{name!r} is already declared as a dependency of this object: {known!r}")
        self.__dict__.setdefault("_named_children", {})[name] = trackable
        attachments.joined(self)
        return trackable

    def _add_variable_with_custom_getter(
        self,
        name,
        shape=None,
        dtype=dtypes.float32,
        initializer=None,
        getter=None,
        overwrite=False,
        **kwargs_for_getter,
    ):
        """A variable that `getter` makes, which hangs on this object under its name."""
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        return self._track_trackable(made, name, overwrite=overwrite)

    def _no_dependency(self, value):
        """A value to be set as an attribute; where attributes are followed, one that checkpoints pass over."""
        return value

    def _gather_saveables_for_checkpoint(self):
        """{attribute name: what saves it} of what this object saves itself: nothing, unless a subclass says so."""
        return {}

    def _checkpoint_children(self):
        return list(self.__dict__.get("_named_children", {}).items())

    @property
    def _checkpoint_dependencies(self):
        """What hangs on this object, with names."""
        return [TrackableReference(*child) for child in self._checkpoint_children()]

    _unconditional_checkpoint_dependencies = _checkpoint_dependencies

    @property
    def _unconditional_dependency_names(self):
        """{name: what hangs on this object under it}, to which more can be added."""
        return self.__dict__.setdefault("_named_children", {})

    def _lookup_dependency(self, name):
        """What hangs on this object under a name, or None."""
        return dict(self._checkpoint_children()).get(name)
