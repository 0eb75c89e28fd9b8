"""`training_v2`, `training_v2_utils`, `training_arrays`, `training_distributed` and the loops of `training_generator`, in
`tensorflow.python.keras.engine`: TensorFlow has a loop for each kind of data; here a model has one for all, which these run.
"""

from __future__ import annotations

from typing import Any

from everflow.keras.engine.training import Model
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


# --- loops over generators -----------------------------------------------------------------------


def fit_generator(model: Model, data: Any, **options: Any) -> Any:
    """Train on what a generator gives; the History."""
    return model.fit_generator(data, **options)


def evaluate_generator(model: Model, data: Any, **options: Any) -> Any:
    """The loss and metrics over what a generator gives."""
    return model.evaluate_generator(data, **options)


def predict_generator(model: Model, data: Any, **options: Any) -> Any:
    """The outputs for what a generator gives."""
    return model.predict_generator(data, **options)
