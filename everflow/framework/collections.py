"""Collections of a graph: named lists that library and user code put things in."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any


class GraphCollections:
    """The collection methods of a Graph."""

    def __init__(self) -> None:
        self._collections: dict[Hashable, list[Any]] = {}

    @property
    def collections(self) -> list[Hashable]:
        """The names of all collections."""
        return list(self._collections)

    def _check_not_finalized(self) -> None:
        """Raise where nothing may be added any more; a graph knows."""
        raise NotImplementedError

    def get_all_collection_keys(self) -> list[str]:
        """The names of all collections that are strings: what the library keeps for itself is under tuples."""
        return [k for k in self._collections if isinstance(k, str)]

    def add_to_collection(self, name: Hashable, value: Any) -> None:
        """Append a value to a collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: str | Iterable[Hashable], value: Any) -> None:
        """Append a value to each of several collections (a name or a sequence of names)."""
        names = (names,) if isinstance(names, str) else set(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Hashable) -> list[Any]:
        """The collection's own list: changes to it change the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Hashable, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with `scope`, of its items whose names match that regular expression at their start."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name: Hashable) -> None:
        """Empty a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
