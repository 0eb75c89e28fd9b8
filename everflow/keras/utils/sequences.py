"""`Sequence`: a dataset as a list of batches, whose order is kept though several workers fill it."""

from __future__ import annotations


class Sequence:
    """Base of datasets that give batch number `index` by `sequence[index]`, and have a length.

    Example:
        >>> class Squares(tf.keras.utils.Sequence):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index ** 2
        >>> list(Squares())
        [0, 1, 4]
    """

    def __getitem__(self, index):
        """The batch of this number."""
        raise NotImplementedError

    def __len__(self):
        """The number of batches."""
        raise NotImplementedError

    def on_epoch_end(self):
        """Called at the end of every epoch."""

    def __iter__(self):
        yield from (self[i] for i in range(len(self)))
