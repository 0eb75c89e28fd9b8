"""`EstimatorSpec`: what a model function returns, checked when it is made so that mistakes show where they are."""

from __future__ import annotations

import collections

from everflow.estimator.export.outputs import ExportOutput, PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework import nest
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_collection_ref, get_default_graph
from everflow.framework.static_values import is_tensor
from everflow.ops.array import reshape
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import parameters, takes
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.scaffold import Scaffold
from everflow.train.session_run_hook import SessionRunHook

_PARAMETERS = parameters(
    """mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
    training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None, prediction_hooks=None"""
)


class EstimatorSpec(collections.namedtuple("EstimatorSpec", _PARAMETERS)):
    """The ops of a model for one mode: predictions, loss, train op, metrics, what to export, hooks and scaffold.

    Args:
        mode: A value of `tf.estimator.ModeKeys`.
        predictions: What is predicted: a tensor, or tensors by name.
        loss: The loss, a scalar.
        train_op: The operation of a training step.
        eval_metric_ops: Metrics by name: what functions of `tf.metrics` return.
        export_outputs: What is exported, by signature: values of `tf.estimator.export`.
        training_chief_hooks: Hooks for training that only the chief has.
        training_hooks: Hooks for training.
        scaffold: A `tf.train.Scaffold`.
        evaluation_hooks: Hooks for evaluation.
        prediction_hooks: Hooks for prediction.

    Raises:
        ValueError: If something that the mode needs is missing or doesn't fit.
        TypeError: If something is of the wrong kind.

    Example:
        >>> spec = tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.PREDICT, predictions={"y": tf.constant([1.0])})
        >>> spec.mode
        'infer'
    """

    @takes(_PARAMETERS)
    def __new__(cls, mode, predictions, loss, train_op, eval_metric_ops, export_outputs, scaffold, **hooks):
        predictions = _check_predictions(predictions, mode)
        loss = _check_loss(loss, mode)
        train_op = _check_train_op(train_op, mode)
        eval_metric_ops = _check_metrics(eval_metric_ops)
        if mode == ModeKeys.PREDICT:
            export_outputs = export_outputs_for_predict(export_outputs, predictions)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        hooks = {name: check_hooks(given) for name, given in hooks.items()}
        ops = predictions, loss, train_op, eval_metric_ops, export_outputs
        return super().__new__(cls, mode, *ops, scaffold=scaffold, **hooks)

    def _replace(self, **kwds):
        """A spec with other fields; the mode stays."""
        if "mode" in kwds and kwds["mode"] != self.mode:
            raise ValueError(f"mode of EstimatorSpec cannot be changed: it is {self.mode!r}, given {kwds['mode']!r}")
        return EstimatorSpec(**{**self._asdict(), **kwds})


# --- what each field may be -------------------------------------------------------------------


def _check_graph(value, what):
    """ValueError for a tensor or op of another graph than the one that the model function was called in."""
    if value.graph is not get_default_graph():
        raise ValueError(
            f"{what} must be from the default graph, but {value.name!r} belongs to another one. A model function has to make all its "
            "tensors when it is called, from the features and labels it is given; tensors made before, or in a graph of its own, don't fit."
        )
    return value


def _check_tensor(value, what):
    if not is_tensor(value) or not hasattr(value, "graph") or not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"{what} must be Tensor, given: {value!r}")
    return value


def _check_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions: an EstimatorSpec for prediction needs them.")
        return {}
    if isinstance(predictions, dict):
        for key, value in predictions.items():
            _check_graph(_check_tensor(value, f"predictions[{key}]"), f"predictions[{key}]")
    else:
        _check_graph(_check_tensor(predictions, "predictions"), "predictions")
    return predictions


def _check_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError(f"Missing loss: an EstimatorSpec for mode {mode!r} needs one.")
        return None
    _check_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss} of shape {shape}")
    if not shape.is_compatible_with([]):
        loss = reshape(loss, [])
    return _check_graph(loss, "loss")


def _check_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op: an EstimatorSpec for training needs one.")
        return None
    if isinstance(train_op, Variable):
        train_op = train_op.op
    if not isinstance(train_op, (Operation, Tensor)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op!r}")
    return _check_graph(train_op, "train_op")


def _check_metrics(metrics):
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics!r}")
    checked = {}
    for key, pair in metrics.items():
        if _is_keras_metric(pair):
            pair = _pair_of_keras_metric(pair)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {pair!r} for key: {key}"
            )
        value, update = pair
        # A value may be a structure of tensors, as the state of a time series is.
        for part in (*nest.flatten(value), update):
            _check_graph(part, f"eval_metric_ops[{key}]")
        checked[key] = pair
    return checked


def _is_keras_metric(value):
    """Whether it is a `tf.keras.metrics.Metric`, without loading tf.keras for the question."""
    return any(cls.__name__ == "Metric" and "keras" in cls.__module__ for cls in type(value).__mro__)


def _pair_of_keras_metric(metric):
    updates = list(metric.updates)
    if not updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        held = get_collection_ref(collection)
        held.extend(v for v in metric.variables if not any(v is other for other in held))
    return metric.result(), updates[-1]


def check_hooks(hooks, kind=SessionRunHook):
    """A tuple of hooks, or of what else is called while training goes on; TypeError where one is none."""
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, kind):
            raise TypeError(f"All of these must be {kind.__name__} instances, and {hook!r} is none.")
    return hooks


def export_outputs_for_predict(export_outputs, predictions):
    """What a model for prediction is exported with: its predictions unless it says more, and one as the default."""
    if export_outputs is None:
        export_outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, given: {export_outputs!r}")
    for key, value in export_outputs.items():
        if not isinstance(value, ExportOutput):
            raise TypeError(f"export_outputs[{key!r}] is no ExportOutput: {value!r}")
    if len(export_outputs) == 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in export_outputs:
        ((key, only),) = export_outputs.items()
        return {**export_outputs, DEFAULT_SERVING_SIGNATURE_DEF_KEY: only}
    if len(export_outputs) > 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in export_outputs:
        raise ValueError(
            f"Of several export_outputs one is the default, under the key {DEFAULT_SERVING_SIGNATURE_DEF_KEY!r}; given are "
            f"{sorted(export_outputs)}."
        )
    return export_outputs
