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
    amount = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "samples": samples}
    made.set_params({**amount, "verbose": verbose, "do_validation": do_validation, "metrics": []})
    tell_names(made, model, mode)
    return made


@takes(
    """callbacks, model, do_validation=False, batch_size=None, epochs=None, steps_per_epoch=None, samples=None, verbose=1,
    count_mode="samples", mode="train\""""
)
def configure_callbacks(callbacks, model, steps_per_epoch, **settings):
    """The callbacks of a loop that a program runs itself."""
    return configure(callbacks, model, steps=steps_per_epoch, **settings)


def tell_names(calls, model, mode):
    """Tell callbacks what will be reported; a model that waits for data knows its metrics only then."""
    names = [] if mode == "predict" else list(model.metrics_names)
    for callback in calls.callbacks:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(names[1:])
            if getattr(callback, "progbar", None) is not None:
                callback.progbar.stateful_metrics = callback.stateful_metrics
    if mode == "train" and calls.params["do_validation"]:
        names += ["val_" + name for name in names]
    calls.params["metrics"] = names
