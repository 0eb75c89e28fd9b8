"""The base of callbacks, the list that calls them, and those that every training has."""

from __future__ import annotations

import numpy as np

from everflow.platform.signatures import parameters_of, takes


class Callback:
    """Methods that training, evaluation and prediction call; subclasses override those they need. `self.model` is the model,
    `self.params` what the loop was called with.

    Example:
        >>> class Epochs(tf.keras.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print("epoch", epoch, sorted(logs))
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> _ = model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[Epochs()])
        epoch 0 ['loss']
    """

    def __init__(self):
        self.validation_data = None
        self.model = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        """Older name of `on_train_batch_begin`."""

    def on_batch_end(self, batch, logs=None):
        """Older name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch; `logs` has its loss and metrics."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before a batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """After a batch of training."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before a batch of evaluation, in `fit` too."""

    def on_test_batch_end(self, batch, logs=None):
        """After a batch of evaluation, in `fit` too."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a batch of prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After a batch of prediction."""

    def on_train_begin(self, logs=None):
        """Before training."""

    def on_train_end(self, logs=None):
        """After training."""

    def on_test_begin(self, logs=None):
        """Before evaluation, in `fit` too."""

    def on_test_end(self, logs=None):
        """After evaluation, in `fit` too."""

    def on_predict_begin(self, logs=None):
        """Before prediction."""

    def on_predict_end(self, logs=None):
        """After prediction."""


class CallbackList:
    """Calls each method on all callbacks, in their order."""

    def __init__(self, callbacks=None, queue_length=10):
        self.callbacks = list(callbacks or [])
        self.queue_length = queue_length
        self.model = self.params = None

    def append(self, callback):
        """Add one at the end."""
        self.callbacks.append(callback)

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def __iter__(self):
        return iter(self.callbacks)

    def _call_batch_hook(self, mode, hook, batch, logs=None):
        """Before ("begin") or after ("end") a batch of training, evaluation or prediction."""
        for callback in self.callbacks:
            getattr(callback, f"on_{mode}_batch_{hook}")(batch, {} if logs is None else logs)

    def _call_begin_hook(self, mode):
        """Before training, evaluation or prediction."""
        getattr(self, f"on_{mode}_begin")()

    def _call_end_hook(self, mode):
        """After training, evaluation or prediction."""
        getattr(self, f"on_{mode}_end")()


def _on_epoch(when):
    def call(self, epoch, logs=None):
        for callback in self.callbacks:
            getattr(callback, f"on_epoch_{when}")(epoch, {} if logs is None else logs)

    return call


def _on_batch(mode, when):
    def call(self, batch, logs=None):
        self._call_batch_hook(mode, when, batch, logs=logs)

    return call


def _on_whole(name):
    def call(self, logs=None):
        for callback in self.callbacks:
            getattr(callback, name)(logs)

    return call


for _when in ("begin", "end"):
    setattr(CallbackList, f"on_epoch_{_when}", _on_epoch(_when))
    setattr(CallbackList, f"on_batch_{_when}", _on_batch("train", _when))  # an older name
    for _mode in ("train", "test", "predict"):
        setattr(CallbackList, f"on_{_mode}_batch_{_when}", _on_batch(_mode, _when))
        setattr(CallbackList, f"on_{_mode}_{_when}", _on_whole(f"on_{_mode}_{_when}"))


class BaseLogger(Callback):
    """Averages the loss over an epoch; metrics named in `stateful_metrics` are taken as they are.

    Args:
        stateful_metrics: The names of metrics that are not averaged.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> history = model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[tf.keras.callbacks.BaseLogger()])
        >>> list(history.history)
        ['loss']
    """

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])

    def on_epoch_begin(self, epoch, logs=None):
        self.seen = 0
        self.totals = {}

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        size = int(logs.get("size", 0))
        self.seen += size
        for key, value in logs.items():
            if key in self.stateful_metrics:
                self.totals[key] = value
            else:
                number = value if np.ndim(value) else np.float64(value)
                self.totals[key] = self.totals.get(key, 0) + number * size

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        for key in self.params["metrics"]:
            if key in self.totals:
                logs[key] = self.totals[key] if key in self.stateful_metrics else self.totals[key] / self.seen


class History(Callback):
    """What `fit` returns: `history` has a list of values for each name, `epoch` the numbers of the epochs.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> history = model.fit(np.ones([4, 2]), np.ones([4, 1]), epochs=2, verbose=0)
        >>> history.epoch, list(history.history)
        ([0, 1], ['loss'])
    """

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


class LambdaCallback(Callback):
    """Functions as a callback.

    Args:
        on_epoch_begin: A function of the epoch and logs.
        on_epoch_end: A function of the epoch and logs.
        on_batch_begin: A function of the batch and logs.
        on_batch_end: A function of the batch and logs.
        on_train_begin: A function of logs.
        on_train_end: A function of logs.
        **kwargs: Further methods by name.

    Example:
        >>> callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch))
        >>> callback.on_epoch_end(0, {})
        epoch 0
    """

    @takes(
        """on_epoch_begin=None, on_epoch_end=None, on_batch_begin=None, on_batch_end=None, on_train_begin=None,
        on_train_end=None, **kwargs""",
    )
    def __init__(self, **given):
        super().__init__()
        known = parameters_of(LambdaCallback.__init__)
        self.__dict__.update({k: function for k, function in given.items() if function is not None or k not in known})


class TerminateOnNaN(Callback):
    """Ends training when the loss is no number any more.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> x = np.full([4, 2], np.nan)
        >>> history = model.fit(x, np.ones([4, 1]), epochs=3, verbose=0, callbacks=[tf.keras.callbacks.TerminateOnNaN()])
        Batch 0: Invalid loss, terminating training
        >>> history.epoch
        [0]
    """

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True
