"""Monitors of tf.contrib.learn: the hooks before there were hooks, told of each step and epoch."""

from __future__ import annotations

from everflow.framework.operation import Tensor
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.hooks import NanLossDuringTrainingError, StopAtStepHook  # noqa: F401  StopAtStep is made of one.
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class BaseMonitor(SessionRunHook):
    """Base of monitors: `step_begin(step)` says what to fetch, `step_end(step, output)` gets it, and may stop."""

    def __init__(self):
        self._estimator = None
        self._step_tensor = None
        self._step = None

    def set_estimator(self, estimator):
        """Which estimator is trained."""
        if self._estimator is not None and self._estimator is not estimator:
            raise ValueError("Cannot set estimator again: monitors may not be shared.")
        self._estimator = estimator

    def begin(self, max_steps=None):
        """Called before training."""
        self._step_tensor = get_global_step()
        self._step = None

    def end(self, session=None):
        """Called after training."""

    def epoch_begin(self, epoch):
        """Called before an epoch."""

    def epoch_end(self, epoch):
        """Called after an epoch."""

    def step_begin(self, step):
        """The names of tensors to fetch in this step."""
        return []

    def step_end(self, step, output):
        """What the step gave, by name; True asks to stop."""
        return False

    def post_step(self, step, session):
        """Called after each step with the session."""

    # --- as a hook

    def after_create_session(self, session, coord):
        self._step = int(session.run(self._step_tensor))

    def before_run(self, run_context):
        wanted = self.step_begin(self._step + 1) or []
        graph = run_context.session.graph
        named = {_name(w): w if isinstance(w, Tensor) else graph.as_graph_element(_name(w)) for w in wanted}
        return SessionRunArgs({"step": self._step_tensor, "wanted": named})

    def after_run(self, run_context, run_values):
        step = self._step + 1
        if self.step_end(step, run_values.results["wanted"]):
            run_context.request_stop()
        self.post_step(step, run_context.session)
        self._step = step


def _name(want):
    name = want.name if hasattr(want, "name") else want
    return name if ":" in name else f"{name}:0"


class EveryN(BaseMonitor):
    """A monitor that looks at the first steps, and then at each n-th."""

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._first_step = None
        self._last_active = None
        self._active = False

    def every_n_step_begin(self, step):
        """The names of tensors to fetch in a step that is looked at."""
        return []

    def every_n_step_end(self, step, outputs):
        """What such a step gave, by name; True asks to stop."""
        return False

    def every_n_post_step(self, step, session):
        """Called after such a step with the session."""

    def step_begin(self, step):
        if self._first_step is None:
            self._first_step = step
            self._last_active = step - 1
        self._active = step < self._first_step + self._first_n_steps or step >= self._last_active + self._every_n_steps
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step, output):
        if not self._active:
            return False
        self._last_active = step
        return self.every_n_step_end(step, output)

    def post_step(self, step, session):
        if self._active:
            self.every_n_post_step(step, session)


class PrintTensor(EveryN):
    """Logs tensors: a list of names, or {tag: name}."""

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        names = tensor_names if isinstance(tensor_names, dict) else {_name(name): name for name in tensor_names}
        self._tensor_names = names

    def every_n_step_begin(self, step):
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        shown = ", ".join(f"{tag} = {outputs[_name(name)]}" for tag, name in self._tensor_names.items())
        logging.info("Step %d: %s", step, shown)
        return False


class CaptureVariable(EveryN):
    """Keeps the values of a variable: {step: value}."""

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self.values = {}

    def every_n_step_begin(self, step):
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        self.values[step] = outputs[_name(self._var_name)]
        return False


class ValidationMonitor(EveryN):
    """Evaluates the newest checkpoint while training, and stops when a metric has not become better for long enough."""

    def __init__(self, x=None, y=None, input_fn=None, batch_size=None, eval_steps=None, every_n_steps=100, metrics=None, hooks=None,
                 early_stopping_rounds=None, early_stopping_metric="loss", early_stopping_metric_minimize=True, name=None,
                 check_interval_secs=5):  # fmt: skip
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("A ValidationMonitor has no data: give x or an input_fn")
        self._data = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._evaluation = {"steps": eval_steps, "metrics": metrics, "hooks": hooks, "name": name}
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._sign = 1 if early_stopping_metric_minimize else -1
        self._checkpoint = None
        self._early_stopped = False
        self._best_step = self._best_value = self._best_metrics = None

    early_stopped = property(lambda self: self._early_stopped, doc="Whether it stopped the training.")
    best_step = property(lambda self: self._best_step, doc="The step at which the metric was best.")
    best_value = property(lambda self: self._best_value, doc="The best value of the metric.")
    best_metrics = property(lambda self: self._best_metrics, doc="All metrics at the best step.")

    def every_n_step_end(self, step, outputs):
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        newest = latest_checkpoint(self._estimator.model_dir)
        if newest is None or newest == self._checkpoint:
            return False
        self._checkpoint = newest
        results = self._estimator.evaluate(**self._data, **self._evaluation)
        shown = ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))
        logging.info("Validation (step %d): %s", step, shown)
        if self._rounds is None:
            return False
        if self._metric not in results:
            raise ValueError(f"Metric {self._metric} missing from outputs {sorted(results)}.")
        value = results[self._metric]
        if self._best_value is None or self._sign * value < self._sign * self._best_value:
            self._best_value, self._best_step, self._best_metrics = value, step, results
        self._early_stopped = step - self._best_step >= self._rounds
        if self._early_stopped:
            logging.info("Stopping. Best step: %d with %s = %s.", self._best_step, self._metric, self._best_value)
        return self._early_stopped


class StopAtStep(StopAtStepHook):
    """Stops after some steps, or at one."""
