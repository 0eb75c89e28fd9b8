"""The callbacks of one training, evaluation or prediction."""

from __future__ import annotations

from everflow.keras.callbacks.base import BaseLogger, CallbackList, History
from everflow.keras.callbacks.logs import ProgbarLogger
from everflow.platform.signatures import takes


def configure(callbacks, model, mode, do_validation, batch_size, epochs, steps, samples, count_mode, verbose):
    """The list of callbacks of a loop: the program's, and those that are always there."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
    if mode == "train":
        model.__dict__["history"] = History()
        callbacks = [BaseLogger(), *callbacks, model.history]
    if verbose:
        callbacks.append(ProgbarLogger(count_mode))
    made = CallbackList(callbacks)
    made.set_model(model)
    amount = {"batch_size": batch_size, "epochs": epochs, "steps_per_epoch": steps, "samples": samples}
    set_callback_parameters(made, model, do_validation=do_validation, verbose=verbose, mode=mode, **amount)
    return made


@takes(
    """callback_list, model, do_validation=False, batch_size=None, epochs=None, steps_per_epoch=None, samples=None, verbose=1,
    mode="train\""""
)
def set_callback_parameters(callback_list, model, do_validation, mode, steps_per_epoch, **told):
    """Tell callbacks how much is to come, and what will be reported."""
    names = _reported_names(model, mode, do_validation)
    params = {"steps": steps_per_epoch, **told, "do_validation": do_validation, "metrics": names}
    callback_list.set_params(params)
    _tell_stateful(callback_list, model, mode)


def make_logs(model, logs, outputs, mode, prefix=""):
    """Logs with what a batch or an epoch came to: the loss and metrics by name, or the outputs of a prediction."""
    if mode == "predict":
        logs["outputs"] = outputs
    else:
        logs.update((prefix + name, value) for name, value in zip(model.metrics_names, outputs))
    return logs


@takes(
    """callbacks, model, do_validation=False, batch_size=None, epochs=None, steps_per_epoch=None, samples=None, verbose=1,
    count_mode="samples", mode="train\""""
)
def configure_callbacks(callbacks, model, steps_per_epoch, **settings):
    """The callbacks of a loop that a program runs itself."""
    return configure(callbacks, model, steps=steps_per_epoch, **settings)


def tell_names(calls, model, mode):
    """Tell callbacks what will be reported; a model that waits for data knows its metrics only then."""
    _tell_stateful(calls, model, mode)
    calls.params["metrics"] = _reported_names(model, mode, calls.params["do_validation"])


def _reported_names(model, mode, do_validation):
    names = [] if mode == "predict" else list(model.metrics_names)
    return names + ["val_" + name for name in names] if do_validation else names


def _tell_stateful(calls, model, mode):
    """Metrics are not averaged over batches: they keep their own state."""
    names = [] if mode == "predict" else list(model.metrics_names[1:])
    for callback in calls.callbacks:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = names
            if getattr(callback, "progbar", None) is not None:
                callback.progbar.stateful_metrics = set(names)
