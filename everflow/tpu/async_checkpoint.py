"""A hook that saves checkpoints on a thread of its own, while training goes on."""

from __future__ import annotations

import threading

from everflow.platform import logging
from everflow.train.saving_hooks import CheckpointSaverHook


class AsyncCheckpointSaverHook(CheckpointSaverHook):
    """A CheckpointSaverHook whose checkpoints are written in the background; one at a time, the last one waited for."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
    ):
        if saver is not None and scaffold is not None:
            raise ValueError("Give a saver or a scaffold, not both.")
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)
        self._thread = None
        self._error = None

    def _save(self, session, step, asynchronous=True):
        """Write a checkpoint, in the background unless told otherwise; whether training shall stop."""
        self._finish()
        if not asynchronous:
            return super()._save(session, step)

        def write():
            try:
                super(AsyncCheckpointSaverHook, self)._save(session, step)
            except Exception as error:  # raised by whoever waits for the thread
                self._error = error

        self._thread = threading.Thread(target=write, name="checkpoint")
        self._thread.start()
        return False

    def _finish(self):
        """Wait for the checkpoint that is being written."""
        if self._thread is not None:
            logging.info("Waiting for a checkpoint to be written.")
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def after_create_session(self, session, coord):
        super().after_create_session(session, coord)
        self._finish()

    def end(self, session):
        self._finish()
        super().end(session)
        self._finish()
