"""Attributes that are remembered: layers and variables that a layer holds, directly or in lists and dicts, are its own."""

from __future__ import annotations

import functools

from everflow.framework import attachments, nest
from everflow.keras.backend.state import track_variable
from everflow.ops.variables.containers import TrackableDataStructure, wrap_or_unwrap
from everflow.ops.variables.module import Module
from everflow.ops.variables.resource import UnreadVariable
from everflow.ops.variables.trackable import NoDependency, Trackable
from everflow.ops.variables.variable import Variable


def untracked(method):
    """Decorator: attributes that a method sets are the machinery's own, and not remembered."""
    return _with_tracking(method, False)


# Its name where layers that programs write import it from inside TensorFlow.
no_automatic_dependency_tracking = untracked


def tracked(method):
    """Decorator: attributes are remembered in a method that runs the program's code, also in one `untracked`."""
    return _with_tracking(method, True)


def _with_tracking(method, is_tracking):
    @functools.wraps(method)
    def switched(self, *args, **kwargs):
        before = self.__dict__.get("_is_tracking", True)
        self.__dict__["_is_tracking"] = is_tracking
        try:
            return method(self, *args, **kwargs)
        finally:
            self.__dict__["_is_tracking"] = before

    return switched


class TrackedAttributes(Trackable):
    """The part of a layer that knows what hangs on it."""

    def __setattr__(self, name, value):
        is_tracked = self.__dict__.get("_is_tracking", True) and not name.startswith("__")
        given = value
        if isinstance(value, NoDependency):
            value = value.value
            # Its weights are the layer's, though checkpoints pass it over.
            is_tracked = is_tracked and isinstance(value, (Variable, Module))
            self.__dict__.setdefault("_passed_over", set()).add(name)
        elif is_tracked:
            given = value = wrap_or_unwrap(value)
            if "_passed_over" in self.__dict__:
                self._passed_over.discard(name)
        if is_tracked:
            self._remember(name, value)
        super()._attach(name, given)

    def __delattr__(self, name):
        value = self.__dict__.get("_tracked", {}).get(name)
        if value is not None:
            # As in TensorFlow, checkpoints go on with what an attribute held that is deleted.
            self.__dict__.setdefault("_once_tracked", {})[name] = value
        self._forget(name)
        super().__delattr__(name)

    def _forget(self, name):
        """A variable that no attribute holds any more is none of the layer's weights."""
        tracked = self.__dict__.get("_tracked", {})
        tracked.pop(name, None)
        value = self.__dict__.get(name)
        if not isinstance(value, Variable) or any(value is vars(self).get(other) for other in tracked):
            return
        for kept in ("_trainable_weights", "_non_trainable_weights"):
            self.__dict__[kept] = [w for w in self.__dict__.get(kept, []) if w is not value]

    def _track(self, name, value):
        self.__dict__.setdefault("_tracked", {}).setdefault(name, value)
        attachments.joined(self)

    def _remember(self, name, value):
        tracked = self.__dict__.setdefault("_tracked", {})
        if tracked.get(name) is not value:
            self._forget(name)
        if isinstance(value, (Variable, Module, list, tuple, dict)) or hasattr(value, "_checkpoint_children"):
            tracked[name] = value
        else:
            tracked.pop(name, None)
            return
        claim(_leaves(value))
        for leaf in nest.flatten(value):
            # What an assignment gave is the variable again, and not one more.
            if isinstance(leaf, Variable) and not isinstance(leaf, UnreadVariable):
                track_variable(leaf)
                lists = [
                    self.__dict__.setdefault(kept, []) for kept in ("_trainable_weights", "_non_trainable_weights")
                ]
                if all(leaf is not w for kept in lists for w in kept):
                    lists[0 if leaf.trainable else 1].append(leaf)

    def _holders(self):
        """What holds layers and variables here, in the order of its coming: these themselves, lists and dicts."""
        return list(self.__dict__.get("_tracked", {}).values())

    def _holdings(self, also_in_tuples=False):
        """The layers, modules and variables that are held here."""
        return list({id(x): x for value in self._holders() for x in _leaves(value, also_in_tuples)}.values())

    def _holders_of_layers(self):
        """What holds layers here: layers, and the lists and dicts that are attributes."""
        holders = (list, dict, TrackableDataStructure)
        tracked = dict(self.__dict__.get("_tracked", {}))
        given = tracked.pop("_layers", ())  # by a class that keeps its layers under this name
        kept = [x for x in [*given, *tracked.values()] if isinstance(x, holders) or is_layer(x)]
        return list({id(x): x for x in kept}.values())

    @property
    def _layers(self):
        """What holds layers here, or what a class keeps under this name."""
        own = self.__dict__
        return own["_given_layers"] if "_given_layers" in own else self._holders_of_layers()

    @_layers.setter
    def _layers(self, layers):
        self.__dict__["_given_layers"] = layers
        self._remember("_layers", layers)

    def _nested_layers(self):
        return [x for x in self._holdings() if is_layer(x)]

    def _weights_inside(self, kind):
        """Weights of the layers held here, and variables that came into a list after it was set as an attribute."""
        own = {id(w) for w in self._trainable_weights + self._non_trainable_weights}
        found, seen = [], set()
        for holder in self._holders():
            asked = _of_frozen(kind) if isinstance(holder, TrackableDataStructure) and not holder.trainable else kind
            for x in _leaves(holder) if asked else ():
                if id(x) in seen:
                    continue
                seen.add(id(x))
                if isinstance(x, Variable):
                    if id(x) not in own and (asked == "weights" or x.trainable == (asked == "trainable_weights")):
                        found.append(x)
                elif is_layer(x):  # What a plain Module holds is not the layer's, as in TensorFlow.
                    found += getattr(x, asked)
        return found

    @property
    def submodules(self):
        """All layers and modules inside."""
        held = self._holdings(also_in_tuples=True)
        return tuple(dict.fromkeys(inner for x in held if isinstance(x, Module) for inner in (x, *x.submodules)))

    def _checkpoint_children(self):
        """What object-based checkpoints follow, in the order of its coming."""
        passed_over = self.__dict__.get("_passed_over", ())
        held = {**self.__dict__.get("_once_tracked", {}), **self.__dict__.get("_tracked", {})}.items()
        found = [(name, value) for name, value in held if not isinstance(value, tuple) and name not in passed_over]
        # What was tracked under a name of its own; the attributes of a module are those above.
        return found + Trackable._checkpoint_children(self)


def _of_frozen(kind):
    """Which weights of a list or dict that is frozen are of a kind: none is trained."""
    return None if kind == "trainable_weights" else "weights"


def is_layer(obj):
    """Whether something is a layer, of Keras or of `tf.layers`."""
    return isinstance(obj, Module) and hasattr(obj, "_inbound_nodes")


def claim(held):
    """Layers of `tf.layers` that a Keras layer holds make their variables as it does: as resources."""
    for layer in held:
        if getattr(layer, "_is_legacy_layer", False):
            layer._use_resource_variables = True


def _leaves(value, also_in_tuples=False):
    """Variables and modules in a value of lists and dicts, or of those that checkpoints follow. A tuple hides them, but
    for who looks for modules only.
    """
    if isinstance(value, dict):
        value = list(value.values())
    elif isinstance(value, TrackableDataStructure):
        value = value._values
    if isinstance(value, (list, tuple) if also_in_tuples else list):
        return [leaf for item in value for leaf in _leaves(item, also_in_tuples)]
    return [value] if isinstance(value, (Variable, Module)) and not isinstance(value, UnreadVariable) else []
