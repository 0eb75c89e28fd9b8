"""tf.keras.estimator: a compiled Keras model as an Estimator, with the same weights to begin with."""

from __future__ import annotations

import os

from everflow.estimator.estimator import Estimator
from everflow.estimator.export import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.keras import backend as K
from everflow.keras.models import load_model
from everflow.keras.saving.clones import as_metric_op, clone_with, copy_of
from everflow.ops import math
from everflow.ops.variables.global_step import create_global_step, get_or_create_global_step
from everflow.platform import file_io
from everflow.runtime.session import Session
from everflow.train import Saver, latest_checkpoint

_FORMATS = ("saver", "checkpoint")


def model_to_estimator(
    keras_model=None, keras_model_path=None, custom_objects=None, model_dir=None, config=None, checkpoint_format="saver"
):
    """An Estimator that trains, evaluates and predicts as a compiled model does, or as one in a file. Features are the
    model's inputs, a tensor or a dict by their names; labels are its targets.

    Args:
        keras_model: The model.
        keras_model_path: A file with one.
        custom_objects: Classes and functions by the names that the configuration has for them.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`.
        checkpoint_format: `saver` or `checkpoint`.

    Returns:
        A `tf.estimator.Estimator`.

    Raises:
        ValueError: If neither or both are given, or the model isn't compiled.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> type(tf.keras.estimator.model_to_estimator(model, model_dir="model")).__name__
        'Estimator'
    """
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` is needed: neither was given.")
    if keras_model and keras_model_path:
        raise ValueError("Both `keras_model` and `keras_model_path` were given: one of them is enough.")
    if checkpoint_format not in _FORMATS:
        raise ValueError(f"Checkpoints are written by a `saver` or as a `checkpoint`, not as {checkpoint_format!r}")
    if keras_model_path:
        keras_model = load_model(keras_model_path, custom_objects)
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            f"Model {keras_model.name} has not been compiled: an Estimator needs the optimizer and the loss of `compile`."
        )
    estimator = Estimator(_model_fn_of(keras_model, custom_objects or {}), model_dir=model_dir, config=config)
    first = _save_weights(keras_model, os.path.join(estimator.model_dir, "keras"), custom_objects or {})
    return Estimator(estimator._model_fn, config=estimator.config, warm_start_from=first)


def _model_fn_of(model, custom_objects):
    def keras_model_fn(features, labels, mode):
        """The model drawn anew on these features and labels."""
        K.set_learning_phase(int(mode == ModeKeys.TRAIN))
        inputs = _in_order(features, model.input_names, model.inputs, "features", "inputs")
        targets = None if labels is None else _in_order(labels, model.output_names, model.outputs, "labels", "outputs")
        clone = clone_with(model, inputs, custom_objects)
        predictions = dict(zip(clone.output_names, clone.outputs))
        loss = train_op = metrics = None
        if mode != ModeKeys.PREDICT:
            arguments = {key: value for key, value in model._compile_arguments.items() if key != "target_tensors"}
            optimizer = copy_of(model.optimizer, get_or_create_global_step())
            clone.compile(optimizer=optimizer, target_tensors=targets, **arguments)
            loss = clone.total_loss
            metrics = {metric.name: as_metric_op(metric) for metric in clone.metrics}
        if mode == ModeKeys.TRAIN:
            clone._make_train_function()
            train_op = clone.train_function.updates_op
        outputs = {"serving_default": PredictOutput(predictions)}
        trained = {"loss": loss, "train_op": train_op, "eval_metric_ops": metrics}
        return EstimatorSpec(mode, predictions=predictions, **trained, export_outputs=outputs)

    return keras_model_fn


def _in_order(given, names, tensors, what, kind):
    """Features or labels as a list in the order of the model's inputs or outputs, in their dtypes."""
    if isinstance(given, dict):
        missing = [name for name in names if name not in given]
        if missing and len(names) == 1 and len(given) == 1:
            given = list(given.values())
        elif missing:
            raise KeyError(
                f"The {what} have no entries for the {kind} {missing} of the model: they are a dictionary of {sorted(given)}, "
                f"and the model has {names}."
            )
        else:
            given = [given[name] for name in names]
    elif not isinstance(given, (list, tuple)):
        given = [given]
    return [math.cast(tensor, like.dtype) for tensor, like in zip(given, tensors)]


def _save_weights(model, folder, custom_objects):
    """Write a checkpoint of the model's weights, which the first training starts from; unless one is there."""
    if latest_checkpoint(folder):
        return latest_checkpoint(folder)
    weights = model.get_weights()
    with Graph().as_default() as graph:
        create_global_step(graph)
        clone = clone_with(model, None, custom_objects)
        with Session(graph=graph).as_default() as session:
            clone.set_weights(weights)
            others = [v for v in get_collection(GraphKeys.GLOBAL_VARIABLES) if all(v is not w for w in clone.weights)]
            session.run([v.initializer for v in others])
            file_io.recursive_create_dir(folder)
            return Saver().save(session, os.path.join(folder, "keras_model.ckpt"))
