"""TensorFlow's `python.util.object_identity`: dictionaries and sets that ask whether two keys are the same object, for
things that compare otherwise, such as tensors and lists.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class _ObjectIdentityWrapper:
    """A key that equals another only if both stand for the same object."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError(
                f"{self!r} compares with keys of its own kind only, not with {other!r}: use its `unwrapped`."
            )
        return self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """Such a key that doesn't keep its object alive."""

    __slots__ = ("_hash",)

    def __init__(self, wrapped: Any):
        super().__init__(weakref.ref(wrapped))
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._wrapped()

    def __hash__(self) -> int:
        return self._hash


class Reference(_ObjectIdentityWrapper):
    """An object as a key of dictionaries and sets: two references are equal where they refer to the same object.

    >>> a, b = [1], [1]
    >>> Reference(a) == Reference(a), Reference(a) == Reference(b)
    (True, False)
    """

    __slots__ = ()
    unwrapped = property()  # what TensorFlow's has not

    def deref(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            raise TypeError(f"A Reference compares with another only, not with {other!r}: use its `deref()`.")
        return self._wrapped is other._wrapped

    __hash__ = _ObjectIdentityWrapper.__hash__


class ObjectIdentityDictionary(MutableMapping):
    """A dictionary by the identity of its keys."""

    _wrap_key: Any = _ObjectIdentityWrapper

    def __init__(self) -> None:
        self._storage: dict[_ObjectIdentityWrapper, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in self._storage)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """A dictionary by the identity of its keys, which forgets keys that nobody else holds."""

    _wrap_key = _WeakObjectIdentityWrapper

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        return _alive(self._storage, self._storage.pop)


class ObjectIdentitySet(MutableSet):
    """A set by the identity of its elements."""

    _wrap_key: Any = _ObjectIdentityWrapper

    def __init__(self, *args: Iterable[Any]) -> None:
        self._storage = {self._wrap_key(element) for element in list(*args)}

    @staticmethod
    def _from_storage(storage: set) -> ObjectIdentitySet:
        made = ObjectIdentitySet()
        made._storage = storage
        return made

    def __contains__(self, key: object) -> bool:
        return self._wrap_key(key) in self._storage

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in list(self._storage))

    def add(self, key: Any) -> None:
        """Put an object in."""
        self._storage.add(self._wrap_key(key))

    def discard(self, key: Any) -> None:
        """Take an object out, if it is in."""
        self._storage.discard(self._wrap_key(key))

    def update(self, items: Iterable[Any]) -> None:
        """Put objects in."""
        self._storage.update(map(self._wrap_key, items))

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The set of what is in both."""
        return self._from_storage(self._storage.intersection(map(self._wrap_key, items)))

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The set of what is here and not in `items`."""
        return self._from_storage(self._storage.difference(map(self._wrap_key, items)))


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """A set by the identity of its elements, which forgets those that nobody else holds."""

    _wrap_key = _WeakObjectIdentityWrapper

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        return _alive(self._storage, self._storage.discard)


def _alive(keys: Iterable[_ObjectIdentityWrapper], forget: Any) -> Iterator[Any]:
    """The objects of weak keys that are still there; the keys of the others are forgotten."""
    for key in list(keys):
        if (element := key.unwrapped) is None:
            forget(key)
        else:
            yield element
