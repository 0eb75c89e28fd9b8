"""The callbacks of one training, evaluation or prediction."""

from __future__ import annotations

from everflow.keras.callbacks.base import BaseLogger, CallbackList, History
from everflow.keras.callbacks.logs import ProgbarLogger


def configure(callbacks, model, mode, do_validation, batch_size, epochs, steps, samples, verbose):
    """The list of callbacks of a loop: the program's, and those that are always there."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
    if mode == "train":
        model.__dict__["history"] = History()
        callbacks = [BaseLogger(), *callbacks, model.history]
    if verbose:
        callbacks.append(ProgbarLogger("samples" if samples is not None else "steps"))
    made = CallbackList(callbacks)
    made.set_model(model)
    names = [] if mode == "predict" else list(model.metrics_names)
    if mode == "train" and do_validation:
        names += ["val_" + name for name in names]
    amount = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "samples": samples}
    made.set_params({**amount, "verbose": verbose, "do_validation": do_validation, "metrics": names})
    stateful = [] if mode == "predict" else list(model.metrics_names)[1:]
    for callback in callbacks:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(stateful)
    return made
