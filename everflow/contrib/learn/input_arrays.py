"""Arrays as input: placeholders that a hook feeds with batches of x and y, in order or shuffled."""

from __future__ import annotations

import numpy as np

from everflow.framework.dtypes import as_dtype
from everflow.ops.array import placeholder
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class ArrayFeeder(SessionRunHook):
    """Feeds batches of arrays, pandas frames, or dicts of arrays. None for `epochs` goes on forever."""

    def __init__(self, x, y=None, batch_size=None, shuffle=False, epochs=1):
        self._x = _arrays(x)
        self._y = None if y is None else _arrays(y)
        first = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        self._count = len(first)
        self._batch_size = min(batch_size or self._count, self._count)
        self._epochs = epochs
        self._shuffle = shuffle
        self._random = np.random.RandomState(42)
        self._feeds = []
        self._batches = None
        self._next = None

    def input_fn(self):
        """The placeholders: (features, labels)."""
        self._feeds = []
        self._batches = self._all_batches()
        self._next = next(self._batches, None)
        return self._placeholders(self._x, "input"), None if self._y is None else self._placeholders(self._y, "output")

    def _placeholders(self, arrays, name):
        if isinstance(arrays, dict):
            return {key: self._placeholders(array, f"{name}_{key}") for key, array in arrays.items()}
        dtype = as_dtype(arrays.dtype) if arrays.dtype.kind != "U" else as_dtype("string")
        made = placeholder(dtype, [None, *arrays.shape[1:]], name=name)
        self._feeds.append((made, arrays))
        return made

    def _all_batches(self):
        """The rows of each batch; a batch may go from one epoch into the next only where the epochs go on."""
        epoch = 0
        while self._epochs is None or epoch < self._epochs:
            rows = self._random.permutation(self._count) if self._shuffle else np.arange(self._count)
            for start in range(0, self._count, self._batch_size):
                yield rows[start : start + self._batch_size]
            epoch += 1

    def before_run(self, run_context):
        rows = self._next
        self._next = next(self._batches, None)
        return SessionRunArgs(None, feed_dict={tensor: array[rows] for tensor, array in self._feeds})

    def after_run(self, run_context, run_values):
        if self._next is None:
            run_context.request_stop()


def _arrays(values):
    if isinstance(values, dict):
        return {key: _arrays(value) for key, value in values.items()}
    array = np.asarray(getattr(values, "values", values))
    return np.array(array.tolist()) if array.dtype == object and array.size else array
