"""Monitors of tf.contrib.learn: the hooks before there were hooks, told of each step and epoch.

`monitor_base.py` has what they are made of, `model_monitors.py` those that keep or look at the whole model;
`RunHookAdapterForMonitors` makes one hook of several.
"""

from __future__ import annotations

import numpy as np

from everflow.contrib.learn.model_monitors import (
    CheckpointSaver,
    ExportMonitor,
    GraphDump,
    StepCounter,
    SummarySaver,
    ValidationMonitor,
)
from everflow.contrib.learn.monitor_base import BaseMonitor, EveryN
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_collection
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.train.hooks import NanLossDuringTrainingError
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "CheckpointSaver",
    "EveryN",
    "ExportMonitor",
    "GraphDump",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "get_default_monitors",
    "replace_monitors_with_hooks",
]


def _with_slot(name):
    return name if ":" in name else f"{name}:0"


class PrintTensor(EveryN):
    """Logs tensors: a list of names, or {tag: name}."""

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._tensor_names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        shown = ", ".join(f"{tag} = {outputs[name]}" for tag, name in self._tensor_names.items() if name in outputs)
        logging.info("Step %d: %s", step, shown)
        return False


class LoggingTrainable(EveryN):
    """Logs the values of trainable variables, of a scope or all."""

    def __init__(self, scope=None, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names = []

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        self._names = [v.name for v in get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)]
        return self._names

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        shown = ", ".join(f"{name} = {outputs[name]}" for name in self._names)
        logging.info("Logging Trainable: Step %d: %s", step, shown)
        return False


class CaptureVariable(EveryN):
    """Keeps the values of a variable, as `values`."""

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values = {}

    values = property(lambda self: self._var_values, doc="{step: value}.")

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self._var_values[step] = outputs[self._var_name]
        return False


class NanLoss(EveryN):
    """Ends training when the loss is no number: with an error, or quietly."""

    def __init__(self, loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        name = self._loss_tensor if isinstance(self._loss_tensor, str) else self._loss_tensor.name
        if not np.isnan(outputs[name]):
            return False
        logging.error("The loss is no number (NaN) in step %d.", step)
        if self._fail_on_nan_loss:
            raise NanLossDuringTrainingError
        return True


class StopAtStep(BaseMonitor):
    """Stops after some steps, or at one."""

    def __init__(self, num_steps=None, last_step=None):
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise ValueError(f"Give one of num_steps and last_step, got {num_steps} and {last_step}")
        self._num_steps = num_steps
        self._last_step = last_step

    run_on_all_workers = property(lambda self: True, doc="Every worker has to stop.")

    def step_begin(self, step):
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step, output):
        super().step_end(step, output)
        return step >= self._last_step


class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that tells monitors of each step."""

    def __init__(self, monitors):
        self._monitors = monitors

    def begin(self):
        self._last_step = None
        self._global_step_tensor = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context):
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step_tensor) + 1
        graph = run_context.session.graph
        wanted = {}
        for monitor in self._monitors:
            for want in monitor.step_begin(self._last_step) or []:
                name = want.name if isinstance(want, Tensor) else getattr(want, "name", want)
                wanted[name] = want if isinstance(want, Tensor) else graph.as_graph_element(_with_slot(name))
        return SessionRunArgs({**wanted, self._global_step_tensor.name: self._global_step_tensor})

    def after_run(self, run_context, run_values):
        outputs = {name: value for name, value in run_values.results.items() if name != self._global_step_tensor.name}
        asked = [monitor.step_end(self._last_step, outputs) for monitor in self._monitors]
        if any(asked):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results[self._global_step_tensor.name] + 1

    def end(self, session):
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(session=session)


def replace_monitors_with_hooks(monitors_or_hooks, estimator):
    """Hooks and monitors as hooks: monitors are told which estimator they watch, and become one hook at the end.
    Workers that are not chief have only monitors that say so.
    """
    given = monitors_or_hooks or []
    hooks = [hook for hook in given if isinstance(hook, SessionRunHook)]
    monitors = [monitor for monitor in given if not isinstance(monitor, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return hooks + ([RunHookAdapterForMonitors(monitors)] if monitors else [])


def get_default_monitors(loss_op=None, summary_op=None, save_summary_steps=100, output_dir=None, summary_writer=None):
    """Monitors that most trainings want: the loss logged, summaries written."""
    shown = [] if loss_op is None else [PrintTensor({"loss": loss_op.name})]
    written = [] if summary_op is None else [SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer)]
    return shown + written
