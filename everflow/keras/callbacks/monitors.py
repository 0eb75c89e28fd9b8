"""Callbacks that watch a metric or the number of the epoch: they stop training or change the learning rate."""

from __future__ import annotations

import numpy as np

from everflow.keras import backend as K
from everflow.keras.callbacks.base import Callback
from everflow.platform import logging
from everflow.platform.signatures import parameters_of, takes


def better(mode, monitor, callback_name):
    """The function that tells whether a value is better than another, for "min", "max", or by the metric's name."""
    if mode not in ("auto", "min", "max"):
        logging.warning("%s mode %s is unknown, fallback to auto mode.", callback_name, mode)
        mode = "auto"
    if mode == "auto":
        is_largest = "acc" in monitor or callback_name == "ModelCheckpoint" and monitor.startswith("fmeasure")
        mode = "max" if is_largest else "min"
    return np.greater if mode == "max" else np.less


def warn_of_missing(callback_name, monitor, logs):
    """Say that a callback can do nothing, for want of the metric that it watches."""
    logging.warning(
        "%s watches `%s`, which is not available. Available metrics are: %s", callback_name, monitor, ",".join(logs)
    )


class EarlyStopping(Callback):
    """Ends training when a metric has not become better for `patience` epochs.

    Args:
        monitor: The name of the metric.
        min_delta: The least change that counts.
        patience: How many epochs to wait.
        verbose: 1 to say when something is done.
        mode: `min`, `max`, or `auto` to go by the metric's name.
        baseline: The value that the metric must reach in the end; None for none.
        restore_best_weights: Whether the model gets the weights of its best epoch.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2], kernel_initializer="zeros")])
        >>> model.compile("sgd", "mse")
        >>> stop = tf.keras.callbacks.EarlyStopping("loss", patience=1)
        >>> history = model.fit(np.ones([4, 2]), np.zeros([4, 1]), epochs=9, verbose=0, callbacks=[stop])
        >>> history.epoch
        [0, 1]
    """

    @takes(
        """monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None,
        restore_best_weights=False""",
    )
    def __init__(self, monitor, min_delta, mode, **kept):
        super().__init__()
        self.__dict__.update(kept, monitor=monitor)
        self.wait = self.stopped_epoch = 0
        self.best_weights = None
        self.monitor_op = better(mode, monitor, "EarlyStopping")
        self.min_delta = abs(min_delta) * (1 if self.monitor_op is np.greater else -1)

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = 0
        self.best = self.baseline if self.baseline is not None else (np.inf if self.monitor_op is np.less else -np.inf)

    def on_epoch_end(self, epoch, logs=None):
        current = self.get_monitor_value(logs)
        if current is None:
            return
        is_better = self.monitor_op(current - self.min_delta, self.best)
        self.wait = 0 if is_better else self.wait + 1
        if is_better:
            self.best, self.best_weights = current, self.model.get_weights() if self.restore_best_weights else None
        elif self.wait >= self.patience:
            self._stop(epoch)

    def _stop(self, epoch):
        self.stopped_epoch, self.model.stop_training = epoch, True
        if not self.restore_best_weights:
            return
        if self.verbose > 0:
            print("Restoring the weights of the best epoch.")
        self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs):
        """The metric that is watched; None with a warning where it isn't there."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            warn_of_missing("EarlyStopping", self.monitor, logs or {})
        return value


class LearningRateScheduler(Callback):
    """The learning rate as a function of the epoch, or of the epoch and the rate so far.

    Args:
        schedule: The function.
        verbose: 1 to say when something is done.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> scheduler = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
        >>> _ = model.fit(np.ones([4, 2]), np.ones([4, 1]), epochs=2, verbose=0, callbacks=[scheduler])
        >>> tf.keras.backend.get_value(model.optimizer.lr)
        np.float32(0.05)
    """

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(K.get_value(self.model.optimizer.lr)))
        except TypeError:
            # Schedules of older programs take the epoch only.
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError(f"A learning rate is a float; the schedule gave {rate!r} for epoch {epoch}.")
        K.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(Callback):
    """A smaller learning rate when a metric has not become better for `patience` epochs.

    Args:
        monitor: The name of the metric.
        factor: What the rate is multiplied by.
        patience: How many epochs to wait.
        verbose: 1 to say when something is done.
        mode: `min`, `max`, or `auto` to go by the metric's name.
        min_delta: The least change that counts.
        cooldown: How many epochs to wait after that.
        min_lr: The least rate.
        **kwargs: `epsilon`, an older name of `min_delta`.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2], kernel_initializer="zeros")])
        >>> model.compile(tf.keras.optimizers.SGD(0.5), "mse")
        >>> reduce = tf.keras.callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1)
        >>> _ = model.fit(np.ones([4, 2]), np.zeros([4, 1]), epochs=3, verbose=0, callbacks=[reduce])
        >>> tf.keras.backend.get_value(model.optimizer.lr)
        np.float32(0.005)
    """

    @takes(
        """monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=1e-4, cooldown=0, min_lr=0,
        **kwargs""",
    )
    def __init__(self, **kept):
        super().__init__()
        if kept["factor"] >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kept:
            kept["min_delta"] = kept.pop("epsilon")
            logging.warning("ReduceLROnPlateau's `epsilon` is deprecated: it is called `min_delta` now.")
        self.__dict__.update({name: kept[name] for name in parameters_of(ReduceLROnPlateau.__init__, ("**kwargs",))})
        if self.mode not in ("auto", "min", "max"):
            logging.warning("ReduceLROnPlateau's mode %s is unknown: it goes by the metric's name.", self.mode)
            self.mode = "auto"
        self.cooldown_counter = self.wait = 0
        self._reset()

    def _reset(self):
        if better(self.mode, self.monitor, "ReduceLROnPlateau") is np.greater:
            self.monitor_op, self.best = (lambda a, b: np.greater(a, b + self.min_delta)), -np.inf
        else:
            self.monitor_op, self.best = (lambda a, b: np.less(a, b - self.min_delta)), np.inf
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def in_cooldown(self):
        """Whether a reduction is still fresh."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        logs["lr"] = K.get_value(self.model.optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            warn_of_missing("ReduceLROnPlateau", self.monitor, logs)
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch):
        old = float(K.get_value(self.model.optimizer.lr))
        if old <= self.min_lr:
            return
        new = max(old * self.factor, self.min_lr)
        K.set_value(self.model.optimizer.lr, new)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0
