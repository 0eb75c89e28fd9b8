"""Monitors that keep or look at the whole model: checkpoints, summaries, all values of a step, evaluation."""

from __future__ import annotations

import os
import time

import numpy as np

from everflow.contrib.learn.monitor_base import BaseMonitor, EveryN
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection, get_default_graph
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.protos.event_pb2 import SessionLog
from everflow.protos.summary_pb2 import Summary
from everflow.summary.writer import FileWriter, FileWriterCache
from everflow.train.checkpoint_state import latest_checkpoint


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints every so many steps, or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
    ):
        super().__init__()
        if (save_secs is None) == (save_steps is None):
            raise ValueError(f"Give one of save_steps and save_secs, got {save_steps} and {save_secs}")
        logging.info("Create CheckpointSaver.")
        self._saver = saver
        self._scaffold = scaffold
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._writer = FileWriterCache.get(checkpoint_dir)
        self._secs, self._steps = save_secs, save_steps
        self._last_step = self._last_time = None

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._last_step = self._last_time = None

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._last_step is None:
            self._save(step, session)
        elif step == self._last_step:
            return
        elif (self._steps is not None and step >= self._last_step + self._steps) or (
            self._secs is not None and time.time() >= self._last_time + self._secs
        ):
            self._save(step, session)

    def end(self, session=None):
        super().end(session)
        step = session.run(get_global_step())
        if step != self._last_step:
            self._save(step, session)

    def _save(self, step, session):
        saver = self._saver or (self._scaffold and self._scaffold.saver) or _only_saver()
        saver.save(session, self._save_path, global_step=step)
        kept = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._writer.add_session_log(kept, int(step))
        self._last_step, self._last_time = step, time.time()


def _only_saver():
    found = get_collection(GraphKeys.SAVERS)
    if len(found) != 1:
        raise RuntimeError(f"The graph has {len(found)} savers: tell CheckpointSaver which, by saver or scaffold")
    return found[0]


class SummarySaver(EveryN):
    """Writes summaries every so many steps."""

    def __init__(self, summary_op, save_steps=100, output_dir=None, summary_writer=None, scaffold=None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._scaffold = scaffold
        self._writer = summary_writer or (FileWriter(output_dir) if output_dir else None)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = FileWriter(estimator.model_dir)

    def _op(self):
        return self._summary_op if self._summary_op is not None else self._scaffold and self._scaffold.summary_op

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        return [op] if (op := self._op()) is not None else []

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        if self._writer is not None and (op := self._op()) is not None:
            self._writer.add_summary(outputs[op.name], step)
        return False

    def end(self, session=None):
        super().end(session)
        if self._writer is not None:
            self._writer.flush()


class StepCounter(EveryN):
    """Writes how many steps there are a second."""

    def __init__(self, every_n_steps=100, output_dir=None, summary_writer=None):
        super().__init__(every_n_steps=every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last_reported_step = self._last_reported_time = None
        self._summary_writer = summary_writer or (FileWriterCache.get(output_dir) if output_dir else None)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step, outputs):
        now = time.time()
        if self._last_reported_time is not None and self._summary_writer:
            seconds = now - self._last_reported_time
            rate = (current_step - self._last_reported_step) / seconds if seconds > 0 else float("inf")
            summary = Summary(value=[Summary.Value(tag=self._summary_tag, simple_value=rate)])
            self._summary_writer.add_summary(summary, current_step)
        self._last_reported_step, self._last_reported_time = current_step, now
        return False


class GraphDump(BaseMonitor):
    """Keeps the values of all operations' first outputs in each step, and compares them with another training's."""

    IGNORE_OPS = ["Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice"]

    def __init__(self, ignore_ops=None):
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._names = []
        self._data = {}

    data = property(lambda self: self._data, doc="What was seen: {step: {name of a tensor: value}}.")

    def begin(self, max_steps=None):
        super().begin(max_steps)
        graph = get_default_graph()
        self._names = [
            op.outputs[0].name
            for op in graph.get_operations()
            if op.type not in self._ignore_ops and op.outputs and graph.is_fetchable(op.outputs[0])
        ]

    def step_begin(self, step):
        super().step_begin(step)
        return self._names

    def step_end(self, step, output):
        super().step_end(step, output)
        self._data[step] = output
        return False

    def compare(self, other_dump, step, atol=1e-6):
        """(the names whose values agree, {name: both values} of the others) of a step in both dumps."""
        alike, other = [], {}
        for name, value in self._data[step].items():
            beside = other_dump.data[step].get(name)
            if beside is None or value is None:
                continue
            numeric = np.issubdtype(np.asarray(value).dtype, np.number)
            if np.allclose(value, beside, atol=atol) if numeric else np.array_equal(value, beside):
                alike.append(name)
            else:
                other[name] = (value, beside)
        return alike, other


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


class ExportMonitor(EveryN):
    """Exports the newest checkpoint while training, and at the end.

    Args:
        every_n_steps: After how many steps it exports again.
        export_dir: The folder of all exports.
        input_fn: `fn(estimator, examples)` with features, or with `input_feature_key` `fn()` with features and labels.
        input_feature_key: The feature that serialized Examples are fed to.
        exports_to_keep: How many exports stay.
        signature_fn: `fn(examples, features, predictions)` with the signature, and others by name.
        default_batch_size: The size of the batch of Examples, where a placeholder is made for them.
    """

    def __init__(
        self,
        every_n_steps,
        export_dir,
        input_fn=None,
        input_feature_key=None,
        exports_to_keep=5,
        signature_fn=None,
        default_batch_size=1,
    ):
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir, self._exports_to_keep = export_dir, exports_to_keep
        self._settings = {
            "input_fn": input_fn,
            "input_feature_key": input_feature_key,
            "use_deprecated_input_fn": input_fn is None,
            "signature_fn": signature_fn,
            "default_batch_size": default_batch_size,
        }
        self._last_export_dir = None

    export_dir = property(lambda self: self._export_dir, doc="The folder of all exports.")
    exports_to_keep = property(lambda self: self._exports_to_keep, doc="How many exports stay.")
    signature_fn = property(lambda self: self._settings["signature_fn"], doc="What makes the signature.")
    last_export_dir = property(lambda self: self._last_export_dir, doc="The last export, or None.")

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self._export()

    def end(self, session=None):
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is not None:
            self._export()

    def _export(self):
        try:
            self._last_export_dir = self._estimator.export(
                self._export_dir, exports_to_keep=self._exports_to_keep, **self._settings
            )
        except RuntimeError as error:
            # The newest checkpoint is exported already: steps are not saved as often as they are looked at.
            logging.info("Nothing is exported: the newest checkpoint was already. %s", error)
