"""slim.data_provider.DataProvider: named tensors of one example, new ones at each run."""

from __future__ import annotations


class DataProvider:
    """Gives tensors by name."""

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """The tensors of these names; ValueError where one is not there."""
        self._validate_items(items)
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """All names."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """How many examples there are."""
        return self._num_samples

    def _validate_items(self, items):
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {valid}")
