"""Objects that know which others they hold by name, so that a checkpoint can follow the objects of a program."""

from __future__ import annotations

import collections

TrackableReference = collections.namedtuple("TrackableReference", ["name", "ref"])


class Trackable:
    """Base class of what object-based checkpoints save: it has named dependencies, and maybe values of its own."""

    @property
    def _checkpoint_dependencies(self):
        """The objects it holds, as (name, object)."""
        return list(self.__dict__.get("_tracked", ()))

    def _lookup_dependency(self, name):
        """The object held under a name, or None."""
        return next((ref for known, ref in self._checkpoint_dependencies if known == name), None)

    def _track_trackable(self, trackable, name, overwrite=False):
        """Hold an object under a name; ValueError where the name stands for another one."""
        if not isinstance(trackable, Trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        tracked = self.__dict__.setdefault("_tracked", [])
        for i, (known, ref) in enumerate(tracked):
            if known == name:
                if ref is not trackable and not overwrite:
                    raise ValueError(f"Called Trackable._track_trackable() with name='{name}', but that name is used already.")
                tracked[i] = TrackableReference(name, trackable)
                return trackable
        tracked.append(TrackableReference(name, trackable))
        return trackable

    def _gather_saveables_for_checkpoint(self):
        """Its own values: attribute name → what a Saver can save."""
        return {}


class ListWrapper(Trackable, list):
    """A list whose trackable items are dependencies, by their place."""

    __hash__ = object.__hash__

    @property
    def _checkpoint_dependencies(self):
        return [TrackableReference(str(i), wrapped) for i, wrapped in enumerate(self) if isinstance(wrapped, Trackable)]


class DictWrapper(Trackable, dict):
    """A dict whose trackable values are dependencies, by their keys."""

    __hash__ = object.__hash__

    @property
    def _checkpoint_dependencies(self):
        return [TrackableReference(str(key), value) for key, value in self.items() if isinstance(value, Trackable)]


def wrap(value):
    """Lists and dicts as trackable ones; anything else as it is."""
    if isinstance(value, Trackable):
        return value
    if type(value) is list:
        return ListWrapper(wrap(item) for item in value)
    if type(value) in (dict, collections.OrderedDict):
        return DictWrapper((key, wrap(item)) for key, item in value.items())
    return value


class AutoTrackable(Trackable):
    """Holds what is assigned to its attributes."""

    def __setattr__(self, name, value):
        value = wrap(value)
        if isinstance(value, Trackable):
            self._track_trackable(value, name, overwrite=True)
        else:
            self._forget(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self._forget(name)
        super().__delattr__(name)

    def _forget(self, name):
        tracked = self.__dict__.get("_tracked")
        if tracked:
            tracked[:] = [item for item in tracked if item.name != name]
