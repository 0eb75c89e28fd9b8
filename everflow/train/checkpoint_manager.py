"""`tf.train.CheckpointManager` keeps the newest few checkpoints of a folder; `checkpoints_iterator` waits for new ones."""

from __future__ import annotations

import collections
import numbers
import os
import time

from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.ops.variables.global_step import global_step as step_in
from everflow.platform import file_io, logging
from everflow.train.checkpoint_state import (
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    write_state,
)
from everflow.train.restore_status import session_for


class CheckpointManager:
    """Saves a `tf.train.Checkpoint` into a folder as ckpt-1, ckpt-2, … and deletes old ones.

    Args:
        checkpoint: The `tf.train.Checkpoint`.
        directory: The folder.
        max_to_keep: How many checkpoints are kept; all if None.
        keep_checkpoint_every_n_hours: One of so many hours is kept for ever.
        checkpoint_name: What the files' names begin with.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "folder", max_to_keep=3)
        >>> _ = manager.save()
        >>> manager.latest_checkpoint
        'folder/ckpt-1'
    """

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt"):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` (all) for `max_to_keep`, got {max_to_keep}")
        self._checkpoint = checkpoint
        self._max_to_keep = max_to_keep
        self._seconds = None if keep_checkpoint_every_n_hours is None else 3600.0 * keep_checkpoint_every_n_hours
        self._directory = directory
        self._prefix = os.path.join(directory, checkpoint_name)
        self._held: collections.OrderedDict[str, float] = collections.OrderedDict()
        self._count_up = None
        file_io.recursive_create_dir(directory)
        self._take_over(get_checkpoint_state(directory))

    def _take_over(self, state):
        """Go on from what an earlier process left in the folder."""
        self._latest = None if state is None else state.model_checkpoint_path
        now = time.time()
        # A second back, so that one made again at once finds the first checkpoint old enough.
        self._last_preserved = now - 1.0 if state is None else state.last_preserved_timestamp
        if now < self._last_preserved:
            behind = self._last_preserved - now
            logging.warning(
                "The clock is %f seconds behind %s: its checkpoints are left alone", behind, self._directory
            )
            self._last_preserved = now
            return
        # What others wrote has no times there; it isn't this one's to delete.
        if state is not None and len(state.all_model_checkpoint_timestamps) == len(state.all_model_checkpoint_paths):
            self._held.update(zip(state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps))

    _checkpoint_prefix = property(lambda self: self._prefix)
    latest_checkpoint = property(lambda self: self._latest, doc="The path of the newest checkpoint, or None.")
    checkpoints = property(lambda self: list(self._held), doc="The paths of the checkpoints kept, oldest first.")

    def save(self, checkpoint_number=None):
        """Write the next checkpoint, delete what is too old, and return the new one's path."""
        session = None if executing_eagerly() else session_for(get_default_session())
        count = self._counted(session)
        number = count if checkpoint_number is None else _number(checkpoint_number, session)
        path = self._checkpoint.write(f"{self._prefix}-{number}", session=session)
        self._held.pop(path, None)
        self._held[path] = time.time()
        self._latest = path
        expired = self._expired(path)
        # First what is valid, then the deleting: whoever reads in between finds what the state file names.
        self._write_state()
        for old in expired:
            remove_checkpoint(old)
        return path

    def _counted(self, session):
        """Count up; gives the number."""
        if session is None:
            return int(self._checkpoint.save_counter.assign_add(1).numpy())
        counter = self._checkpoint._ready_counter(session)
        with session.graph.as_default():
            if self._count_up is None:
                self._count_up = counter.assign_add(1, read_value=False)
        session.run(self._count_up)
        return int(session.run(counter))

    def _expired(self, newest):
        """Drop and return the checkpoints beyond the number to keep; one in so many hours is kept for good."""
        expired = []
        while self._max_to_keep is not None and len(self._held) > self._max_to_keep:
            path, when = next(iter(self._held.items()))
            if path == newest:
                break
            del self._held[path]
            if self._seconds is not None and when - self._seconds >= self._last_preserved:
                self._last_preserved = when
            else:
                expired.append(path)
        return expired

    def _write_state(self):
        times = {"all_model_checkpoint_timestamps": list(self._held.values())}
        times["last_preserved_timestamp"] = self._last_preserved
        write_state(self._directory, self._latest, list(self._held), save_relative_paths=True, **times)


def _number(given, session):
    """A step that a program counts, as an int: a number, or a variable in the session."""
    if session is None or isinstance(given, numbers.Integral):
        return int(given.numpy() if hasattr(given, "numpy") else given)
    return int(step_in(session, given))


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yield the path of each new checkpoint in a folder as it comes.

    After `timeout` seconds without one it ends, unless `timeout_fn()` gives something false. `min_interval_secs` go by
    between two.

    Args:
        checkpoint_dir: The folder of the checkpoints.
        min_interval_secs: The least seconds between two.
        timeout: How many seconds to wait for one; for ever if None.
        timeout_fn: A function that is called then; it ends where this returns True.

    Yields:
        Paths of checkpoints.

    Example:
        >>> list(tf.train.checkpoints_iterator("empty", timeout=0))
        []
    """
    seen = None
    while True:
        path = _wait_for_new(checkpoint_dir, seen, timeout)
        if path is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        began = time.time()
        seen = path
        yield path
        time.sleep(max(0.0, began + min_interval_secs - time.time()))


def _wait_for_new(folder, seen, timeout, seconds_between=1):
    logging.info("Waiting for new checkpoint at %s", folder)
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != seen:
            times = get_checkpoint_mtimes([path])
            logging.info("Found new checkpoint at %s%s", path, f", written {time.ctime(times[0])}" if times else "")
            return path
        if end is not None and time.time() + seconds_between > end:
            return None
        time.sleep(seconds_between)
