"""Containers that checkpoints follow: they only grow, so that each element keeps the name it was saved under."""

from __future__ import annotations

import collections.abc

from everflow.ops.variables.variable import Variable
from everflow.train.tracking import AutoTrackable, NoDependency, is_trackable  # noqa: F401  tf.contrib.checkpoint has it

Checkpointable = AutoTrackable


class _Container(AutoTrackable):
    """What containers tell of the layers and variables in them."""

    trainable = True

    _storage = ()

    def _elements(self):
        """[(name, element)], in the order of their coming."""
        return list(self._storage)

    def _checkpoint_children(self):
        return list(self._elements())

    @property
    def layers(self):
        """The layers and containers in it."""
        return [e for _, e in self._elements() if hasattr(e, "losses") or isinstance(e, _Container)]

    def _variables(self, of_layers, wanted):
        found = []
        for _, element in self._elements():
            if isinstance(element, Variable):
                found += [element] if wanted(element) else []
            elif hasattr(element, of_layers):
                found += getattr(element, of_layers)
        return found

    def _of_layers(self, name):
        return [item for layer in self.layers for item in getattr(layer, name)]

    trainable_variables = trainable_weights = property(
        lambda self: self._variables("trainable_variables", lambda v: v.trainable)
    )
    non_trainable_variables = non_trainable_weights = property(
        lambda self: self._variables("non_trainable_variables", lambda v: not v.trainable)
    )
    variables = weights = property(lambda self: self.trainable_variables + self.non_trainable_variables)
    losses = property(lambda self: self._of_layers("losses"))
    updates = property(lambda self: self._of_layers("updates"))


def _checked(value, where):
    if isinstance(value, list):
        return List(value)
    if isinstance(value, dict):
        return Mapping(value)
    if not is_trackable(value):
        raise ValueError(f"A {where} takes only trackable objects, as layers and optimizers are. Got {value}")
    return value


class List(_Container, collections.abc.Sequence):
    """A list of what checkpoints can save. It can be appended to, not changed."""

    def __init__(self, *args, **kwargs):
        self.extend(list(*args, **kwargs))

    def _elements(self):
        return [(str(i), value) for i, value in enumerate(self._storage)]

    def append(self, value):
        """Add an element at the end."""
        self._storage = (*self._storage, _checked(value, "List"))

    def extend(self, values):
        """Add several elements at the end."""
        for value in values:
            self.append(value)

    def copy(self):
        """A list of the same elements."""
        return List(self._storage)

    def __getitem__(self, index):
        found = self._storage[index]
        return List(found) if isinstance(index, slice) else found

    def __len__(self):
        return len(self._storage)

    def __add__(self, other):
        return List([*self, *other])

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, times):
        return List(list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times):
        if times <= 0:
            raise ValueError(f"A List only grows: it can't be multiplied by {times} in place")
        self.extend(list(self) * (times - 1))
        return self

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, (List, list)) else NotImplemented

    __hash__ = object.__hash__

    def __repr__(self):
        return f"List({list(self._storage)!r})"


class Mapping(_Container, collections.abc.Mapping):
    """A dict from strings to what checkpoints can save. Keys can be added, not changed."""

    def __init__(self, *args, **kwargs):
        self.update(*args, **kwargs)

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError(f"A Mapping's keys are strings, since they name what is saved; got {key!r}")
        held = dict(self._storage)
        value = _checked(value, "Mapping")
        if held.get(key, value) is not value:
            raise ValueError(f"A Mapping is append-only: {key!r} holds {held[key]}, so {value} needs another key")
        self._storage = tuple({**held, key: value}.items())

    def update(self, *args, **kwargs):
        """Add keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key):
        return dict(self._storage)[key]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return (key for key, _ in self._storage)

    __hash__ = object.__hash__

    def __repr__(self):
        return f"Mapping({dict(self._storage)!r})"


class UniqueNameTracker(_Container):
    """Saves objects under names that it makes different from each other: base, base_1, base_2, …"""

    def track(self, trackable, base_name):
        """Save an object under a name that begins with `base_name`; the object itself."""
        if not is_trackable(trackable):
            raise ValueError(f"Expected a trackable value, got {trackable} which checkpoints can't save.")
        taken = {name for name, _ in self._storage}
        name, number = base_name, 0
        while name in taken:
            number += 1
            name = f"{base_name}_{number}"
        self._storage = (*self._storage, (name, trackable))
        return trackable
