"""The hooks that come with TensorFlow: saving checkpoints and summaries, logging, counting, stopping, watching for NaN, profiling."""

from __future__ import annotations

import os
import time

import numpy as np

from everflow.formats.graph_files import write_graph
from everflow.framework.errors import OutOfRangeError
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection, get_default_graph
from everflow.platform import logging
from everflow.platform.gfile import GFile
from everflow.protos.config_pb2 import RunOptions
from everflow.protos.event_pb2 import SessionLog
from everflow.protos.summary_pb2 import Summary
from everflow.summary.writer import FileWriterCache
from everflow.train.global_step import _get_or_create_global_step_read, get_global_step
from everflow.train.meta_graph import create_meta_graph_def
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def _step_tensor(who):
    """The tensor from which hooks read the global step."""
    tensor = _get_or_create_global_step_read()
    if tensor is None:
        raise RuntimeError(f"Global step should be created to use {who}.")
    return tensor


# --- timers -----------------------------------------------------------------------------------


class _HookTimer:
    """Says at which steps something is due."""

    def reset(self):
        """Forget when it was last due."""

    def should_trigger_for_step(self, step):
        """Whether it is due at this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step):
        """Note that it was done at this step; gives (seconds, steps) since the last time."""
        raise NotImplementedError

    def last_triggered_step(self):
        """The step at which it was last done."""
        raise NotImplementedError


class SecondOrStepTimer(_HookTimer):
    """Due every so many seconds, or every so many steps; the first time at once."""

    def __init__(self, every_secs=None, every_steps=None):
        self.reset()
        self._every_secs = every_secs
        self._every_steps = every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self):
        self._last_triggered_step = None
        self._last_triggered_time = None

    def should_trigger_for_step(self, step):
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        now = time.time()
        if self._last_triggered_time is None:
            elapsed = None, None
        else:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time = now
        self._last_triggered_step = step
        return elapsed

    def last_triggered_step(self):
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Never due."""

    def should_trigger_for_step(self, step):
        return False

    def update_last_triggered_step(self, step):
        return None, None

    def last_triggered_step(self):
        return None


# --- logging and counting ---------------------------------------------------------------------


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds, or at the end.

    >>> hook = tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=100)
    """

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tag_order = sorted(tensors)
        else:
            self._tag_order = list(tensors)
            tensors = {item: item for item in tensors}
        self._tensors = tensors
        self._formatter = formatter
        self._timer = NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._log_at_end = at_end

    def begin(self):
        self._timer.reset()
        self._iter_count = 0
        graph = get_default_graph()
        self._current_tensors = {tag: _as_graph_element(tensor, graph) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, tensor_values):
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info(self._formatter(tensor_values))
                return
            line = ", ".join(f"{tag} = {tensor_values[tag]!s}" for tag in self._tag_order)
        logging.info("%s (%.3f sec)", line, elapsed) if elapsed is not None else logging.info("%s", line)


def _as_graph_element(obj, graph):
    """A tensor of the graph by itself or by its name; a name without a number means the one output of an op."""
    if not isinstance(obj, str):
        if not hasattr(obj, "graph") or obj.graph != graph:
            raise ValueError(f"Passed {obj} should have graph attribute that is equal to current graph {graph}.")
        return obj
    element = graph.as_graph_element(obj if ":" in obj else obj + ":0")
    if ":" not in obj and len(element.op.outputs) > 1:
        raise ValueError(f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return element


class StepCounterHook(SessionRunHook):
    """Counts steps per second: a log line and a summary."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = _step_tensor("StepCounterHook")
        self._summary_tag = get_global_step().op.name + "/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds is not None:
                self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = Summary(value=[Summary.Value(tag=self._summary_tag, simple_value=rate)])
            self._summary_writer.add_summary(summary, global_step)
        logging.info("%s: %g", self._summary_tag, rate)


# --- checkpoints and summaries ----------------------------------------------------------------


class CheckpointSaverListener:
    """Gets called around each checkpoint that a `CheckpointSaverHook` saves."""

    def begin(self):
        """Before the session is made."""

    def before_save(self, session, global_step_value):
        """Before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """After it was written; True asks to stop training."""

    def end(self, session, global_step_value):
        """At the end of the session."""


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the start, every so many seconds or steps, and at the end."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
    ):
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _step_tensor("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        saver_def = self._get_saver().saver_def if self._get_saver() else None
        meta_graph = create_meta_graph_def(graph_def=graph.as_graph_def(add_shapes=True), saver_def=saver_def)
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(meta_graph)
        # What training starts from is kept, too.
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session):
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session, step):
        """Save a checkpoint; whether a listener asks to stop."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide a saver or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to the constructor."
            )
        self._saver = savers[0]
        return savers[0]


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds, of an op or of a scaffold's `summary_op`."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step = None
        self._global_step_tensor = _step_tensor("SummarySaverHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summaries = self._get_summary_op()
            if summaries is not None:
                requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context, run_values):
        if not self._summary_writer:
            return
        # The step was fetched while the run counted it up; where it is written it is read again.
        step = run_values.results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session=None):
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self):
        summaries = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        if summaries is None:
            return None
        return summaries if isinstance(summaries, list) else [summaries]


# --- stopping and waiting ---------------------------------------------------------------------


class StopAtStepHook(SessionRunHook):
    """Asks to stop after `num_steps` more steps, or at step `last_step`."""

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self):
        self._global_step_tensor = _step_tensor("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step:
            # What was fetched may be older than the step is now.
            if run_context.session.run(self._global_step_tensor) >= self._last_step:
                run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Watches a loss: raises, or asks to stop, when it is NaN."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        # The error isn't raised, but the run is asked to stop.
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds runs back until the global step has come to `wait_until_step`, so that workers start one after the other."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._worker_is_started = False
        self._global_step_tensor = _step_tensor("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._worker_is_started:
            return
        if self._wait_until_step <= 0:
            self._worker_is_started = True
            return
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        last_logged = 0
        while True:
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._wait_until_step:
                self._worker_is_started = True
                return
            if step - last_logged > 1000:
                logging.info("Waiting for global step %d before starting training. Current step is %d.", self._wait_until_step, step)
                last_logged = step
            time.sleep(0.5)


# --- running and feeding more -----------------------------------------------------------------


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end; `final_ops_values` has what they gave."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values = None

    @property
    def final_ops_values(self):
        """The values of the ops, None before the end."""
        return self._final_ops_values

    def end(self, session):
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (OutOfRangeError, StopIteration):
            logging.warning("The final ops came to an end of input: do they use the same pipeline as training does?")
            raise


class FeedFnHook(SessionRunHook):
    """Feeds each run with what a function returns."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class ProfilerHook(SessionRunHook):
    """Traces a run every so many steps or seconds, as a timeline file for chrome://tracing and in the event file."""

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        self._next_step = None
        self._global_step_tensor = _step_tensor("ProfilerHook")

    def before_run(self, run_context):
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context, run_values):
        stale_step = run_values.results["global_step"]
        if self._next_step is None:
            # The first run pays for what is made once; its trace would mislead.
            self._timer.update_last_triggered_step(stale_step)
        step = stale_step + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step, step_stats):
        from everflow.runtime.timeline import Timeline

        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        with GFile(path, "w") as f:
            f.write(Timeline(step_stats).generate_chrome_trace_format(show_dataflow=self._show_dataflow, show_memory=self._show_memory))
