"""The hooks that come with TensorFlow: logging, counting, stopping, watching for NaN, feeding, and saving."""

# ruff: noqa: F401  All hooks are here, those that write files as well.

from __future__ import annotations

import time

import numpy as np

from everflow.framework.errors import OutOfRangeError
from everflow.framework.scopes import get_default_graph
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.protos.summary_pb2 import Summary
from everflow.train.hook_timers import NeverTriggerTimer, PeriodicHook, SecondOrStepTimer, StepHook, check_one_given
from everflow.train.saving_hooks import CheckpointSaverHook, CheckpointSaverListener, ProfilerHook, SummarySaverHook
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

# --- logging and counting ---------------------------------------------------------------------


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds, or at the end.

    Args:
        tensors: Tensors, or their names, in a list or by what they are called.
        every_n_iter: Every how many runs; None to go by seconds.
        every_n_secs: Every how many seconds; None to go by steps.
        at_end: Whether they are logged at the end, too.
        formatter: A function of the values by name that gives the text.

    Example:
        >>> loss = tf.constant(0.5)
        >>> hook = tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=1)
        >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
        ...     print(session.run(loss))
        0.5
    """

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end:
            check_one_given(
                "LoggingTensorHook, unless it only logs at_end,", every_n_iter=every_n_iter, every_n_secs=every_n_secs
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tag_order = sorted(tensors)
        else:
            self._tag_order = list(tensors)
            tensors = {item: item for item in tensors}
        self._tensors = tensors
        self._formatter = formatter
        self._timer = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )
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
            raise ValueError(f"{obj} is not of the current graph {graph}, in which it is to run")
        return obj
    element = graph.as_graph_element(obj if ":" in obj else obj + ":0")
    if ":" not in obj and len(element.op.outputs) > 1:
        raise ValueError(
            f"{obj!r} is an operation with {len(element.op.outputs)} outputs: name one of them, as in '{obj}:0'"
        )
    return element


class StepCounterHook(PeriodicHook):
    """Counts steps per second: a log line and a summary.

    Args:
        every_n_steps: Every how many steps; None to go by seconds.
        every_n_secs: Every how many seconds; None to go by steps.
        output_dir: The folder to write to.
        summary_writer: What writes summaries; one for `output_dir` if None.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(output_dir="logs")]) as session:
        ...     print(session.run(count))
        0
    """

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        check_one_given("StepCounterHook", every_n_steps=every_n_steps, every_n_secs=every_n_secs)
        super().__init__(every_n_secs, every_n_steps, output_dir, summary_writer)

    def begin(self):
        super().begin()
        self._summary_tag = f"{get_global_step().op.name}/sec"
        self._step_before = None

    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)
        step = run_values.results
        if step == self._step_before:
            logging.log_first_n(
                logging.WARN,
                "The global step has not been increased by a run: it is still %s. Does the train op take it?",
                5,
                step,
            )
        self._step_before = step

    def _act(self, run_context, step, elapsed_secs, elapsed_steps):
        if elapsed_secs is not None:
            self._log_and_record(elapsed_steps, elapsed_secs, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = Summary.Value(tag=self._summary_tag, simple_value=elapsed_steps / elapsed_time)
        if self._summary_writer is not None:
            self._summary_writer.add_summary(Summary(value=[rate]), global_step)
        logging.info("%s: %g", rate.tag, rate.simple_value)


# --- stopping and waiting ---------------------------------------------------------------------


class StopAtStepHook(StepHook):
    """Asks to stop after `num_steps` more steps, or at step `last_step`.

    Args:
        num_steps: How many more steps.
        last_step: The step; give one of both.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=3)]) as session:
        ...     while not session.should_stop():
        ...         done = session.run(step)
        >>> done
        np.int64(3)
    """

    def __init__(self, num_steps=None, last_step=None):
        check_one_given("StopAtStepHook", num_steps=num_steps, last_step=last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step:
            # What was fetched may be older than the step is now.
            if run_context.session.run(self._global_step_tensor) >= self._last_step:
                run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN.

    Example:
        >>> issubclass(tf.train.NanLossDuringTrainingError, RuntimeError)
        True
    """

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Watches a loss: raises, or asks to stop, when it is NaN.

    Args:
        loss_tensor: The loss.
        fail_on_nan_loss: Whether it raises; else it asks to stop.

    Example:
        >>> loss = tf.constant(0.5)
        >>> with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
        ...     print(session.run(loss))
        0.5
    """

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results):
            log = logging.error if self._fail_on_nan_loss else logging.warning
            log("Model diverged with loss = NaN.")
            if self._fail_on_nan_loss:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class GlobalStepWaiterHook(StepHook):
    """Holds runs back until the global step has come to `wait_until_step`, so that workers start one after the other.

    Args:
        wait_until_step: The step.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(0)]) as session:
        ...     print(session.run(count))
        0
    """

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        super().begin()
        self._worker_is_started = False

    def before_run(self, run_context):
        if not self._worker_is_started:
            if self._wait_until_step > 0:
                self._wait(run_context.session)
            self._worker_is_started = True

    def _wait(self, session):
        told = 0
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        while (step := session.run(self._global_step_tensor)) < self._wait_until_step:
            if step > told + 1000:
                logging.info("Training starts here at global step %d; it is %d now.", self._wait_until_step, step)
                told = step
            time.sleep(0.5)


# --- running and feeding more -----------------------------------------------------------------


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end; `final_ops_values` has what they gave.

    Args:
        final_ops: The operations, in any structure.
        final_ops_feed_dict: What is fed to them.

    Example:
        >>> hook = tf.train.FinalOpsHook(tf.constant(7))
        >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
        ...     pass
        >>> hook.final_ops_values
        np.int32(7)
    """

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values = None

    final_ops_values = property(lambda self: self._final_ops_values, doc="The values of the ops, None before the end.")

    def end(self, session):
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (OutOfRangeError, StopIteration):
            logging.warning(
                "The final ops came to an end of input: they read from some input, such as the pipeline of training."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds each run with what a function returns.

    Args:
        feed_fn: A function that returns a feed dictionary.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> y = x * 2.0
        >>> with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0})]) as session:
        ...     print(session.run(y))
        6.0
    """

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
