"""`MonitoredSession` and its kin: sessions that restore, call hooks around runs, and start anew for lost workers."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import inspect

from everflow.framework import errors, strategy_context
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection, get_default_graph
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos.config_pb2 import RunMetadata, RunOptions
from everflow.train.coordinator import Coordinator
from everflow.train.hooks import StepCounterHook
from everflow.train.queue_runner import start_queue_runners
from everflow.train.saving_hooks import CheckpointSaverHook, SummarySaverHook
from everflow.train.scaffold import Scaffold
from everflow.train.session_manager import SessionManager
from everflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues

# A lost or restarted worker: the session is made anew and the run tried again.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
USE_DEFAULT = object()


# --- session creators -------------------------------------------------------------------------


class SessionCreator(abc.ABC):
    """Makes sessions for a monitored session.

    Example:
        >>> isinstance(tf.train.ChiefSessionCreator(), tf.train.SessionCreator)
        True
    """

    @abc.abstractmethod
    def create_session(self):
        """A new session, ready to run."""
        raise NotImplementedError


class _ManagedSessionCreator(SessionCreator):
    """Makes sessions by a `SessionManager` of a scaffold's ops."""

    def __init__(self, scaffold, master, config):
        self._scaffold = scaffold or Scaffold()
        self._session_manager = None
        self._master = master
        self._config = config

    def _get_session_manager(self):
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


class ChiefSessionCreator(_ManagedSessionCreator):
    """Makes a session that initializes the model or restores it from a checkpoint.

    Args:
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        master: The server to connect to; an empty string for this process.
        config: A `tf.ConfigProto` with settings.
        checkpoint_dir: The folder of the checkpoints.
        checkpoint_filename_with_path: A checkpoint to restore, in place of a folder's newest one.

    Example:
        >>> v = tf.Variable(1.0)
        >>> session = tf.train.ChiefSessionCreator().create_session()
        >>> session.run(v)
        np.float32(1.0)
        >>> session.close()
    """

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(_ManagedSessionCreator):
    """Makes a session that waits until the chief has made the model ready.

    Args:
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        master: The server to connect to; an empty string for this process.
        config: A `tf.ConfigProto` with settings.
        max_wait_secs: How long to wait.

    Example:
        >>> creator = tf.train.WorkerSessionCreator(max_wait_secs=10)
        >>> isinstance(creator, tf.train.SessionCreator)
        True
    """

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


# --- layers of sessions, one in the other -----------------------------------------------------


class _WrappedSession:
    """A session around another one."""

    def __init__(self, sess):
        self._sess = sess

    graph = property(lambda self: self._sess.graph)
    sess_str = property(lambda self: self._sess.sess_str)

    def close(self):
        sess, self._sess = self._sess, None
        try:
            if sess:
                sess.close()
        except _PREEMPTION_ERRORS as e:
            logging.warning("A session was given up: closing it failed, maybe by a lost worker: %s", e)

    def should_stop(self):
        if self._check_stop():
            return True
        return self._sess.should_stop() if isinstance(self._sess, _WrappedSession) else self._sess is None

    def _check_stop(self):
        return False

    def run(self, *args, **kwargs):
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return step_fn(_MonitoredSession.StepContext(raw_session, run_with_hooks or self.run))


class _HookedSession(_WrappedSession):
    """Calls hooks around each run, with what they want fetched and fed added to it."""

    def __init__(self, sess, hooks):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self):
        return self._should_stop

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        actual_fetches = {"caller": fetches}
        context = SessionRunContext(
            original_args=SessionRunArgs(fetches=fetches, feed_dict=feed_dict), session=self._sess
        )
        all_options = RunOptions()
        if options is not None:
            all_options.CopyFrom(options)
        feed_dict = self._call_before_run(context, actual_fetches, feed_dict, all_options)
        metadata = run_metadata or RunMetadata()
        if options is None and run_metadata is None and not all_options.ByteSize():
            # Nobody wants more than values: the quick way.
            outputs = self._sess.run(fetches=actual_fetches, feed_dict=feed_dict)
        else:
            outputs = self._sess.run(
                fetches=actual_fetches, feed_dict=feed_dict, options=all_options, run_metadata=metadata
            )
        for hook in self._hooks:
            values = SessionRunValues(results=outputs.get(hook), options=all_options, run_metadata=metadata)
            hook.after_run(context, values)
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _call_before_run(self, context, fetches, user_feed_dict, options):
        """Ask all hooks; gives what is to be fed."""
        hook_feeds = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                fetches[hook] = request.fetches
            if request.feed_dict:
                _raise_if_feeds_intersect(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_options(options, request.options)
        if not hook_feeds:
            return user_feed_dict
        if not user_feed_dict:
            return hook_feeds
        _raise_if_feeds_intersect(user_feed_dict, hook_feeds, "A hook feeds a tensor that the program feeds, too.")
        return {**hook_feeds, **user_feed_dict}


def _feed_names(feed_dict):
    return {key if isinstance(key, str) else getattr(key, "name", key) for key in feed_dict}


def _raise_if_feeds_intersect(a, b, message):
    shared = _feed_names(a) & _feed_names(b)
    if shared:
        raise RuntimeError(f"{message} Conflict(s): {sorted(map(str, shared))}")


def _merge_options(options, more):
    """The stronger of both: the higher trace level, the longer timeout, graphs and watches where one wants them."""
    stronger = (
        "trace_level timeout_in_ms inter_op_thread_pool output_partition_graphs report_tensor_allocations_upon_oom"
    )
    for field in stronger.split():
        setattr(options, field, max(getattr(options, field), getattr(more, field)))
    debug, more_debug = options.debug_options, more.debug_options
    debug.debug_tensor_watch_opts.extend(more_debug.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage = debug.reset_disk_byte_usage or more_debug.reset_disk_byte_usage


class _CoordinatedSession(_WrappedSession):
    """Stops its threads when it closes, and raises what went wrong in them."""

    def __init__(self, sess, coord, stop_grace_period_secs=120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            super().close()

    def run(self, *args, **kwargs):
        try:
            return self._sess.run(*args, **kwargs)
        except Exception as e:
            # A thread that lost a worker is nearer to the cause than the run that waited for it.
            if not isinstance(e, _PREEMPTION_ERRORS) and self._coord._reported(_PREEMPTION_ERRORS):
                self._coord.raise_requested_exception()
            raise


class _RecoverableSession(_WrappedSession):
    """Makes its session anew, and runs again, when a worker was lost."""

    def __init__(self, sess_creator):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self):
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as e:
                logging.info("A session could not be made, maybe by a lost worker; it is tried again: %s", e)

    def _check_stop(self):
        if not self._sess:
            return False
        try:
            return self._sess._check_stop()
        except _PREEMPTION_ERRORS as e:
            self._give_up(e)
            self._sess = self._create_session()  # or there would seem to be nothing left to run
            return False

    def _give_up(self, error):
        logging.info("An error was raised, maybe by a lost worker. The session is made anew: %s", error)
        self.close()
        self._sess = None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._until_done(
            lambda sess: sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        )

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return self._until_done(lambda sess: sess.run_step_fn(step_fn, raw_session, sess.run))

    def _until_done(self, call):
        """What a function of the session gives, once a session lasts that long."""
        while True:
            try:
                self._sess = self._sess or self._create_session()
                return call(self._sess)
            except _PREEMPTION_ERRORS as e:
                self._give_up(e)


# --- what users hold --------------------------------------------------------------------------


class _MonitoredSession:
    """What monitored sessions share."""

    class StepContext:
        """What a step function gets: the plain session, runs with hooks, and a way to stop."""

        def __init__(self, session, run_with_hooks_fn):
            self._session = session
            self._run_with_hooks_fn = run_with_hooks_fn

        session = property(lambda self: self._session, doc="The session without hooks.")

        def run_with_hooks(self, *args, **kwargs):
            """A run as `MonitoredSession.run` does it."""
            return self._run_with_hooks_fn(*args, **kwargs)

        def request_stop(self):
            """Leave the training loop."""
            raise StopIteration("step_fn asked to stop")

    @dataclasses.dataclass(eq=False)
    class _CoordinatedSessionCreator(SessionCreator):
        """Makes the session with its coordinator, queue runners and hooks."""

        session_creator: SessionCreator
        hooks: list
        stop_grace_period_secs: float
        tf_sess: object = None
        coord: Coordinator | None = None

        def create_session(self):
            self.tf_sess = self.session_creator.create_session()
            # Hooks and queues report to a coordinator for which every error counts.
            self.coord = Coordinator(clean_stop_exception_types=[])
            if get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=self.tf_sess, coord=self.coord)
            for hook in self.hooks:
                hook.after_create_session(self.tf_sess, self.coord)
            return _CoordinatedSession(
                _HookedSession(self.tf_sess, self.hooks), self.coord, self.stop_grace_period_secs
            )

    def __init__(self, session_creator, hooks, should_recover, stop_grace_period_secs=120):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        creator = self._CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._coordinated_creator = creator
        self._sess = _RecoverableSession(creator) if should_recover else creator.create_session()

    @property
    def graph(self):
        """The graph; None once closed."""
        return None if self._tf_sess() is None else self._tf_sess().graph

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Like `tf.Session.run`, with hooks around it."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn):
        """Call `step_fn(step_context)`: several runs of the plain session, some with hooks, as one step."""
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                f"`step_fn` may either have one argument, `step_context`, or `self` before it, not {names}"
            )
        if names == ("self", "step_context"):
            raise ValueError("`step_fn` with `self` must be a bound method.")
        if self._tf_sess() is None:
            raise RuntimeError("Session is already closed.")
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def __enter__(self):
        return self

    def __exit__(self, exception_type, exception_value, traceback):
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def should_stop(self):
        """Whether training should end: a hook or a thread asked for it, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self):
        """Call the hooks' `end` and close."""
        self._close_internal()

    def _close_internal(self, exception_type=None):
        # Whatever a hook does, the session is closed, and whatever that does, it is let go.
        with contextlib.ExitStack() as closing:
            closing.callback(self._let_go)
            closing.callback(self._close_session)
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._tf_sess())

    def _close_session(self):
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        self._sess.close()

    def _let_go(self):
        self._sess = self._coordinated_creator.tf_sess = self._coordinated_creator.coord = None
        if not self._graph_was_finalized:
            get_default_graph()._unsafe_unfinalize()

    def _is_closed(self):
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self):
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initializes or restores, calls hooks, and goes on after a worker was lost.

    Args:
        session_creator: What makes the session; a `tf.train.ChiefSessionCreator` if None.
        hooks: Objects that are called around each run.
        stop_grace_period_secs: How long threads have to stop.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=3)]) as session:
        ...     while not session.should_stop():
        ...         done = session.run(step)
        >>> done
        np.int64(3)
    """

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A monitored session that does not recover by itself, and that can be given to a Saver.

    Args:
        hooks: Objects that are called around each run.
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        master: The server to connect to; an empty string for this process.
        config: A `tf.ConfigProto` with settings.
        checkpoint_dir: The folder of the checkpoints.
        stop_grace_period_secs: How long threads have to stop.
        checkpoint_filename_with_path: A checkpoint to restore, in place of a folder's newest one.

    Example:
        >>> v = tf.Variable(1.0)
        >>> with tf.train.SingularMonitoredSession() as session:
        ...     print(session.run(v))
        1.0
    """

    @takes(
        """hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
        checkpoint_filename_with_path=None""",
    )
    def __init__(self, hooks, stop_grace_period_secs, **given):
        creator = ChiefSessionCreator(**given)
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self):
        """The plain session."""
        return self._tf_sess()


def MonitoredTrainingSession(
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT,
    save_summaries_steps=USE_DEFAULT,
    save_summaries_secs=USE_DEFAULT,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None,
):
    """A `MonitoredSession` for training: the chief saves checkpoints and summaries, workers wait for it. In the scope of a
    strategy with several workers it runs on this worker's server, which it starts.

    Args:
        master: The server to connect to; an empty string for this process.
        is_chief: Whether this process initializes and saves the model.
        checkpoint_dir: The folder of the checkpoints.
        scaffold: What initializes, saves and summarizes; a plain `tf.train.Scaffold` if None.
        hooks: Objects that are called around each run.
        chief_only_hooks: Hooks of the chief.
        save_checkpoint_secs: Every how many seconds a checkpoint is written; 600 unless steps are given.
        save_summaries_steps: Every how many steps summaries are written; 100 unless seconds are given.
        save_summaries_secs: Every how many seconds summaries are written.
        config: A `tf.ConfigProto` with settings.
        stop_grace_period_secs: How long threads have to stop.
        log_step_count_steps: Every how many steps the speed is logged.
        max_wait_secs: How long a worker waits for the chief.
        save_checkpoint_steps: Every how many steps a checkpoint is written.
        summary_dir: The folder of summaries; that of checkpoints if None.

    Returns:
        A `tf.train.MonitoredSession`.

    Example:
        >>> count = tf.train.get_or_create_global_step()
        >>> step = tf.assign_add(count, 1)
        >>> with tf.train.MonitoredTrainingSession(checkpoint_dir="model", hooks=[tf.train.StopAtStepHook(3)]) as session:
        ...     while not session.should_stop():
        ...         done = session.run(step)
        >>> tf.train.latest_checkpoint("model")
        'model/model.ckpt-3'
    """
    summaries = _interval(save_summaries_steps, save_summaries_secs, 100, None)
    checkpoints = _interval(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    scaffold = scaffold or Scaffold()
    all_hooks = []
    worker = strategy_context.current_worker()
    if worker is not None:  # each worker has variables of its own, and initializes them together with the others
        is_chief = worker.extended.should_checkpoint
        target, config = worker.extended.session_place(config)
        master = master or target
    if is_chief or worker is not None:
        creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    else:
        creator = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
    if is_chief:
        all_hooks.extend(chief_only_hooks or ())
        summary_dir = summary_dir or checkpoint_dir
        if summary_dir and _positive(log_step_count_steps):
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if summary_dir and any(map(_positive, summaries.values())):
            all_hooks.append(SummarySaverHook(scaffold=scaffold, output_dir=summary_dir, **summaries))
        if checkpoint_dir and any(map(_positive, checkpoints.values())):
            all_hooks.append(CheckpointSaverHook(checkpoint_dir, scaffold=scaffold, **checkpoints))
    all_hooks.extend(hooks or ())
    return MonitoredSession(session_creator=creator, hooks=all_hooks, stop_grace_period_secs=stop_grace_period_secs)


def _positive(number):
    return number is not None and number > 0


def _interval(steps, secs, default_steps, default_secs):
    """When a hook saves; the defaults count only where neither steps nor seconds are given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        steps, secs = default_steps, default_secs
    return {"save_steps": None if steps is USE_DEFAULT else steps, "save_secs": None if secs is USE_DEFAULT else secs}
