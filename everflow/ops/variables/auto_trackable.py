"""`AutoTrackable`: objects whose attributes are what hangs on them, for checkpoints to follow. Lists and dicts among them
become such as can be followed.
"""

from __future__ import annotations

from everflow.framework import attachments
from everflow.ops.variables.containers import wrap_or_unwrap
from everflow.ops.variables.trackable import NoDependency, Trackable, is_trackable

_NOTHING = object()


class AutoTrackable(Trackable):
    """Base class of objects whose attributes are what hangs on them, but for those set as `NoDependency(value)`."""

    def __setattr__(self, name, value):
        # What is there already needs no setting, so a property without a setter takes the value that it shows.
        if getattr(self, name, _NOTHING) is not value:
            self._attach(name, value)

    def _attach(self, name, value):
        """Sets an attribute, whatever it was before."""
        if isinstance(value, NoDependency) or not self.__dict__.get("_is_tracking", True):
            self.__dict__.setdefault("_untracked_names", set()).add(name)
            value = value.value if isinstance(value, NoDependency) else value
        else:
            if "_untracked_names" in self.__dict__:
                self._untracked_names.discard(name)
            value = wrap_or_unwrap(value)
        super().__setattr__(name, value)
        attachments.joined(self)

    def _no_dependency(self, value):
        """A value to be set as an attribute that checkpoints pass over."""
        return NoDependency(value)

    def _checkpoint_children(self):
        untracked = self.__dict__.get("_untracked_names", ())
        own = {name: value for name, value in vars(self).items() if name not in untracked and name != "_named_children"}
        return branches(own.items()) + super()._checkpoint_children()


def branches(items):
    """Those of (name, value) pairs whose value can be a branch of the tree."""
    return [(str(name), value) for name, value in items if is_trackable(value) or isinstance(value, (list, dict))]
