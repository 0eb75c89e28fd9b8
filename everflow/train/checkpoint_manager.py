"""`tf.train.CheckpointManager`: keeps the newest checkpoints of a folder and deletes the others."""

from __future__ import annotations

import collections
import os
import time

from everflow.framework.scopes import get_default_session
from everflow.train.checkpoint_state import checkpoint_exists, get_checkpoint_state, remove_checkpoint, write_state


class CheckpointManager:
    """Saves a Checkpoint under numbered names in a folder.

    >>> manager = tf.train.CheckpointManager(checkpoint, "training", max_to_keep=3)
    """

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt"):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint = checkpoint
        self._directory = directory
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(directory, checkpoint_name)
        self._latest = None
        self._count_up = None
        self._kept = collections.OrderedDict()
        self._last_preserved = time.time()
        self._take_over(get_checkpoint_state(directory))

    def _take_over(self, state):
        """Go on with the checkpoints that a former run left."""
        if state is None:
            return
        now = time.time()
        stamps = list(state.all_model_checkpoint_timestamps) or [now] * len(state.all_model_checkpoint_paths)
        for path, stamp in zip(state.all_model_checkpoint_paths, stamps, strict=False):
            if checkpoint_exists(path):
                self._kept[path] = stamp
        self._last_preserved = state.last_preserved_timestamp or now
        self._latest = state.model_checkpoint_path

    directory = property(lambda self: self._directory, doc="The folder.")
    checkpoints = property(lambda self: list(self._kept), doc="The checkpoints there are, oldest first.")
    latest_checkpoint = property(lambda self: self._latest, doc="The newest checkpoint, or None.")

    def save(self, checkpoint_number=None):
        """Save, in the default session, and delete what is too old; returns the path."""
        session = get_default_session()
        counter = self._checkpoint.save_counter
        if checkpoint_number is None:
            if not session.run(counter.is_initialized()):
                session.run(counter.initializer)
            if self._count_up is None:
                self._count_up = counter.assign_add(1)
            checkpoint_number = session.run(self._count_up)
        path = self._checkpoint.write(f"{self._prefix}-{int(checkpoint_number)}", session=session)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._write_state()
        if self._sweep():
            self._write_state()
        return path

    def _write_state(self):
        write_state(
            self._directory,
            self._latest,
            self.checkpoints,
            save_relative_paths=True,
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=self._last_preserved,
        )

    def _sweep(self):
        """Delete or let go the oldest beyond the number to keep; whether there were any."""
        swept = False
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, stamp = self._kept.popitem(last=False)
            swept = True
            if self._keep_every is not None and stamp - self._keep_every * 3600 >= self._last_preserved:
                self._last_preserved = stamp
            else:
                remove_checkpoint(path)
        return swept
