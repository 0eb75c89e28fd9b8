"""`TPUEstimatorSpec`: an EstimatorSpec whose metrics are a function and its tensors, as hosts compute them."""

from __future__ import annotations

import collections
import inspect

from everflow.estimator.arguments import fn_args
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec, check_hooks
from everflow.platform.signatures import parameters, takes
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

_PARAMETERS = parameters(
    """mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None, scaffold_fn=None,
    host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None"""
)


class TPUEstimatorSpec(collections.namedtuple("TPUEstimatorSpec", _PARAMETERS)):
    """What a model function for TPUs returns. `eval_metrics` and `host_call` are (function, tensors as a list or dict).

    Args:
        mode: A value of `tf.estimator.ModeKeys`.
        predictions: What is predicted, by name.
        loss: The loss, a scalar.
        train_op: The operation of a training step.
        eval_metrics: A function and its tensors, in a list or by name.
        export_outputs: What is exported, by signature.
        scaffold_fn: A function that returns a `tf.train.Scaffold`.
        host_call: A function and its tensors, called on the host.
        training_hooks: Hooks for training.
        evaluation_hooks: Hooks for evaluation.
        prediction_hooks: Hooks for prediction.

    Example:
        >>> spec = tf.estimator.tpu.TPUEstimatorSpec(tf.estimator.ModeKeys.PREDICT, predictions={"y": tf.constant([1.0])})
        >>> sorted(spec.predictions)
        ['y']
    """

    @takes(_PARAMETERS)
    def __new__(cls, **given):
        for name in ("eval_metrics", "host_call"):
            if given[name] is not None:
                _check_host_call(name, given[name])
        hooks = {name: check_hooks(value) for name, value in given.items() if name.endswith("_hooks")}
        return super().__new__(cls, **given | hooks)

    def as_estimator_spec(self):
        """The plain `EstimatorSpec`, for a CPU or GPU."""
        metrics = _called(self.eval_metrics) if self.eval_metrics is not None and self.mode == ModeKeys.EVAL else None
        host_hooks = () if self.host_call is None else (_HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + host_hooks,
            evaluation_hooks=self.evaluation_hooks + host_hooks,
            prediction_hooks=self.prediction_hooks + host_hooks,
        )


def _check_host_call(name, call):
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements: a function and its tensors.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(tensors, (tuple, list)) and not _takes_any(function) and len(fn_args(function)) != len(tensors):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the function, which takes "
            f"{len(fn_args(function))}."
        )


def _takes_any(function):
    """Whether a function takes any number of arguments."""
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())


def _called(call):
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class _HostCallHook(SessionRunHook):
    """Runs what a host call returned with each step."""

    def __init__(self, results):
        self._results = results

    def before_run(self, run_context):
        return SessionRunArgs(self._results)
