"""slim.data_provider.DataProvider: named tensors of one example, new ones at each run."""

from __future__ import annotations


class DataProvider:
    """Gives tensors by name."""

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """The tensors of these names; ValueError where one is not there."""
        if not isinstance(items, (list, tuple)):
            raise ValueError(f"items must be a list or tuple of names, not {items!r}")
        known = self.list_items()
        unknown = [item for item in items if item not in known]
        if unknown:
            raise ValueError(f"Item {unknown[0]!r} is invalid: the items are {', '.join(known)}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """All names."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """How many examples there are."""
        return self._num_samples
