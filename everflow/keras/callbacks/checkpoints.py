"""`ModelCheckpoint`: the model saved after epochs or after so many samples."""

from __future__ import annotations

import os
import re

import numpy as np

from everflow.keras.callbacks.base import Callback
from everflow.keras.callbacks.monitors import better, warn_of_missing
from everflow.keras.engine import workers
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.train.checkpoint_state import latest_checkpoint


class ModelCheckpoint(Callback):
    """Saves the model or its weights.

    Args:
        filepath: The path; it may hold the epoch and metrics: `w.{epoch:02d}-{loss:.2f}.h5`.
        monitor: The name of the metric.
        verbose: 1 to say when something is done.
        save_best_only: Whether only what is better than before is saved.
        save_weights_only: Whether only weights are saved.
        mode: `min`, `max`, or `auto` to go by the metric's name.
        save_freq: `epoch`, or after how many samples.
        **kwargs: `load_weights_on_restart`, and `period` as older programs have it.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> saver = tf.keras.callbacks.ModelCheckpoint("weights-{epoch}", save_weights_only=True)
        >>> _ = model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[saver])
        >>> tf.train.checkpoint_exists("weights-1")
        True
    """

    @takes(
        """filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False, mode="auto",
        save_freq="epoch", **kwargs""",
    )
    def __init__(self, filepath, mode, monitor, save_freq, **kwargs):
        super().__init__()
        self.filepath, self.monitor, self.save_freq = os.fspath(filepath), monitor, save_freq
        for name in ("verbose", "save_best_only", "save_weights_only"):
            setattr(self, name, kwargs.pop(name))
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.period = kwargs.pop("period", 1)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.epochs_since_last_save = self._samples_seen = 0
        self._current_epoch = 0
        self.monitor_op = better(mode, monitor, "ModelCheckpoint")
        self.best = -np.inf if self.monitor_op is np.greater else np.inf

    def set_model(self, model):
        super().set_model(model)
        if not model._is_graph_network and type(model).__name__ != "Sequential":
            self.save_weights_only = True  # Nobody could make the model anew from a file.

    def on_train_begin(self, logs=None):
        if not self.load_weights_on_restart:
            return
        newest = self._get_most_recently_modified_file_matching_pattern(self.filepath)
        if newest is not None:
            self.model.load_weights(newest)

    def _get_most_recently_modified_file_matching_pattern(self, pattern):
        """The file that a path with fields stands for; of several the newest, of those the last by name."""
        folder, name = os.path.split(pattern)
        named = re.compile("^" + ".*".join(map(re.escape, re.split(r"{[^{}]*}", name))) + "$")
        kept = latest_checkpoint(folder)
        if kept is not None and named.match(os.path.basename(kept)):
            return kept
        if not file_io.file_exists(folder):
            return None
        paths = [os.path.join(folder, found) for found in file_io.list_directory(folder) if named.match(found)]
        return max(paths, key=lambda path: (os.path.getmtime(path), path), default=None)

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        if isinstance(self.save_freq, int):
            self._samples_seen += logs.get("size", 1)
            if self._samples_seen >= self.save_freq:
                self._save_model(self._current_epoch, logs)
                self._samples_seen = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._current_epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch":
            self._save_model(epoch, logs)

    def _save_model(self, epoch, logs):
        logs = logs or {}
        if not workers.is_chief():
            return
        if not isinstance(self.save_freq, int) and self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self._get_file_path(epoch, logs)
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                warn_of_missing("ModelCheckpoint", self.monitor, logs)
                return
            if not self.monitor_op(current, self.best):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(
                    f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to {current:0.5f}, saving model to {path}"
                )
            self.best = current
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _get_file_path(self, epoch, logs):
        try:
            return self.filepath.format(epoch=epoch + 1, **logs)
        except KeyError as e:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason: {e}') from e
