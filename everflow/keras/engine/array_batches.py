"""The base of what gives batches, and batches of arrays. Other sources are in batches.py."""

from __future__ import annotations

import numpy as np

from everflow.keras.engine import data_checks, workers
from everflow.platform import logging


class Batches:
    """Base of sources. `samples` and `steps` say how long an epoch is, as far as it is known."""

    samples = steps = batch_size = None
    counts_samples = False
    is_told_steps = True  # Whether the program said how many there are.

    def epoch(self):
        """(values to feed, number of samples) for each batch of an epoch."""
        raise NotImplementedError

    def _stop_short(self, kind, count, remedy=""):
        logging.warning(
            f"Your {kind} ran out of data after {count} of the {self.steps} batches of an epoch; training ends here. It has to "
            f"give `{self.steps_name} * epochs` batches in all{remedy}."
        )
        self.model.stop_training = True

    def split_off(self, part):
        """Keep the last part for validation."""
        raise ValueError(
            "`validation_split` is only supported for arrays; it can't be used with tensors, datasets, generators or `Sequence`s."
        )


class ArrayBatches(Batches):
    """Slices of arrays, in order or shuffled anew for each epoch."""

    counts_samples = True

    def __init__(self, values, batch_size=None, steps=None, shuffle=False):
        self.inputs, self.targets, self.weights = values
        self.shuffle, self.steps = shuffle, steps
        self.batch_size = batch_size or 32
        arrays = [a for a in (*self.inputs, *self.targets) if a is not None and hasattr(a, "shape")]
        self.samples = int(arrays[0].shape[0]) if arrays else None
        if self.steps is not None:
            self.counts_samples = False

    def split_off(self, part):
        at = int(self.samples * (1.0 - part))
        later = self._rows(at, self.samples)
        self.inputs, self.targets, self.weights = self._rows(0, at)
        if at == 0 or at == self.samples:
            raise ValueError(
                f"`validation_split={part}` of {self.samples} samples leaves none to train on, or none to validate with."
            )
        total, self.samples = self.samples, at
        validation = ArrayBatches(later, self.batch_size).reshuffled()
        validation.samples = total - at
        return validation

    def _rows(self, *which):
        """(inputs, targets, weights) of rows, from one to another or by their numbers."""
        held = (self.inputs, self.targets, self.weights)
        return tuple(data_checks.slice_arrays(arrays, *which) for arrays in held)

    def reshuffled(self):
        """For validation within `fit`, which takes a new order each time: random numbers after it depend on that."""
        self.shuffle = True
        return self

    def epoch(self):
        if self.steps is not None:
            for _ in range(self.steps):
                yield (self.inputs, self.targets, self.weights), 1
            return
        order = np.arange(self.samples)
        if self.shuffle == "batch":
            order = _batch_shuffled(order, self.batch_size)
        elif self.shuffle:
            workers.shuffle(order)
        for start in range(0, self.samples, self.batch_size):
            rows = order[start : start + self.batch_size]
            yield self._rows(rows) if self.shuffle else self._rows(start, start + len(rows)), len(rows)


def _batch_shuffled(order, batch_size):
    """Whole batches in another order; the last, shorter one stays last."""
    whole = len(order) // batch_size
    last = order[whole * batch_size :]
    order = order[: whole * batch_size].reshape((whole, batch_size))
    workers.shuffle(order)
    return np.append(order.flatten(), last)
