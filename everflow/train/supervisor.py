"""`Supervisor`: the older way to watch over training, with threads that save checkpoints and summaries at intervals."""

from __future__ import annotations

import contextlib
import os
import time

from everflow.formats.graph_files import write_graph
from everflow.framework import errors
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection, get_default_graph
from everflow.ops.control_flow.grouping import group
from everflow.ops.io.meta_graph import create_meta_graph_def
from everflow.ops.io.summaries import merge_all
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.variables.global_step import global_step as step_in
from everflow.ops.variables.variable import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos.event_pb2 import SessionLog
from everflow.protos.summary_pb2 import Summary
from everflow.summary.writer import FileWriter
from everflow.train.coordinator import Coordinator, LooperThread
from everflow.train.saver import Saver
from everflow.train.scaffold import ModelOps
from everflow.train.session_manager import SessionManager


def _local_init_op():
    ops = [op for op in (local_variables_initializer(), tables_initializer()) if op is not None]
    return group(*ops) if ops else None


def _tensor_called_global_step():
    """The graph's tensor of that name, of an integer type; it needn't be a scalar."""
    try:
        found = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base_dtype.is_integer:
        return found
    logging.warning("The tensor 'global_step' is of %s, so it is not taken for the step.", found.dtype)
    return None


# What is made where neither the program nor a collection of the graph has it, in this order.
_DEFAULTS = {
    "ready_op": (GraphKeys.READY_OP, report_uninitialized_variables),
    "ready_for_local_init_op": (GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None),
    "init_op": (GraphKeys.INIT_OP, global_variables_initializer),
    "local_init_op": (GraphKeys.LOCAL_INIT_OP, _local_init_op),
    "saver": (GraphKeys.SAVERS, lambda: Saver() if get_collection(GraphKeys.GLOBAL_VARIABLES) else None),
    "summary_op": (GraphKeys.SUMMARY_OP, merge_all),
    "global_step": (GraphKeys.GLOBAL_STEP, _tensor_called_global_step),
}


def _found_or_made(key, make):
    """The first thing in a collection of the graph; where there is none, it is made and put there."""
    found = get_collection(key)
    if found:
        if len(found) > 1:
            logging.info("Of %d in the collection %s the first one is taken.", len(found), key)
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(key, made)
    return made


class Supervisor(ModelOps):
    """Initializes or restores a model, saves it at intervals, and stops all threads together.

    Args:
        graph: The graph to work in; the default graph if None.
        ready_op: What names the variables that aren't initialized yet.
        ready_for_local_init_op: What names the variables that `local_init_op` still waits for.
        is_chief: Whether this process initializes and saves the model.
        init_op: What initializes variables.
        init_feed_dict: What is fed to it.
        local_init_op: What initializes local variables and tables.
        logdir: The folder of checkpoints and event files.
        summary_op: What makes the summaries to write.
        saver: What writes and reads checkpoints; made by default, None for none.
        global_step: The variable that counts steps; found in the graph by default.
        save_summaries_secs: Every how many seconds summaries are written; 0 for never.
        save_model_secs: Every how many seconds a checkpoint is written; 0 for never.
        recovery_wait_secs: How often is looked whether the model is ready.
        stop_grace_secs: How long threads have to stop.
        checkpoint_basename: What the checkpoints' names begin with.
        session_manager: What makes sessions; a `tf.train.SessionManager` if None.
        summary_writer: What writes summaries; one for `logdir` by default.
        init_fn: A function of the session to call after it.
        local_init_run_options: RunOptions for `local_init_op`.

    Example:
        >>> v = tf.Variable(1.0)
        >>> supervisor = tf.train.Supervisor(logdir="train", save_model_secs=0)
        >>> with supervisor.managed_session() as session:
        ...     if not supervisor.should_stop():
        ...         print(session.run(v))
        1.0
    """

    # Asks for the default of an argument for which None means "none".
    USE_DEFAULT = 0

    @takes(
        """graph=None, ready_op=0, ready_for_local_init_op=0, is_chief=True, init_op=0, init_feed_dict=None,
        local_init_op=0, logdir=None, summary_op=0, saver=0, global_step=0, save_summaries_secs=120,
        save_model_secs=600, recovery_wait_secs=30, stop_grace_secs=120, checkpoint_basename="model.ckpt",
        session_manager=None, summary_writer=0, init_fn=None, local_init_run_options=None""",
    )
    def __init__(self, graph, session_manager, recovery_wait_secs, local_init_run_options, **given):
        self._graph = get_default_graph() if graph is None else graph
        self._coord = Coordinator()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        for name in ("is_chief", "stop_grace_secs", "init_feed_dict", "init_fn"):
            setattr(self, f"_{name}", given.pop(name))
        with self._graph.as_default():
            for name, (collection, make) in _DEFAULTS.items():
                value = given.pop(name)
                setattr(
                    self, f"_{name}", _found_or_made(collection, make) if value is Supervisor.USE_DEFAULT else value
                )
        self._init_chief(**given)
        if session_manager is None:
            ops = {name: getattr(self, f"_{name}") for name in ("local_init_op", "ready_op", "ready_for_local_init_op")}
            waiting = {"recovery_wait_secs": recovery_wait_secs, "local_init_run_options": local_init_run_options}
            session_manager = SessionManager(**ops, graph=self._graph, **waiting)
        self._session_manager = session_manager
        self._check_devices()
        # Nothing may be added once threads run.
        self._graph.finalize()
        self._started_threads = []

    def _check_devices(self):
        """Workers that aren't the chief find variables where the chief put them."""
        for op in [] if self._is_chief else self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"Replicas share variables, which must have their device set, and {op.name!r} has none: see "
                    "tf.train.replica_device_setter"
                )

    def _init_chief(self, logdir, save_summaries_secs, save_model_secs, checkpoint_basename, summary_writer):
        """Only the chief writes."""
        self._logdir = logdir if self._is_chief else None
        self._save_summaries_secs = save_summaries_secs if self._is_chief else None
        self._save_model_secs = save_model_secs if self._is_chief else None
        self._save_path = os.path.join(logdir, checkpoint_basename) if self._is_chief and logdir else None
        if not self._is_chief:
            self._summary_writer = None
        elif summary_writer is Supervisor.USE_DEFAULT:
            self._summary_writer = FileWriter(logdir) if logdir else None
        else:
            self._summary_writer = summary_writer
        self._graph_added_to_summary = False

    is_chief = property(lambda self: self._is_chief, doc="Whether this is the process that initializes and saves.")
    session_manager = property(lambda self: self._session_manager, doc="The SessionManager.")
    coord = property(lambda self: self._coord, doc="The Coordinator of its threads.")
    global_step = property(lambda self: self._global_step, doc="The global step.")
    summary_writer = property(lambda self: self._summary_writer, doc="The FileWriter.")
    save_summaries_secs = property(lambda self: self._save_summaries_secs, doc="Seconds between summaries.")
    save_model_secs = property(lambda self: self._save_model_secs, doc="Seconds between checkpoints.")
    save_path = property(lambda self: self._save_path, doc="Where checkpoints go.")

    # --- sessions and threads

    def _write_graph(self):
        if not self._is_chief:
            raise RuntimeError("Only the chief writes the graph")
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            graph_def = self._graph.as_graph_def(add_shapes=True)
            with self._graph.as_default():
                self._summary_writer.add_meta_graph(create_meta_graph_def(graph_def=graph_def, saver_def=saver_def))
            self._graph_added_to_summary = True

    def start_standard_services(self, sess):
        """Start the threads that save checkpoints and summaries and count steps; gives them."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services: it is the one that writes")
        if not self._logdir:
            logging.warning("No summaries or checkpoints are saved: the Supervisor has no `logdir`.")
            return None
        counted = self._global_step is not None
        if counted and self._summary_writer:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step_in(sess, self._global_step))
        summarized = self._save_summaries_secs and self._summary_writer
        services = {
            SVSummaryThread: summarized and self._summary_op is not None,
            SVStepCounterThread: summarized and counted,
            SVTimerCheckpointThread: self._saver and self._save_model_secs,
        }
        return self._started([service(self, sess) for service, wanted in services.items() if wanted])

    def _started(self, threads):
        """Threads, started; `stop` waits for them."""
        for thread in threads:
            thread.start()
        self._started_threads.extend(threads)
        return threads

    def prepare_or_wait_for_session(
        self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200, start_standard_services=True
    ):
        """A session with a model that is ready: made so by the chief, waited for by others."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        options = {"config": config, "max_wait_secs": max_wait_secs}
        if self._is_chief:
            sess = self._prepared_session(master, wait_for_checkpoint=wait_for_checkpoint, **options)
        else:
            sess = self._session_manager.wait_for_session(master, **options)
        if start_standard_services:
            if self._is_chief:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def _prepared_session(self, master, **options):
        """A session that the chief made ready, with its graph written down."""
        made = {"init_op": self._init_op, "init_feed_dict": self._init_feed_dict, "init_fn": self._init_fn}
        sess = self._session_manager.prepare_session(
            master, saver=self._saver, checkpoint_dir=self._logdir, **made, **options
        )
        self._write_graph()
        return sess

    def start_queue_runners(self, sess, queue_runners=None):
        """Start the threads of queue runners, those of the graph unless others are given."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = [
            t for qr in queue_runners for t in qr.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]
        self._started_threads.extend(threads)
        return threads

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """Start a thread that calls a function every so many seconds (without pause for None)."""
        thread = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        return self._started([thread])[0]

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Stop all threads and wait for them; raises what went wrong in one."""
        self._coord.request_stop()
        wait = {"stop_grace_period_secs": self._stop_grace_secs, "ignore_live_threads": ignore_live_threads}
        try:
            self._coord.join(threads or self._started_threads, **wait)
        finally:
            if close_summary_writer and self._summary_writer:
                self._close_summary_writer()

    def _close_summary_writer(self):
        self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
        self._summary_writer.close()
        # A writer that is opened again begins another file, which wants the graph, too.
        self._graph_added_to_summary = False

    def request_stop(self, ex=None):
        """Ask all threads to stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        """Whether a stop was asked for."""
        return self._coord.should_stop()

    def stop_on_exception(self):
        """A context that asks to stop when something goes wrong inside."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        """Wait until a stop is asked for."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess, summary, global_step=None):
        """Write a summary that a program computed by itself."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = step_in(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """A session inside a context; at the end all threads are stopped and the session is closed."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as e:  # raised again by `stop`, unless it is a clean end
            self.request_stop(e)
        finally:
            try:
                # Threads may be stuck in a run: closing the session frees them.
                self.stop(close_summary_writer=close_summary_writer, ignore_live_threads=True)
            finally:
                if sess is not None:
                    sess.close()

    # The names that came before.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class _Service(LooperThread):
    """A thread of a supervisor that does something with its session at intervals."""

    _interval_of = "save_summaries_secs"

    def __init__(self, sv, sess):
        super().__init__(sv.coord, getattr(sv, self._interval_of))
        self._sv = sv
        self._sess = sess


class SVSummaryThread(_Service):
    """Writes summaries at intervals."""

    def run_loop(self):
        if self._sv.global_step is not None:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            summary, step = self._sess.run(self._sv.summary_op), None
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(_Service):
    """Writes how many steps a second there are."""

    def __init__(self, sv, sess, step_counter=None):
        super().__init__(sv, sess)
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last_time, self._last_step = 0.0, 0

    def _since_last(self):
        """(step, steps and seconds since this was last asked)"""
        step, now = step_in(self._sess, self._step_counter), time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        return step, steps, seconds

    def start_loop(self):
        self._since_last()

    def run_loop(self):
        step, steps, seconds = self._since_last()
        per_second = steps / seconds if seconds > 0 else float("inf")
        if self._sv.summary_writer:
            summary = Summary(value=[Summary.Value(tag=self._summary_tag, simple_value=per_second)])
            self._sv.summary_writer.add_summary(summary, step)
        logging.info("%s: %g", self._summary_tag, per_second)


class SVTimerCheckpointThread(_Service):
    """Saves checkpoints at intervals."""

    _interval_of = "save_model_secs"

    def run_loop(self):
        logging.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            step = step_in(self._sess, self._sv.global_step)
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path)
            self._sv.summary_writer.add_session_log(log, step)


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Call `train_step_fn(session, *args, **kwargs)` until a stop is asked for; a lost worker makes it start anew.

    Args:
        supervisor: The `tf.train.Supervisor`.
        train_step_fn: The function; `session` is its first argument.
        args: Further arguments.
        kwargs: Further arguments by name.
        master: The server to connect to; an empty string for this process.

    Returns:
        None.

    Example:
        >>> supervisor = tf.train.Supervisor()
        >>> def step(session):
        ...     supervisor.request_stop()
        >>> tf.train.basic_train_loop(supervisor, step)
    """
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError as e:
            logging.info("A worker was lost, and training starts anew: %s", e)
