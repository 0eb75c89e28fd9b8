"""The loops of `training_generator` in `tensorflow.python.keras.engine`, which a model's own methods run here."""

from __future__ import annotations

from typing import Any

from everflow.keras.engine.training import Model


def fit_generator(model: Model, data: Any, **options: Any) -> Any:
    """Train on what a generator gives; the History."""
    return model.fit_generator(data, **options)


def evaluate_generator(model: Model, data: Any, **options: Any) -> Any:
    """The loss and metrics over what a generator gives."""
    return model.evaluate_generator(data, **options)


def predict_generator(model: Model, data: Any, **options: Any) -> Any:
    """The outputs for what a generator gives."""
    return model.predict_generator(data, **options)


def model_iteration(
    model: Model, data: Any, steps_per_epoch: int | None = None, mode: str = "train", **looped: Any
) -> Any:
    """One of these loops, by its name: "train", "test" or "predict"."""
    looped = {name: value for name, value in looped.items() if name not in _OF_BATCHES}
    if mode == "train":
        return fit_generator(model, data, steps_per_epoch=steps_per_epoch, **looped)
    kept = {name: looped[name] for name in looped if name not in _OF_TRAINING}
    return (predict_generator if mode == "predict" else evaluate_generator)(model, data, steps=steps_per_epoch, **kept)


_OF_BATCHES = {"batch_size", "steps_name"}
_OF_TRAINING = {
    "epochs",
    "initial_epoch",
    "validation_data",
    "validation_steps",
    "validation_freq",
    "class_weight",
    "shuffle",
}
