"""Arrays that live in Python and go into checkpoints with everything else."""

from __future__ import annotations

import io

import numpy as np

from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.train.tracking import PythonState


class _Array(PythonState):
    """One array, as the bytes of an .npy file."""

    def __init__(self, array):
        self.array = array

    def serialize(self):
        data = io.BytesIO()
        np.save(data, self.array, allow_pickle=False)
        return data.getvalue()

    def deserialize(self, string_value):
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(AutoTrackable):
    """An object whose attributes are numpy arrays that are saved and restored.

    >>> state = tf.contrib.checkpoint.NumpyState()
    >>> checkpoint = tf.train.Checkpoint(state=state)
    >>> state.seen = np.zeros([10])
    """

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name, value):
        held = self.__dict__.get(name)
        if isinstance(held, _Array):
            held.array = np.asarray(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            super().__setattr__(name, _Array(value))
        else:
            super().__setattr__(name, value)

    def _lookup_dependency(self, name):
        """What hangs here under a name; an array that only the checkpoint has comes into being."""
        found = super()._lookup_dependency(name)
        if found is None:
            found = _Array(np.zeros([]))
            super().__setattr__(name, found)
        return found
