"""Hooks that end training when the evaluations say so, or when the last checkpoint is written."""

from __future__ import annotations

import operator
import os
import time

from everflow.estimator.estimator import Estimator, step_of_checkpoint
from everflow.estimator.evaluation_results import evaluations_in
from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.ops.variables.assign import assign
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.initializers import constant_initializer
from everflow.ops.variables.scope import AUTO_REUSE, get_variable, variable_scope
from everflow.platform import logging
from everflow.platform.signatures import parameters, taking
from everflow.train.hooks import SecondOrStepTimer, StopAtStepHook
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """A hook that asks a function now and then whether to stop; in a cluster the chief asks, and all stop.

    Args:
        estimator: The Estimator.
        should_stop_fn: A function without arguments.
        run_every_secs: Every how many seconds is asked; None to go by steps.
        run_every_steps: Every how many steps is asked; None to go by seconds.

    Returns:
        A hook.

    Raises:
        TypeError: If the estimator is none.
        ValueError: If both seconds and steps are given.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> hook = tf.estimator.experimental.make_early_stopping_hook(regressor, lambda: True)
        >>> isinstance(hook, tf.train.SessionRunHook)
        True
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"Training can be stopped for a tf.estimator.Estimator, not for a {type(estimator)}.")
    if None not in (run_every_secs, run_every_steps):
        raise ValueError(
            f"Ask every {run_every_secs} seconds or every {run_every_steps} steps: one of both has to be None."
        )
    return _StopWhen(should_stop_fn, run_every_secs, run_every_steps) if estimator.config.is_chief else _StopWhenTold()


def _hook(name, doc, limit, is_over):
    """A public function: a hook that stops when the evaluations of a metric are over a limit, the third parameter."""
    listed = f"estimator, metric_name, {limit}, eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None"

    def make(estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps, **given):
        eval_dir = eval_dir or estimator.eval_dir()

        def stop():
            found = read_eval_metrics(eval_dir).items()
            return is_over(
                metric_name, [(step, m[metric_name]) for step, m in found if step >= min_steps], given[limit]
            )

        return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)

    function = taking(parameters(listed), make)
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, __name__
    return function


def _past(is_past):
    def is_over(metric_name, values, threshold):
        for step, value in values:
            if is_past(value, threshold):
                about = (step, metric_name, value, threshold)
                logging.info("At step %s, metric %r has value %s, past the threshold %s.", *about)
                return True
        return False

    return is_over


def _no_longer(is_better):
    def is_over(metric_name, values, max_steps):
        best, best_step = None, None
        for step, value in values:
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                about = (metric_name, step - best_step, best, best_step)
                logging.info("No improvement of metric %r for %s steps; its best value %s was at step %s.", *about)
                return True
        return False

    return is_over


stop_if_higher_hook = _hook(
    "stop_if_higher_hook",
    """Stop when an evaluation has a metric above a threshold.

    Args:
        estimator: The Estimator.
        metric_name: The metric.
        threshold: The threshold.
        eval_dir: The folder of evaluations; that of the estimator if None.
        min_steps: Evaluations before this step don't count.
        run_every_secs: Every how many seconds is asked; None to go by steps.
        run_every_steps: Every how many steps is asked; None to go by seconds.

    Returns:
        A hook.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> stop = tf.estimator.experimental.stop_if_higher_hook(regressor, "loss", 100)
        >>> isinstance(stop, tf.train.SessionRunHook)
        True
    """,
    "threshold",
    _past(operator.gt),
)
stop_if_lower_hook = _hook(
    "stop_if_lower_hook",
    """Stop when an evaluation has a metric below a threshold.

    Args:
        estimator: The Estimator.
        metric_name: The metric.
        threshold: The threshold.
        eval_dir: The folder of evaluations; that of the estimator if None.
        min_steps: Evaluations before this step don't count.
        run_every_secs: Every how many seconds is asked; None to go by steps.
        run_every_steps: Every how many steps is asked; None to go by seconds.

    Returns:
        A hook.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> stop = tf.estimator.experimental.stop_if_lower_hook(regressor, "loss", 100)
        >>> isinstance(stop, tf.train.SessionRunHook)
        True
    """,
    "threshold",
    _past(operator.lt),
)
stop_if_no_increase_hook = _hook(
    "stop_if_no_increase_hook",
    """Stop when a metric has not been higher than before for so many steps.

    Args:
        estimator: The Estimator.
        metric_name: The metric.
        max_steps_without_increase: How many steps.
        eval_dir: The folder of evaluations; that of the estimator if None.
        min_steps: Evaluations before this step don't count.
        run_every_secs: Every how many seconds is asked; None to go by steps.
        run_every_steps: Every how many steps is asked; None to go by seconds.

    Returns:
        A hook.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> stop = tf.estimator.experimental.stop_if_no_increase_hook(regressor, "loss", 100)
        >>> isinstance(stop, tf.train.SessionRunHook)
        True
    """,
    "max_steps_without_increase",
    _no_longer(operator.gt),
)
stop_if_no_decrease_hook = _hook(
    "stop_if_no_decrease_hook",
    """Stop when a metric has not been lower than before for so many steps.

    Args:
        estimator: The Estimator.
        metric_name: The metric.
        max_steps_without_decrease: How many steps.
        eval_dir: The folder of evaluations; that of the estimator if None.
        min_steps: Evaluations before this step don't count.
        run_every_secs: Every how many seconds is asked; None to go by steps.
        run_every_steps: Every how many steps is asked; None to go by seconds.

    Returns:
        A hook.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> stop = tf.estimator.experimental.stop_if_no_decrease_hook(regressor, "loss", 100)
        >>> isinstance(stop, tf.train.SessionRunHook)
        True
    """,
    "max_steps_without_decrease",
    _no_longer(operator.lt),
)


def read_eval_metrics(eval_dir):
    """{step: {metric: value}} of all evaluations written to a folder, in the order of steps."""
    return dict(sorted((step, metrics) for step, metrics in evaluations_in(os.path.join(eval_dir, "*.tfevents.*"))))


# --- the hooks -----------------------------------------------------------------------------------


def _stop_variable():
    """The variable through which the chief tells workers to stop."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        options = {"collections": [GraphKeys.GLOBAL_VARIABLES], "trainable": False}
        return get_variable("STOP", [], dtypes.bool, initializer=constant_initializer(False), **options)


class _WatchingHook(SessionRunHook):
    """Looks at a tensor (`_watched`) after each step, and ends training when its value says so (`_is_over`)."""

    def begin(self):
        self._tensor = self._watched()

    def before_run(self, run_context):
        return SessionRunArgs(self._tensor)

    def after_run(self, run_context, run_values):
        if self._is_over(run_values.results, run_context.session):
            run_context.request_stop()


class _StopWhen(_WatchingHook):
    """The chief's: asks the function and tells all others."""

    def __init__(self, should_stop_fn, run_every_secs=60, run_every_steps=None):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def _watched(self):
        self._stop_op = assign(_stop_variable(), True)
        return get_global_step()

    def _is_over(self, step, session):
        if not self._timer.should_trigger_for_step(step):
            return False
        self._timer.update_last_triggered_step(step)
        over = self._should_stop_fn()
        if over:
            logging.info("Training ends early, at step %d.", step)
            session.run(self._stop_op)
        return over


class _StopWhenTold(_WatchingHook):
    """The workers'."""

    def _watched(self):
        return _stop_variable()

    def _is_over(self, told, session):
        return told


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """A hook that stops at a step; workers wait until the chief has written its checkpoint.

    Args:
        estimator: The Estimator.
        last_step: The step.
        wait_after_file_check_secs: How many seconds are between two looks.

    Returns:
        A hook.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> hook = tf.estimator.experimental.make_stop_at_checkpoint_step_hook(regressor, 100)
        >>> isinstance(hook, tf.train.SessionRunHook)
        True
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)


class _StopAtCheckpointStep(_WatchingHook):
    def __init__(self, model_dir, last_step, wait_after_file_check_secs):
        for name, value in (("last_step", last_step), ("model_dir", model_dir)):
            if value is None:
                raise ValueError(f"{name} must be specified.")
        self._model_dir, self._last_step, self._wait_secs = model_dir, last_step, wait_after_file_check_secs

    def _watched(self):
        return get_global_step()

    def _is_over(self, step, session):
        if step + 1 < self._last_step or session.run(self._tensor) < self._last_step:
            return False
        while step_of_checkpoint(self._model_dir) < self._last_step:
            logging.info("Waiting for the checkpoint of step %d.", self._last_step)
            time.sleep(self._wait_secs)
        return True
