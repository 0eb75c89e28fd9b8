"""Arrays that are cut into steps, as functions and strategies take them, and batches that go on over epochs."""

from __future__ import annotations

import itertools

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.keras.engine import workers
from everflow.keras.engine.array_batches import ArrayBatches
from everflow.keras.engine.batch_values import is_composite, row_count

_DEFAULT_BATCH = 32


def cut(samples, steps, batch_size, may_end_short, in_functions=False, for_predict=False):
    """(steps, size of batches) for so many samples; ValueError where they can't be cut so."""
    if steps is None:
        size = batch_size or min(samples, _DEFAULT_BATCH)
        if samples % size and not may_end_short:
            raise ValueError(f"There are {samples} samples, which is not divisible by batch size {size}.")
        return -(-samples // size), size
    if batch_size is None:
        if samples % steps:
            raise ValueError(f"There are {samples} samples, which is not divisible by steps, {steps}.")
        return steps, samples // steps
    # Functions may take a shorter last batch; what they predict is for all samples.
    needed = (steps - 1) * batch_size + 1 if in_functions else steps * batch_size
    if samples < needed:
        raise ValueError(f"{steps} steps of {batch_size} need more samples than there are: {samples}.")
    if in_functions and for_predict and samples > steps * batch_size:
        raise ValueError(f"{steps} steps of {batch_size} don't predict from all {samples} samples.")
    return steps, batch_size


class SpreadBatches(ArrayBatches):
    """Steps are counted, and an epoch begins where the last one ended, unless it `restarts`."""

    restarts = False

    def __init__(self, model, values, steps, batch_size, shuffle, steps_name):
        super().__init__(values, batch_size, steps, shuffle)
        self.model, self.steps_name = model, steps_name
        self._running = None

    def _passes(self):
        """The orders of rows, pass after pass."""
        while True:
            order = np.arange(self.samples)
            if self.shuffle:
                workers.shuffle(order)
            yield order

    def _pieces(self):
        """Rows of one batch after the other; the last one of a pass may be shorter."""
        for order in self._passes():
            for start in range(0, self.samples, self.batch_size):
                yield order[start : start + self.batch_size]

    def _size(self, rows):
        """What callbacks are told of a batch's size."""
        return len(rows)

    def epoch(self):
        if self._running is None or self.restarts:
            self._running = self._pieces()
        for count in range(self.steps):
            rows = next(self._running, None)
            if rows is None:
                self._stop_short("data", count)
                return
            yield self._rows(rows), self._size(rows)


class SessionBatches(SpreadBatches):
    """As a session is fed: the passes of all epochs are cut into batches as one, so that some have rows of two passes.

    Without `epochs`, for what is tested or predicted, each epoch is one pass.
    """

    def __init__(self, model, values, steps, batch_size, shuffle, steps_name, epochs):
        super().__init__(model, values, steps, batch_size, shuffle, steps_name)
        self._epochs = epochs

    def as_validation_of(self, source, batch_size):
        return self

    def _pieces(self):
        left = np.arange(0)
        for order in itertools.islice(self._passes(), self._epochs or 1):
            left = np.append(left, order)
            while len(left) >= self.batch_size:
                yield left[: self.batch_size]
                left = left[self.batch_size :]
        if len(left):
            yield left

    def epoch(self):
        if self._epochs is None:
            self._running = None
        return super().epoch()

    def _size(self, rows):
        return 1


def spread(model, values, batch_size, steps, shuffle, steps_name, epochs=None, for_predict=False):
    """The batches of arrays under a strategy; `epochs` is for training, whose last batch may be smaller."""
    samples = next(row_count(a) for a in (*values[0], *values[1]) if hasattr(a, "shape") or is_composite(a))
    in_functions = model._experimental_run_tf_function
    # A session tests and predicts with batches of one size only.
    needed, size = cut(
        samples,
        steps,
        batch_size,
        in_functions or epochs is not None or executing_eagerly(),
        in_functions,
        for_predict,
    )
    if not in_functions:
        # Testing and predicting begin anew each time.
        return SessionBatches(model, values, needed, size, shuffle, steps_name, epochs)
    if steps is None:
        return ArrayBatches(values, size, None, shuffle)
    return SpreadBatches(model, values, steps, size, shuffle, steps_name)


def steps_of_arrays(model, values, batch_size, steps, shuffle, steps_name, is_validation, for_predict):
    """The batches of arrays that functions take in so many steps; validation may end with a smaller one."""
    samples = next(row_count(a) for a in (*values[0], *values[1]) if hasattr(a, "shape") or is_composite(a))
    if is_validation:
        size = batch_size or -(-samples // steps)
    else:
        steps, size = cut(samples, steps, batch_size, may_end_short=True, in_functions=True, for_predict=for_predict)
    made = SpreadBatches(model, values, steps, size, shuffle, steps_name)
    made.restarts = is_validation
    return made
