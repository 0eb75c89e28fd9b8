"""`training_v2`, `training_v2_utils`, `training_arrays` and `training_distributed` in `tensorflow.python.keras.engine`: TensorFlow has a loop for each kind of data; here a model has one for all, which these run."""

from __future__ import annotations

from typing import Any

from everflow.keras.engine.batch_values import joined, value_of
from everflow.keras.engine.training import Model
from everflow.legacy.inner.distribute.keras_training import flatten_per_replica_values
from everflow.legacy.inner.keras_engine.training_data import TrainingLoop


class Loop(TrainingLoop):
    """Fits, evaluates and predicts, whatever the data is."""

    def fit(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """Train a model; the History."""
        return Model.fit(model, *args, **kwargs)

    def evaluate(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The loss and metrics over a data set."""
        return Model.evaluate(model, *args, **kwargs)

    def predict(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The outputs for a data set."""
        return Model.predict(model, *args, **kwargs)


class ArrayLikeTrainingLoop(Loop):
    """The loop over arrays."""


class GeneratorOrSequenceTrainingLoop(Loop):
    """The loop over what a generator or a `Sequence` gives."""


class EagerDatasetOrIteratorTrainingLoop(Loop):
    """The loop over datasets where operations run at once."""


class GeneratorLikeTrainingLoop(Loop):
    """The loop over arrays where operations run at once."""


class DistributionSingleWorkerTrainingLoop(Loop):
    """The loop of a model that is spread over the replicas of a strategy."""


# --- single batches ------------------------------------------------------------------------------


def train_on_batch(
    model: Model,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    reset_metrics: bool = True,
) -> Any:
    """One step of training; the loss and metrics."""
    return model.train_on_batch(x, y, sample_weight, class_weight, reset_metrics)


def test_on_batch(model: Model, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
    """The loss and metrics of a batch."""
    return model.test_on_batch(x, y, sample_weight, reset_metrics)


test_on_batch.__test__ = False  # type: ignore[attr-defined]  # Its name is TensorFlow's, and it is no test.


def predict_on_batch(model: Model, x: Any) -> Any:
    """The outputs for a batch."""
    return model.predict_on_batch(x)


# --- loops over arrays ---------------------------------------------------------------------------


def fit_loop(
    model: Model,
    inputs: Any,
    targets: Any = None,
    sample_weights: Any = None,
    batch_size: int | None = None,
    epochs: int = 1,
    verbose: int = 1,
    callbacks: Any = None,
    val_inputs: Any = None,
    val_targets: Any = None,
    val_sample_weights: Any = None,
    **looped: Any,
) -> Any:
    """Train on inputs and targets; the History."""
    validation = None if val_inputs is None else (val_inputs, val_targets, val_sample_weights)
    given = {"batch_size": batch_size, "epochs": epochs, "verbose": verbose, "callbacks": callbacks, **looped}
    return model.fit(inputs, targets, sample_weight=sample_weights, validation_data=validation, **given)


def test_loop(
    model: Model,
    inputs: Any,
    targets: Any = None,
    sample_weights: Any = None,
    batch_size: int | None = None,
    verbose: int = 1,
    callbacks: Any = None,
    steps: int | None = None,
) -> Any:
    """The loss and metrics over inputs and targets."""
    given = {"batch_size": batch_size, "verbose": verbose, "callbacks": callbacks, "steps": steps}
    return model.evaluate(inputs, targets, sample_weight=sample_weights, **given)


test_loop.__test__ = False  # type: ignore[attr-defined]


def predict_loop(
    model: Model,
    inputs: Any,
    batch_size: int | None = None,
    verbose: int = 0,
    callbacks: Any = None,
    steps: int | None = None,
) -> Any:
    """The outputs for inputs."""
    return model.predict(inputs, batch_size=batch_size, verbose=verbose, callbacks=callbacks, steps=steps)


def model_iteration(
    model: Model, inputs: Any, targets: Any = None, sample_weights: Any = None, mode: str = "train", **looped: Any
) -> Any:
    """One of the loops over arrays, by its name: "train", "test" or "predict"."""
    looped = {name: value for name, value in looped.items() if name not in _OF_FEEDS}
    if mode == "train":
        return fit_loop(model, inputs, targets, sample_weights, **looped)
    kept = {name: looped[name] for name in ("batch_size", "verbose", "callbacks") if name in looped}
    kept["steps"] = looped.get("steps_per_epoch")
    return predict_loop(model, inputs, **kept) if mode == "predict" else test_loop(model, inputs, targets, **kept)


# How values are fed, which is no question here.
_OF_FEEDS = {"validation_in_fit", "prepared_feed_values_from_dataset", "steps_name"}


# --- what replicas predict -------------------------------------------------------------------------


def _aggregate_predict_results(strategy: Any, batch_outs: Any, model: Model) -> list:
    """An array for each output of a model, of what all replicas gave."""
    outputs = batch_outs if isinstance(batch_outs, list) else [batch_outs]
    return [
        joined([value_of(part) for part in flatten_per_replica_values(strategy, outputs[index])])
        for index in range(len(model.outputs))
    ]
