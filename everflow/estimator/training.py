"""`train_and_evaluate`: training with an evaluation after each checkpoint, in one process or as one of a cluster."""

from __future__ import annotations

import collections
import os
import time

from everflow.estimator.estimator import Estimator
from everflow.estimator.evaluation_results import GLOBAL_STEP
from everflow.estimator.exporter import Exporter
from everflow.estimator.run_config import TaskType
from everflow.estimator.spec import check_hooks
from everflow.framework.errors import NotFoundError
from everflow.platform import logging
from everflow.train import Server
from everflow.train.checkpoint_state import checkpoint_exists
from everflow.train.hooks import CheckpointSaverListener, SecondOrStepTimer

# Workers start one after the other, so that the first ones have something to build on.
_DELAY_SECS_PER_WORKER = 5
_MAX_DELAY_SECS = 60


class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """What to train with: an input function, the step to train up to, hooks.

    Args:
        input_fn: A function that returns features and labels, or a Dataset of both.
        max_steps: The step to train up to; until the input ends if None.
        hooks: Objects that are called around each run.

    Example:
        >>> tf.estimator.TrainSpec(lambda: None, max_steps=1000).max_steps
        1000
    """

    def __new__(cls, input_fn, max_steps=None, hooks=None):
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn=input_fn, max_steps=max_steps, hooks=check_hooks(hooks))


class EvalSpec(
    collections.namedtuple(
        "EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"]
    )
):
    """What to evaluate with: an input function, how many batches, hooks, exporters, and how often at most.

    Args:
        input_fn: A function that returns features and labels, or a Dataset of both.
        steps: How many batches; until the input ends if None.
        name: Its name, which tells several evaluations apart.
        hooks: Objects that are called around each run.
        exporters: What writes SavedModels after each evaluation.
        start_delay_secs: How many seconds to wait before the first evaluation.
        throttle_secs: The least seconds between two evaluations.

    Example:
        >>> tf.estimator.EvalSpec(lambda: None, steps=10).steps
        10
    """

    def __new__(
        cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, throttle_secs=600
    ):
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name!r}")
        for what, value in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if value < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {value}")
        hooks, exporters = check_hooks(hooks), _check_exporters(exporters)
        return super().__new__(cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs)


def _check_input_fn(input_fn):
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn!r}")


def _check_exporters(exporters):
    if exporters is None:
        return ()
    if isinstance(exporters, Exporter):
        exporters = (exporters,)
    try:
        exporters = tuple(exporters)
    except TypeError:
        raise TypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}."
        ) from None
    for exporter in exporters:
        if not isinstance(exporter, Exporter):
            raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporter!r}.")
    names = [exporter.name for exporter in exporters]
    if None in names or len(set(names)) < len(names):
        raise ValueError(
            f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {names}"
        )
    return exporters


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Train up to `train_spec.max_steps`; evaluate and export after each checkpoint. The same program runs in every process
    of a cluster.

    Args:
        estimator: The Estimator.
        train_spec: A `tf.estimator.TrainSpec`.
        eval_spec: A `tf.estimator.EvalSpec`.

    Returns:
        The metrics of the last evaluation, and what the exporters returned, where one process does both.

    Raises:
        TypeError: If a spec is of the wrong kind.
        ValueError: If TF_CONFIG doesn't fit.

    Example:
        >>> x = np.ones([4, 1], np.float32)
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": x}, x, shuffle=False, num_epochs=None)
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> specs = tf.estimator.TrainSpec(data, max_steps=3), tf.estimator.EvalSpec(data, steps=1)
        >>> metrics, _ = tf.estimator.train_and_evaluate(regressor, *specs)
        >>> metrics["global_step"]
        np.int64(3)
    """
    for name, value, kind in (
        ("eval_spec", eval_spec, EvalSpec),
        ("train_spec", train_spec, TrainSpec),
        ("estimator", estimator, Estimator),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}")
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            f"For distributed training, there can only be one `evaluator` task (with task id 0). Given task id {config.task_id}"
        )
    if not config._cluster and config.task_type != TaskType.EVALUATOR:
        return _run_local(estimator, train_spec, eval_spec)
    return _RUN_AS[config.task_type](estimator, train_spec, eval_spec)


# --- the roles -----------------------------------------------------------------------------------


def _run_local(estimator, train_spec, eval_spec):
    logging.info("Start train and evaluate loop. The evaluate will happen after every checkpoint.")
    return _train_and_evaluate_in_turn(estimator, train_spec, eval_spec)


def _train_and_evaluate_in_turn(estimator, train_spec, eval_spec):
    listener = _EvaluateNewCheckpoints(_Evaluator(estimator, eval_spec, train_spec.max_steps), eval_spec.throttle_secs)
    hooks = {"hooks": list(train_spec.hooks), "saving_listeners": [listener]}
    estimator.train(input_fn=train_spec.input_fn, max_steps=train_spec.max_steps, **hooks)
    return listener.metrics, listener.exports


def _run_master(estimator, train_spec, eval_spec):
    """The master of old clusters is a chief that evaluates too."""
    _start_server(estimator.config)
    _train_and_evaluate_in_turn(estimator, train_spec, eval_spec)


def _run_worker(estimator, train_spec, eval_spec):
    """The chief and the workers train."""
    config = estimator.config
    strategy = config.train_distribute
    if strategy is not None and strategy.extended._has_replicas_elsewhere:
        # The workers go together: none starts late, and the session starts the server.
        estimator.train(input_fn=train_spec.input_fn, max_steps=train_spec.max_steps, hooks=list(train_spec.hooks))
        return
    if config.cluster_spec.as_dict() and config.master:
        _start_server(config)
    if config.task_type == TaskType.WORKER:
        longest = config.experimental_max_worker_delay_secs
        longest = _MAX_DELAY_SECS if longest is None else longest
        delay = min(longest, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
        if delay > 0:
            logging.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
    estimator.train(input_fn=train_spec.input_fn, max_steps=train_spec.max_steps, hooks=list(train_spec.hooks))


def _run_ps(estimator, train_spec, eval_spec):
    """A parameter server serves until its process is ended."""
    _start_server(estimator.config).join()


def _run_evaluator(estimator, train_spec, eval_spec):
    """The evaluator looks for new checkpoints until one has come to the last step."""
    if eval_spec.start_delay_secs:
        logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = _Evaluator(estimator, eval_spec, train_spec.max_steps)
    while not evaluator.is_done:
        start = time.time()
        try:
            evaluator.evaluate_and_export()
        except (NotFoundError, ValueError):
            if evaluator.checkpoint is None or checkpoint_exists(evaluator.checkpoint):
                raise
            logging.warning(
                "Checkpoint %s was removed before it could be evaluated; the next one is.", evaluator.checkpoint
            )
        wait = eval_spec.throttle_secs - (time.time() - start)
        if not evaluator.is_done and wait > 0:
            time.sleep(wait)


_RUN_AS = {
    TaskType.CHIEF: _run_worker,
    TaskType.WORKER: _run_worker,
    TaskType.MASTER: _run_master,
    TaskType.PS: _run_ps,
    TaskType.EVALUATOR: _run_evaluator,
}


def _start_server(config):
    place = {"job_name": config.task_type, "task_index": config.task_id, "protocol": config.protocol}
    return Server(config.cluster_spec, **place, config=config.session_config, start=True)


# --- evaluating ----------------------------------------------------------------------------------


class _Evaluator:
    """Evaluates the newest checkpoint and calls the exporters."""

    def __init__(self, estimator, eval_spec, max_steps):
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_steps = max_steps
        self._last_checkpoint = None
        self.checkpoint = None
        self.is_done = False

    def evaluate_and_export(self):
        """(metrics, what exporters returned); (None, None) where there is no new checkpoint."""
        self.checkpoint = checkpoint = self._estimator.latest_checkpoint()
        if not checkpoint or checkpoint == self._last_checkpoint:
            logging.warning("No new checkpoint ready for evaluation; skipped.")
            return None, None
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=checkpoint, hooks=spec.hooks
        )
        self._last_checkpoint = checkpoint
        self.is_done = bool(self._max_steps and metrics[GLOBAL_STEP] >= self._max_steps)
        folder = os.path.join(self._estimator.model_dir, "export")
        exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(folder, exporter.name),
                checkpoint_path=checkpoint,
                eval_result=metrics,
                is_the_final_export=self.is_done,
            )
            for exporter in spec.exporters
        ]
        return metrics, exports


class _EvaluateNewCheckpoints(CheckpointSaverListener):
    """Evaluates after checkpoints are saved, every `throttle_secs` at most, and at the end."""

    def __init__(self, evaluator, throttle_secs):
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self.metrics = self.exports = None

    def begin(self):
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first = True

    def after_save(self, session, global_step_value):
        if self._is_first:
            # The checkpoint that training starts with.
            self._is_first = False
            return None
        if not self._timer.should_trigger_for_step(global_step_value):
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)
            return None
        self._evaluate(global_step_value)
        return None

    def end(self, session, global_step_value):
        # The last checkpoint is evaluated however little time has passed.
        if self._timer.last_triggered_step() != global_step_value:
            self._evaluate(global_step_value)

    def _evaluate(self, step):
        self._timer.update_last_triggered_step(step)
        self.metrics, self.exports = self._evaluator.evaluate_and_export()
        if self.metrics is None:
            raise RuntimeError(
                "There was no new checkpoint after the training: did something else write to the model's folder?"
            )
