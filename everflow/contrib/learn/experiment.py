"""`Experiment`: an estimator with the input it is trained and evaluated on, and how often."""

from __future__ import annotations

import contextlib
import time

from everflow.cluster.server import Server
from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.learn import export_strategies as strategies
from everflow.contrib.learn.estimator import NotFittedError
from everflow.contrib.learn.model_ops import ModeKeys
from everflow.contrib.learn.monitors import ValidationMonitor
from everflow.platform import logging
from everflow.train.checkpoint_state import latest_checkpoint


@contextlib.contextmanager
def _new_attr_context(obj, attr):
    """A context after which an attribute is what it was before."""
    with contextlib.ExitStack() as afterwards:
        afterwards.callback(setattr, obj, attr, getattr(obj, attr))
        yield


class Experiment:
    """Trains and evaluates an estimator of tf.contrib.learn or of tf.estimator."""

    def __init__(
        self,
        estimator,
        train_input_fn,
        eval_input_fn,
        eval_metrics=None,
        train_steps=None,
        eval_steps=100,
        train_monitors=None,
        eval_hooks=None,
        local_eval_frequency=None,
        eval_delay_secs=120,
        continuous_eval_throttle_secs=60,
        min_eval_frequency=None,
        delay_workers_by_global_step=False,
        export_strategies=None,
        train_steps_per_iteration=None,
        checkpoint_and_export=False,
        saving_listeners=None,
        check_interval_secs=5,
    ):
        if not (hasattr(estimator, "evaluate") and (hasattr(estimator, "fit") or hasattr(estimator, "train"))):
            raise ValueError("`estimator` must be an estimator that can be trained and evaluated.")
        if eval_metrics is not None and not hasattr(estimator, "fit"):
            raise ValueError(
                "`eval_metrics` must be `None` with an estimator of tf.estimator: its model function has the metrics."
            )
        keep(self, locals())
        self._train_monitors = list(train_monitors or [])
        self._eval_hooks = list(eval_hooks or [])
        self._min_eval_frequency = min_eval_frequency if min_eval_frequency is not None else local_eval_frequency
        self._export_strategies = strategies.checked(export_strategies)

    estimator = property(lambda self: self._estimator)
    eval_metrics = property(lambda self: self._eval_metrics)
    train_steps = property(lambda self: self._train_steps)
    eval_steps = property(lambda self: self._eval_steps)

    def extend_train_hooks(self, additional_hooks):
        """Add hooks to those that watch the training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies=None):
        """Export by other strategies from now on; gives those of before."""
        before, self._export_strategies = self._export_strategies, strategies.checked(new_export_strategies)
        return before

    def run_std_server(self):
        """Serve this task of the cluster, and never return."""
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise ValueError("No server for this task: the RunConfig lacks cluster_spec, task_type or task_id")
        task = {"job_name": config.task_type, "task_index": config.task_id}
        Server(config.cluster_spec, **task, config=config.tf_config).join()

    def train(self, delay_secs=None):
        """Train up to `train_steps`; in a cluster, workers other than the chief begin a little later."""
        if delay_secs is None:
            config = self._estimator.config
            delay_secs = min(60, 5 * (config.task_id + 1)) if config.cluster_spec and config.task_id else 0
        if delay_secs:
            time.sleep(delay_secs)
        return self._fit(self._train_steps, self._train_monitors)

    def _fit(self, max_steps, monitors):
        if hasattr(self._estimator, "fit"):
            return self._estimator.fit(input_fn=self._train_input_fn, max_steps=max_steps, monitors=monitors)
        watched = {"hooks": monitors, "saving_listeners": self._saving_listeners}
        return self._estimator.train(input_fn=self._train_input_fn, max_steps=max_steps, **watched)

    def evaluate(self, delay_secs=None, name=None):
        """Evaluate the newest checkpoint once."""
        if delay_secs is None:
            delay_secs = self._eval_delay_secs
        if delay_secs:
            time.sleep(delay_secs)
        return self._evaluate(self._eval_input_fn, name)

    def _evaluate(self, input_fn, name):
        arguments = {"input_fn": input_fn, "steps": self._eval_steps, "hooks": self._eval_hooks, "name": name}
        if hasattr(self._estimator, "fit"):
            arguments["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**arguments)

    def _continuous_eval(self, input_fn, name, delay_secs, throttle_secs, predicate, only_once=True):
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle_secs = self._continuous_eval_throttle_secs if throttle_secs is None else throttle_secs
        if delay_secs:
            time.sleep(delay_secs)
        results = evaluated = None
        while predicate is None or predicate(results):
            start = time.time()
            newest = latest_checkpoint(self._estimator.model_dir)
            if only_once and newest and newest == evaluated:
                logging.info("No new checkpoint to evaluate.")
            else:
                try:
                    results = self._evaluate(input_fn, name)
                except (NotFittedError, ValueError) as error:
                    logging.warning("There is nothing to evaluate yet: %s", error)
                if results:
                    strategies.export_all(self._export_strategies, self._estimator, results)
                evaluated = newest
            if results and self._train_steps is not None and results["global_step"] >= self._train_steps:
                break
            time.sleep(max(0, throttle_secs - (time.time() - start)))
        return results

    def continuous_eval(
        self,
        delay_secs=None,
        throttle_delay_secs=None,
        evaluate_checkpoint_only_once=True,
        continuous_eval_predicate_fn=None,
        name="continuous",
    ):
        """Evaluate each checkpoint once, or as often as there is time, until the model is trained for all its steps."""
        when = delay_secs, throttle_delay_secs, continuous_eval_predicate_fn
        return self._continuous_eval(self._eval_input_fn, name, *when, evaluate_checkpoint_only_once)

    def continuous_eval_on_train_data(
        self,
        delay_secs=None,
        throttle_delay_secs=None,
        continuous_eval_predicate_fn=None,
        name="continuous_on_train_data",
    ):
        """As `continuous_eval`, on what it is trained on."""
        delays = delay_secs, throttle_delay_secs
        return self._continuous_eval(self._train_input_fn, name, *delays, continuous_eval_predicate_fn)

    def train_and_evaluate(self):
        """Train, evaluate every `min_eval_frequency` steps and at the end, and export: (results, paths)."""
        monitors = list(self._train_monitors)
        if self._min_eval_frequency and hasattr(self._estimator, "fit"):
            evaluation = {"eval_steps": self._eval_steps, "metrics": self._eval_metrics, "hooks": self._eval_hooks}
            evaluation.update(every_n_steps=self._min_eval_frequency, name=ModeKeys.EVAL)
            monitors.append(ValidationMonitor(input_fn=self._eval_input_fn, **evaluation))
        self._fit(self._train_steps, monitors)
        return self._with_exports(self._evaluate(self._eval_input_fn, None))

    def _with_exports(self, results):
        return results, strategies.export_all(self._export_strategies, self._estimator, results)

    local_run = train_and_evaluate

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Train for a while, evaluate, and so on, until all steps are done; then export: (results, paths)."""
        results, done = None, 0
        while continuous_eval_predicate_fn is None or continuous_eval_predicate_fn(results):
            done += self._train_steps_per_iteration or self._train_steps or 1000
            limit = done if self._train_steps is None else min(done, self._train_steps)
            self._fit(limit, self._train_monitors)
            results = self._evaluate(self._eval_input_fn, "one_pass")
            if self._train_steps is not None and limit >= self._train_steps:
                break
        return self._with_exports(results)

    def test(self):
        """Train for one step and evaluate on one batch."""
        self._eval_steps, eval_steps = 1, self._eval_steps
        try:
            self._fit(1, self._train_monitors)
            return self._evaluate(self._eval_input_fn, "one_pass")
        finally:
            self._eval_steps = eval_steps
