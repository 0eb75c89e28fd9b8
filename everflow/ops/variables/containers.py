"""Containers that checkpoints follow. `List` and `Mapping` only grow, so that each element keeps the name it was saved
under; lists and dicts that are set as attributes may change as they like, and can't be saved any more when they did in
a way that moves names.
"""

from __future__ import annotations

import collections.abc
import copy
import operator

from everflow.framework import attachments
from everflow.ops.variables.trackable import NoDependency, Trackable, is_trackable
from everflow.ops.variables.variable import Variable


class _UntrackableError(ValueError):
    """Something that checkpoints can't save, where only what they can save may be."""

    def __init__(self, value, where="List"):
        super().__init__(f"A {where} takes only trackable objects, as layers and optimizers are. Got {value!r}")


class TrackableDataStructure(Trackable):
    """What containers tell of the layers and variables in them."""

    trainable = True  # False: none of its variables counts as trainable

    _storage: tuple = ()

    def _elements(self):
        """[(name, element)], in the order of their coming."""
        return list(self._storage)

    def _checkpoint_children(self):
        return self._elements()

    @property
    def _values(self):
        return [element for _, element in self._elements()]

    @property
    def layers(self):
        """The layers in it, also those in containers."""
        found = []
        for element in self._values:
            if isinstance(element, TrackableDataStructure):
                found += element.layers
            elif hasattr(element, "losses"):
                found.append(element)
        return found

    def _variables(self, of_layers, wanted):
        found = []
        for element in self._values:
            if isinstance(element, Variable):
                found += [element] if wanted(element) else []
            elif hasattr(element, of_layers):
                found += getattr(element, of_layers)
        return found

    def _of_layers(self, name):
        return [item for layer in self.layers for item in getattr(layer, name)]

    @property
    def trainable_weights(self):
        return self._variables("trainable_variables", lambda v: v.trainable) if self.trainable else []

    @property
    def non_trainable_weights(self):
        if not self.trainable:
            return self._variables("variables", lambda v: True)
        return self._variables("non_trainable_variables", lambda v: not v.trainable)

    weights = property(lambda self: self.trainable_weights + self.non_trainable_weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    variables = property(lambda self: self.weights)
    losses = property(lambda self: self._of_layers("losses"))
    updates = property(lambda self: self._of_layers("updates"))


def wrap_or_unwrap(value):
    """A list or dict as one that checkpoints follow; what `NoDependency` holds; anything else as it is."""
    if isinstance(value, NoDependency):
        return value.value
    wrapper = WRAPPERS.get(type(value))
    return value if wrapper is None else wrapper(value)


_wrap_or_unwrap = wrap_or_unwrap  # its name inside TensorFlow


def sticky_attribute_assignment(trackable, name, value):
    """Let a value hang on an object under a name, as a list or dict that checkpoints follow where it is one; what is to
    be set as the attribute.
    """
    is_saved = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if is_saved and is_trackable(value):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


# --- containers that only grow --------------------------------------------------------------------


def _checked(value, where):
    value = wrap_or_unwrap(value)
    if not is_trackable(value):
        raise _UntrackableError(value, where)
    return _claimed(value)


def _claimed(value):
    """An element of a container; layers of `tf.layers` there make their variables as resources."""
    if hasattr(value, "_use_resource_variables"):
        value._use_resource_variables = True
    return value


class List(TrackableDataStructure, collections.abc.Sequence):
    """A list of what checkpoints can save. It can be appended to, not changed."""

    def __init__(self, *args, **kwargs):
        self.extend(list(*args, **kwargs))

    def _elements(self):
        return [(str(i), value) for i, value in enumerate(self._storage)]

    def append(self, value):
        """Add an element at the end."""
        self._storage = (*self._storage, _checked(value, "List"))
        attachments.joined(self)

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

    def __radd__(self, other):
        return List([*other, *self])

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, times):
        return List(list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times):
        if times <= 0:
            raise ValueError(f"List only supports append: multiplied by {times} in place it would lose what it holds")
        self.extend(list(self) * (times - 1))
        return self

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, (List, list)) else NotImplemented

    __hash__ = object.__hash__

    def __repr__(self):
        return f"List({list(self._storage)!r})"


class Mapping(TrackableDataStructure, collections.abc.Mapping):
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
        attachments.joined(self)

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


class UniqueNameTracker(TrackableDataStructure):
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
        attachments.joined(self)
        return trackable


# --- lists and dicts that programs set as attributes ------------------------------------------------


class _Wrapper(TrackableDataStructure):
    """A list or dict of the program's. It is the program's object that is read and changed; what the wrapper holds as a
    list or dict itself is what was there when it was last changed through the wrapper.
    """

    def _start(self, wrapped):
        self._wrapped = wrapped
        self._names_moved = False  # elements may have other names than they had
        self._changed_outside = False
        self._not_saved = set()  # the ids of what came as NoDependency

    def _taken(self, value):
        unwrapped = _claimed(wrap_or_unwrap(value))
        if isinstance(value, NoDependency):
            self._not_saved.add(id(unwrapped))
        return unwrapped

    def _is_saved(self, value):
        return is_trackable(value) and id(value) not in self._not_saved

    def _look_outside(self):
        """See whether somebody changed the program's object."""
        self._changed_outside = self._changed_outside or self._differs()

    def _check_names(self):
        self._look_outside()
        if self._changed_outside or self._names_moved:
            kind = self._kind
            outside = (
                f"The wrapped {kind} was modified outside the wrapper, that is, not by the attribute that holds it"
            )
            raise ValueError(
                f"Unable to save {self!r}. {outside if self._changed_outside else self._how}. Its elements may not be found "
                "again; set it as tf.contrib.checkpoint.NoDependency(value) where it is not to be saved."
            )

    def _checkpoint_children(self):
        self._check_names()
        return super()._checkpoint_children()

    def copy(self):
        """Another one with the same elements."""
        return self._alike(copy.copy(self._wrapped))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self._alike(copy.deepcopy(self._wrapped, memo))

    def _alike(self, wrapped):
        made = type(self)(wrapped)
        made._names_moved, made._changed_outside = self._names_moved, self._changed_outside
        return made

    def __reduce_ex__(self, protocol):
        return type(self), (self._wrapped,)

    def __hash__(self):
        raise TypeError(f"unhashable type: {type(self).__name__!r}")


def _reading(name, kind):
    """A method that asks the program's object."""

    def method(self, *args):
        return getattr(self._wrapped, name)(*args)

    method.__name__, method.__doc__ = name, getattr(kind, name).__doc__
    return method


class ListWrapper(_Wrapper, list):
    """A list that is an attribute: it can be saved while it is only appended to."""

    _stands_for = list  # to `nest`
    _kind = "list"

    _how = (
        "A list element was replaced (__setitem__, __setslice__), taken away (__delitem__, __delslice__) or moved "
        "(insert, sort)"
    )

    def __init__(self, wrapped_list=()):
        self._start(wrapped_list if isinstance(wrapped_list, list) else list(wrapped_list))
        self._wrapped[:] = [self._taken(value) for value in self._wrapped]
        list.__init__(self, self._wrapped)

    def _differs(self):
        own = list.__len__(self)
        return len(self._wrapped) != own or not all(map(operator.is_, self._wrapped, list.__iter__(self)))

    def _elements(self):
        return [(str(i), value) for i, value in enumerate(self._wrapped) if self._is_saved(value)]

    def _change(self, moves_names, change, *args, **kwargs):
        """Change the program's list, and take down what is in it then."""
        self._look_outside()
        self._names_moved = self._names_moved or moves_names
        result = change(self._wrapped, *args, **kwargs)
        list.__setitem__(self, slice(None), self._wrapped)
        attachments.joined(self)
        return result

    def append(self, value):
        """Add an element at the end."""
        self._change(False, list.append, self._taken(value))

    def extend(self, values):
        """Add several elements at the end."""
        self._change(False, list.extend, [self._taken(value) for value in values])

    def __setitem__(self, key, value):
        if isinstance(key, slice):
            moves, value = any(map(self._is_saved, self._wrapped)), [self._taken(each) for each in value]
        else:
            moves, value = self._is_saved(self._wrapped[key]), self._taken(value)
        self._change(moves, list.__setitem__, key, value)

    def reverse(self):
        """Turn the order round."""
        self._change(any(map(self._is_saved, self._wrapped)), list.reverse)

    def insert(self, index, value):
        """Put an element before another one."""
        self._change(True, list.insert, index, self._taken(value))

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __imul__(self, times):
        self._change(times <= 0, list.__imul__, times)
        return self

    def __add__(self, other):
        return ListWrapper([*self._wrapped, *other])

    def __radd__(self, other):
        return ListWrapper([*other, *self._wrapped])

    def __mul__(self, times):
        return ListWrapper(self._wrapped * times)

    __rmul__ = __mul__

    def __repr__(self):
        return f"ListWrapper({self._wrapped!r})"


def _taking_away(name):
    def method(self, *args, **kwargs):
        return self._change(True, getattr(list, name), *args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(list, name).__doc__
    return method


_ORDERINGS = "__eq__ __ne__ __lt__ __le__ __gt__ __ge__"
for _name in f"__getitem__ __len__ __iter__ __contains__ __reversed__ index count {_ORDERINGS}".split():
    setattr(ListWrapper, _name, _reading(_name, list))
for _name in "pop remove clear sort __delitem__".split():
    setattr(ListWrapper, _name, _taking_away(_name))


class _DictWrapper(_Wrapper, dict):
    """A dict that is an attribute: it can be saved while what is to be saved in it has names, and keeps them."""

    _kind = "dict"
    _how = "Something to be saved is under a non-string key, which can be no name in a checkpoint"

    def __init__(self, *args, **kwargs):
        given = args[0] if len(args) == 1 and not kwargs else None
        self._start(given if isinstance(given, dict) else dict(*args, **kwargs))
        self._saved_before = {}  # what was taken away by its key stays in checkpoints
        for key, value in self._wrapped.items():
            self._put(key, value)
        self._note()

    @property
    def __class__(self):  # an OrderedDict stays one for whoever asks
        return type(self.__dict__["_wrapped"])

    @property
    def __wrapped__(self):
        return self._wrapped

    def _differs(self):
        own = dict.items(self)
        return len(self._wrapped) != len(own) or any(self._wrapped.get(key, own) is not value for key, value in own)

    def _elements(self):
        held = {**self._saved_before, **self._wrapped}
        return sorted((key, value) for key, value in held.items() if self._is_saved(value))

    def _note(self):
        dict.clear(self)
        dict.update(self, self._wrapped)
        attachments.joined(self)

    def __setitem__(self, key, value):
        self._look_outside()
        self._put(key, value)
        self._note()

    def _put(self, key, value):
        self._wrapped[key] = value = self._taken(value)
        self._names_moved = self._names_moved or (self._is_saved(value) and not isinstance(key, str))

    def update(self, *args, **kwargs):
        """Set several keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __delitem__(self, key):
        self._look_outside()
        self._saved_before[key] = self._wrapped[key]
        del self._wrapped[key]
        self._note()

    def __repr__(self):
        return f"DictWrapper({self._wrapped!r})"

    def __str__(self):
        return str(self._wrapped)


_DICT_READING = "__getitem__ __len__ __iter__ __contains__ __eq__ __ne__ get keys values items"
for _name in f"{_DICT_READING} pop popitem clear setdefault".split():
    setattr(_DictWrapper, _name, _reading(_name, dict))

# What becomes of lists and dicts that are set as attributes, by type.
WRAPPERS: dict = {list: ListWrapper, dict: _DictWrapper, collections.OrderedDict: _DictWrapper}
