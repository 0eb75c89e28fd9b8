"""`tfe.Iterator`: a dataset's elements one by one, by its old name."""

from __future__ import annotations

from everflow.data.iterators import IteratorV2


class Iterator(IteratorV2):
    """What `iter(dataset)` gives, made from the dataset."""
