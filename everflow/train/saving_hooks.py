"""The hooks that write files: checkpoints, summaries, and timelines of traced runs."""

from __future__ import annotations

import os

from everflow.formats.graph_files import write_graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_default_graph
from everflow.ops.io.meta_graph import create_meta_graph_def
from everflow.platform import logging
from everflow.platform.gfile import GFile
from everflow.protos.config_pb2 import RunOptions
from everflow.protos.event_pb2 import SessionLog
from everflow.runtime.timeline import Timeline
from everflow.summary.writer import FileWriterCache
from everflow.train.hook_timers import ForeseeingHook, PeriodicHook, check_one_given
from everflow.train.scaffold import only_of


class CheckpointSaverListener:
    """Gets called around each checkpoint that a `CheckpointSaverHook` saves.

    Example:
        >>> class Told(tf.train.CheckpointSaverListener):
        ...     def after_save(self, session, global_step_value):
        ...         print("saved at", global_step_value)
        >>> count = tf.train.get_or_create_global_step()
        >>> hook = tf.train.CheckpointSaverHook("model", save_steps=100, listeners=[Told()])
        >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
        ...     _ = session.run(count)
        saved at 0
    """

    def begin(self):
        """Before the session is made."""

    def before_save(self, session, global_step_value):
        """Before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """After it was written; True asks to stop training."""

    def end(self, session, global_step_value):
        """At the end of the session."""


class CheckpointSaverHook(PeriodicHook):
    """Saves a checkpoint at the start, every so many seconds or steps, and at the end.

    Args:
        checkpoint_dir: The folder of the checkpoints.
        save_secs: Every how many seconds; None to go by steps.
        save_steps: Every how many steps; None to go by seconds.
        saver: What writes and reads checkpoints.
        checkpoint_basename: What the checkpoints' names begin with.
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        listeners: `CheckpointSaverListener`s that are called around each checkpoint.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> with tf.train.MonitoredSession(hooks=[tf.train.CheckpointSaverHook("model", save_steps=1)]) as session:
        ...     _ = session.run(step)
        >>> tf.train.latest_checkpoint("model")
        'model/model.ckpt-1'
    """

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
        super().__init__(save_secs, save_steps)
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold = saver, scaffold
        self._listeners = listeners or []

    def begin(self):
        super().begin()
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
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

    def _act(self, run_context, step, elapsed_secs, elapsed_steps):
        if self._save(run_context.session, step):
            run_context.request_stop()

    def end(self, session):
        step = self._save_last(session)
        for listener in self._listeners:
            listener.end(session, step)

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
                logging.info("Training stops: the CheckpointSaverListener %s asked for it.", listener)
                should_stop = True
        return should_stop

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        self._saver = only_of(GraphKeys.SAVERS, "CheckpointSaverHook(saver=...)")
        if self._saver is None:
            raise RuntimeError(
                f"There is no saver in the collection {GraphKeys.SAVERS}: give the hook a `saver` or a `scaffold`"
            )
        return self._saver


class SummarySaverHook(ForeseeingHook):
    """Writes summaries every so many steps or seconds, of an op or of a scaffold's `summary_op`.

    Args:
        save_steps: Every how many steps; None to go by seconds.
        save_secs: Every how many seconds; None to go by steps.
        output_dir: The folder to write to.
        summary_writer: What writes summaries; one for `output_dir` if None.
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        summary_op: What makes the summaries; that of the scaffold if None.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> hook = tf.train.SummarySaverHook(save_steps=1, output_dir="summaries", summary_op=tf.summary.scalar("loss", 0.5))
        >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
        ...     _ = session.run(step)
        >>> len(tf.gfile.Glob("summaries/*"))
        1
    """

    def __init__(
        self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None
    ):
        check_one_given("SummarySaverHook", scaffold=scaffold, summary_op=summary_op)
        super().__init__(save_secs, save_steps, output_dir, summary_writer)
        self._scaffold, self._summary_op = scaffold, summary_op

    def _wanted(self):
        summaries = self._get_summary_op()
        return ({} if summaries is None else {"summary": summaries}), None

    def after_run(self, run_context, run_values):
        if self._summary_writer:
            super().after_run(run_context, run_values)

    def _write(self, step, run_values):
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        for summary in run_values.results.get("summary", ()):
            self._summary_writer.add_summary(summary, step)

    def end(self, session=None):
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self):
        summaries = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        if summaries is None:
            return None
        return summaries if isinstance(summaries, list) else [summaries]


class ProfilerHook(ForeseeingHook):
    """Traces a run every so many steps or seconds, as a timeline file for chrome://tracing and in the event file.

    Args:
        save_steps: Every how many steps; None to go by seconds.
        save_secs: Every how many seconds; None to go by steps.
        output_dir: The folder to write to.
        show_dataflow: Whether the timeline shows what is handed on.
        show_memory: Whether the timeline shows memory.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> with tf.train.MonitoredSession(hooks=[tf.train.ProfilerHook(save_steps=1, output_dir=".")]) as session:
        ...     for _ in range(3):
        ...         _ = session.run(step)
        >>> len(tf.gfile.Glob("timeline-*.json")) > 0
        True
    """

    _acts_at_first_run = False

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        super().__init__(save_secs, save_steps, summary_writer=FileWriterCache.get(output_dir))
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._shown = {"show_dataflow": show_dataflow, "show_memory": show_memory}

    def _wanted(self):
        return {}, RunOptions(trace_level=RunOptions.FULL_TRACE)

    def after_run(self, run_context, run_values):
        if self._next_step is None:
            # The first run pays for what is made once; its trace would mislead.
            self._timer.update_last_triggered_step(run_values.results["global_step"])
        super().after_run(run_context, run_values)

    def _write(self, step, run_values):
        self._save(step, run_values.run_metadata.step_stats)
        self._summary_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")

    def _save(self, step, step_stats):
        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        with GFile(path, "w") as f:
            f.write(Timeline(step_stats).generate_chrome_trace_format(**self._shown))
