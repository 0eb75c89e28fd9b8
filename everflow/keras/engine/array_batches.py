"""The base of what gives batches, and batches of arrays. Other sources are in batches.py."""

from __future__ import annotations

import numpy as np

from everflow.keras.engine import data_checks, workers
from everflow.keras.engine.batch_values import is_composite, row_count
from everflow.platform import logging


class Batches:
    """Base of sources. `samples` and `steps` say how long an epoch is, as far as it is known."""

    samples = steps = batch_size = None
    counts_samples = False
    is_told_steps = True  # Whether the program said how many there are.
    in_functions = False  # Whether batches are taken as traced functions take them.
    last_size = None  # Of the batch that was given last.
    is_blind = False  # Whether steps begin before their batches are there.

    def steps_ahead(self, kind):
        """How many steps a loop of a kind knows to come; None where it goes on until there is nothing left."""
        return self.steps

    def epoch(self):
        """(values to feed, number of samples) for each batch of an epoch."""
        raise NotImplementedError

    @property
    def number_of_batches(self):
        """How many batches of samples an epoch has, where functions count them."""
        if not self.in_functions or self.samples is None:
            return None
        return np.int64(-(-self.samples // self.batch_size))

    def _counted(self, values):
        """The number of samples in a batch; functions tell it as a number of numpy's."""
        arrays = [a for a in values[0] + values[1] if a is not None and hasattr(a, "shape")]
        self.last_size = int(arrays[0].shape[0]) if arrays else 1
        return np.int64(self.last_size) if self.in_functions else self.last_size

    def as_validation_of(self, source, batch_size):
        """This source as validation within the training on another one."""
        return self

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
    _trained = None  # The source of training, where its last batch says how large ours are.

    def __init__(self, values, batch_size=None, steps=None, shuffle=False):
        self.inputs, self.targets, self.weights = values
        self.shuffle, self.steps = shuffle, steps
        self.batch_size = batch_size or 32
        arrays = [
            a for a in (*self.inputs, *self.targets) if a is not None and (hasattr(a, "shape") or is_composite(a))
        ]
        self.samples = row_count(arrays[0]) if arrays else None
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
        validation = ArrayBatches(later, self.batch_size)
        validation.samples, validation.in_functions = total - at, self.in_functions
        return validation.as_validation_of(self, self.batch_size)

    def _rows(self, *which):
        """(inputs, targets, weights) of rows, from one to another or by their numbers."""
        held = (self.inputs, self.targets, self.weights)
        return tuple(data_checks.slice_arrays(arrays, *which) for arrays in held)

    def as_validation_of(self, source, batch_size):
        if isinstance(source, ArrayBatches):
            # It takes a new order each time: random numbers after it depend on that. Functions take rows in order.
            self.shuffle = not self.in_functions
        elif batch_size is None and (self.steps is None or not self.in_functions):
            # Validation goes on with batches of the size that training had last.
            self._trained = source
        return self

    def epoch(self):
        if self._trained is not None and self._trained.last_size:
            self.batch_size = self._trained.last_size
        elif self.steps is not None:
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


def _batch_shuffled(index_array, batch_size):
    """Whole batches in another order; the last, shorter one stays last."""
    whole = len(index_array) // batch_size
    last = index_array[whole * batch_size :]
    order = index_array[: whole * batch_size].reshape((whole, batch_size))
    workers.shuffle(order)
    return np.append(order.flatten(), last)
