"""Callbacks of Keras for several processes: first values, means of metrics, and learning rates that begin small."""

from __future__ import annotations

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.horovod.processes import mean_array, size
from everflow.horovod.tensorflow import broadcast_global_variables, broadcast_variables
from everflow.keras import backend as K
from everflow.keras.callbacks import Callback


class BroadcastGlobalVariablesCallback(Callback):
    """Gives all variables the values of one process, after the first batch: optimizers have theirs by then."""

    def __init__(self, root_rank, device=""):
        super().__init__()
        self.root_rank = root_rank
        self._is_done = False

    def on_batch_end(self, batch, logs=None):
        if self._is_done:
            return
        if executing_eagerly():
            broadcast_variables([*self.model.variables, *self.model.optimizer.variables()], self.root_rank)
        else:
            with K.get_graph().as_default():
                K.get_session().run(broadcast_global_variables(self.root_rank))
        self._is_done = True


class MetricAverageCallback(Callback):
    """Averages the metrics of an epoch over all processes, for the callbacks that follow."""

    def __init__(self, device=""):
        super().__init__()

    def on_epoch_end(self, epoch, logs=None):
        for name in sorted(logs or {}):
            if np.ndim(logs[name]) == 0:
                logs[name] = float(mean_array(f"metric {name}", np.asarray(logs[name], np.float64)))


class LearningRateScheduleCallback(Callback):
    """Multiplies the learning rate by `multiplier` (a number, or a function of the epoch) from one epoch to another.

    With `staircase` it changes at the beginning of an epoch, else with every batch.
    """

    def __init__(
        self, multiplier, start_epoch=0, end_epoch=None, staircase=True, momentum_correction=True, steps_per_epoch=None
    ):
        super().__init__()
        self.multiplier = multiplier if callable(multiplier) else lambda epoch: multiplier
        self.staircase = staircase if callable(multiplier) else True
        self.start_epoch, self.end_epoch = start_epoch, end_epoch
        self.momentum_correction, self.steps_per_epoch = momentum_correction, steps_per_epoch
        self.initial_lr = self.current_epoch = self._momentum = None

    def on_train_begin(self, logs=None):
        self.initial_lr = K.get_value(self.model.optimizer.lr)
        if not self.staircase and not self.steps_per_epoch:
            self.steps_per_epoch = self.params.get("steps")
            if self.steps_per_epoch is None and self.params.get("samples") and self.params.get("batch_size"):
                self.steps_per_epoch = self.params["samples"] // self.params["batch_size"]
            if not self.steps_per_epoch:
                raise ValueError("The number of steps in an epoch is not known: pass it as `steps_per_epoch`")

    def _applies(self):
        return self.start_epoch <= self.current_epoch and (
            self.end_epoch is None or self.current_epoch < self.end_epoch
        )

    def _set(self, epoch):
        optimizer = self.model.optimizer
        before, now = K.get_value(optimizer.lr), self.initial_lr * self.multiplier(epoch)
        K.set_value(optimizer.lr, now)
        if hasattr(optimizer, "momentum") and self.momentum_correction and before:
            self._momentum = K.get_value(optimizer.momentum)
            K.set_value(optimizer.momentum, self._momentum * now / before)

    def on_epoch_begin(self, epoch, logs=None):
        self.current_epoch = epoch

    def on_batch_begin(self, batch, logs=None):
        if not self._applies():
            return
        if self.staircase and batch == 0:
            self._set(self.current_epoch)
        elif not self.staircase:
            self._set(self.current_epoch + float(batch) / self.steps_per_epoch)

    def on_batch_end(self, batch, logs=None):
        if self._momentum is not None:
            K.set_value(self.model.optimizer.momentum, self._momentum)
            self._momentum = None

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)


class LearningRateWarmupCallback(LearningRateScheduleCallback):
    """Lets the learning rate grow from that of one process to that of all, over the first epochs."""

    def __init__(self, warmup_epochs=5, momentum_correction=True, steps_per_epoch=None, verbose=0):
        def multiplier(epoch):
            epoch += 1.0 / self.steps_per_epoch
            return 1.0 / size() * (epoch * (size() - 1) / warmup_epochs + 1)

        super().__init__(
            multiplier,
            end_epoch=warmup_epochs,
            staircase=False,
            momentum_correction=momentum_correction,
            steps_per_epoch=steps_per_epoch,
        )
        self.verbose = verbose

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if epoch == self.end_epoch - 1 and self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {K.get_value(self.model.optimizer.lr):g}."
            )
