"""tensorflow.python.util.object_identity: dictionaries and sets of objects that are told apart by being the same
object, whatever they say when they are compared.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSet
from typing import Any, ClassVar

__all__ = [
    "ObjectIdentityDictionary",
    "ObjectIdentitySet",
    "ObjectIdentityWeakKeyDictionary",
    "ObjectIdentityWeakSet",
]


class ObjectIdentityDictionary(MutableMapping):
    """A dictionary whose keys are objects themselves; they need not be hashable."""

    def __init__(self) -> None:
        # An object's id → what leads to it, and its value.
        self._entries: dict[int, tuple[Callable[[], Any], Any]] = {}

    def _holding(self, key: Any) -> Callable[[], Any]:
        return lambda: key

    def __getitem__(self, key: Any) -> Any:
        if id(key) not in self._entries:
            raise KeyError(key)
        return self._entries[id(key)][1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._entries[id(key)] = (self._holding(key), value)

    def __delitem__(self, key: Any) -> None:
        if self._entries.pop(id(key), None) is None:
            raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return (key for find, _ in list(self._entries.values()) if (key := find()) is not None)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Any) -> bool:
        return id(key) in self._entries


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """As `ObjectIdentityDictionary`; an object that nobody else holds leaves it."""

    def _holding(self, key: Any) -> Callable[[], Any]:
        number, entries = id(key), self._entries
        return weakref.ref(key, lambda _: entries.pop(number, None))


class ObjectIdentitySet(MutableSet):
    """A set of objects themselves."""

    _kind: ClassVar[type[ObjectIdentityDictionary]] = ObjectIdentityDictionary

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._known = self._kind()
        self.update(items)

    def add(self, item: Any) -> None:
        """Take an object in."""
        self._known[item] = True

    def discard(self, item: Any) -> None:
        """Let an object go, if it is here."""
        self._known.pop(item, None)

    def update(self, items: Iterable[Any]) -> None:
        """Take objects in."""
        for item in items:
            self.add(item)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The objects that are not among others."""
        return self - type(self)(items)

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The objects that are among others as well."""
        return self & type(self)(items)

    def __contains__(self, item: Any) -> bool:
        return item in self._known

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """As `ObjectIdentitySet`; an object that nobody else holds leaves it."""

    _kind = ObjectIdentityWeakKeyDictionary
