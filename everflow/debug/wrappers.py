"""Sessions that dump what they compute, and the hooks that do the same for monitored sessions."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time

from everflow.debug import requests
from everflow.debug.dumps import FEEDS_FILE, FETCHES_FILE
from everflow.debug.watches import WatchOptions, watch_graph
from everflow.framework import errors, nest
from everflow.framework.scopes import default_session
from everflow.platform import gfile
from everflow.protos import config_pb2, event_pb2
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class BaseDebugWrapperSession:
    """A session around another one: what is done around each run is up to classes derived from it, by `on_session_init`,
    `on_run_start` and `on_run_end`; everything else goes to the session inside.
    """

    def __init__(self, sess, thread_name_filter=None, pass_through_operrors=False):
        request = requests.OnSessionInitRequest(sess)
        self._sess = sess
        self._thread_name_pattern = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        action = self.on_session_init(request).action
        if action != requests.OnSessionInitAction.PROCEED:
            raise ValueError(f"{action!r} is nothing that can be done once a session is wrapped")

    graph = property(lambda self: self._sess.graph, doc="The graph of the session.")
    graph_def = property(lambda self: self._sess.graph_def, doc="That graph as a GraphDef.")
    sess_str = property(lambda self: self._sess.sess_str, doc="Where the session runs.")
    session = property(lambda self: self._sess, doc="The session inside.")
    run_call_count = property(lambda self: self._run_call_count, doc="How often `run` was called.")

    def on_session_init(self, request):
        """Called once the session is wrapped."""
        return requests.OnSessionInitResponse(requests.OnSessionInitAction.PROCEED)

    def on_run_start(self, request):
        """Called before a run; says how to run."""
        return requests.OnRunStartResponse(requests.OnRunStartAction.NON_DEBUG_RUN, [])

    def on_run_end(self, request):
        """Called after a run."""
        return requests.OnRunEndResponse()

    def increment_run_call_count(self):
        self._run_call_count += 1

    def run(
        self,
        fetches,
        feed_dict=None,
        options=None,
        run_metadata=None,
        callable_runner=None,
        callable_runner_args=None,
        callable_options=None,
    ):
        """Run as the session inside does, with debugging around it."""
        if callable_runner is not None:
            self.increment_run_call_count()
            return callable_runner(*(callable_runner_args or ()))
        return self._run(fetches, feed_dict, options, run_metadata)

    def _run(self, fetches, feed_dict, options, run_metadata, is_callable_runner=False):
        self.increment_run_call_count()
        if not nest.flatten(fetches) or not self._this_thread_counts():
            return self._plain_run(fetches, feed_dict, options, run_metadata)
        with_watches = config_pb2.RunOptions()
        if options is not None:
            with_watches.CopyFrom(options)
        metadata = run_metadata if run_metadata is not None else config_pb2.RunMetadata()
        return self.invoke_run(fetches, feed_dict, with_watches, metadata, is_callable_runner)

    def _plain_run(self, fetches, feed_dict, options, run_metadata):
        """What the session inside does."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def invoke_run(self, fetches, feed_dict, options, run_metadata, is_callable_runner=False):
        """One run, as `on_run_start` says."""
        told = (None, None) if is_callable_runner else (fetches, feed_dict)
        response = self.on_run_start(
            requests.OnRunStartRequest(*told, options, run_metadata, self.run_call_count, is_callable_runner)
        )
        actions = requests.OnRunStartAction
        if response.action == actions.NON_DEBUG_RUN:
            result = self._plain_run(fetches, feed_dict, options, run_metadata)
            self.on_run_end(requests.OnRunEndRequest(response.action))
            return result
        if response.action == actions.DEBUG_RUN:
            settings = {name: value for name, value in vars(response).items() if name != "action"}
            watch_graph(options, self.graph, **settings)
        elif response.action == actions.PROFILE_RUN:
            options.trace_level = config_pb2.RunOptions.FULL_TRACE
        else:
            raise ValueError(f"{response.action!r} is no way to run")
        error = None
        try:
            result = self._plain_run(fetches, feed_dict, options, run_metadata)
        except errors.OpError as failed:
            if self._pass_through_operrors:
                raise
            result = error = failed
        self.on_run_end(
            requests.OnRunEndRequest(response.action, run_metadata, self.graph.as_graph_def(), tf_error=error)
        )
        return result

    def _this_thread_counts(self):
        return self._thread_name_pattern is None or bool(
            self._thread_name_pattern.match(threading.current_thread().name)
        )

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the fed values."""

        def call(*values, **kwargs):
            feeds = dict(zip(feed_list or [], values, strict=True))
            return self._run(fetches, feeds, kwargs.get("options"), kwargs.get("run_metadata"), is_callable_runner=True)

        return call

    def run_step_fn(self, step_fn):
        """As MonitoredSession's."""
        return self._sess.run_step_fn(step_fn)

    def partial_run_setup(self, fetches, feeds=None):
        raise NotImplementedError("A session that is debugged has no runs in parts.")

    def partial_run(self, handle, fetches, feed_dict=None):
        self.partial_run_setup(fetches)

    def list_devices(self, *args, **kwargs):
        """The devices of the session inside."""
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args, **kwargs):
        """As the session's."""
        return self._sess.reset(*args, **kwargs)

    def should_stop(self):
        """Whether a monitored session inside should stop."""
        return self._sess.should_stop() if hasattr(self._sess, "should_stop") else False

    def as_default(self):
        """A context in which `Tensor.eval` runs through the debugger."""
        return default_session(self)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            if hasattr(self._sess, "graph"):
                stack.enter_context(self.graph.as_default())
            stack.enter_context(self.as_default())
            self._entered = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._entered.__exit__(*exc)
        self.close()

    def close(self):
        """Close the session inside."""
        self._sess.close()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_sess"], name)


def watch_options_of(watch_fn, fetches, feeds):
    """What a watch_fn says, in any of the forms it may have."""
    if watch_fn is None:
        return WatchOptions()
    found = watch_fn(fetches, feeds)
    return WatchOptions(*found) if isinstance(found, tuple) else found


def add_watches(options, graph, watched, urls):
    """Put what WatchOptions say into the options of a run."""
    settings = {name: getattr(watched, name) for name in vars(WatchOptions())}
    watch_graph(options, graph, **settings, debug_urls=urls, reset_disk_byte_usage=True)


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A session whose runs are dumped as `watch_fn(fetches, feeds)` says, to where `prepare_run_debug_urls` says."""

    def __init__(self, sess, watch_fn=None, thread_name_filter=None, pass_through_operrors=False):
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        self._watch_fn = _checked_watch_fn(watch_fn)

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """Where the dumps of a run go: a URL or a list of them."""
        raise NotImplementedError(f"{type(self).__name__} does not say where its dumps go")

    def watched_options(self, options, graph, fetches, feed_dict):
        """Put the watches of a run into its options."""
        watched = watch_options_of(self._watch_fn, fetches, feed_dict)
        add_watches(options, graph, watched, self.prepare_run_debug_urls(fetches, feed_dict))
        return options

    def invoke_run(self, fetches, feed_dict, options, run_metadata, is_callable_runner=False):
        self.watched_options(options, self.graph, fetches, feed_dict)
        try:
            return self._plain_run(fetches, feed_dict, options, run_metadata)
        except errors.OpError as e:
            if self._pass_through_operrors:
                raise
            return e


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """A session that dumps the tensors of each run into a folder of its own, below `session_root`.

    `watch_fn(fetches, feeds)` returns WatchOptions for a run, to dump less than everything.

    >>> sess = tf_debug.DumpingDebugWrapperSession(sess, "/tmp/dumps")
    """

    def __init__(
        self, sess, session_root, watch_fn=None, thread_name_filter=None, pass_through_operrors=None, log_usage=True
    ):
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        self._session_root = new_root("session_root", session_root)

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """Make the folder of a run; returns its URLs."""
        folder = os.path.join(self._session_root, f"run_{int(time.time() * 1e6)}_{self.run_call_count - 1}")
        gfile.MakeDirs(folder)
        _write_info(os.path.join(folder, FETCHES_FILE), repr(fetches))
        _write_info(os.path.join(folder, FEEDS_FILE), repr(feed_dict.keys()) if feed_dict else "")
        return [f"file://{folder}"]


def _checked_watch_fn(watch_fn):
    if watch_fn is not None and not callable(watch_fn):
        raise TypeError("watch_fn is not callable.")
    return watch_fn


def new_root(name, path):
    """The path of a directory for dumps, made where it isn't there; ValueError where something else is."""
    if not gfile.Exists(path):
        gfile.MakeDirs(path)
    elif not gfile.IsDirectory(path) or gfile.ListDirectory(path):
        kind = "non-empty directory" if gfile.IsDirectory(path) else "file"
        raise ValueError(f"{name} is a {kind}, and dumps go into one of their own: {path}")
    return path


def _write_info(path, text):
    event = event_pb2.Event()
    event.log_message.message = text
    with gfile.GFile(path, "wb") as f:
        f.write(event.SerializeToString())


class DebugHook(SessionRunHook):
    """A hook of monitored sessions and estimators that does to each run what a wrapper of sessions does."""

    def __init__(self):
        self._wrapper = None

    def _wrapped(self, session):
        """The wrapper around a session."""
        raise NotImplementedError

    def before_run(self, run_context):
        if self._wrapper is None:
            self._wrapper = self._wrapped(run_context.session)
        self._wrapper.increment_run_call_count()
        args = run_context.original_args
        if not self._wrapper._this_thread_counts():
            return SessionRunArgs(None)
        graph = run_context.session.graph
        options = self._wrapper.watched_options(config_pb2.RunOptions(), graph, args.fetches, args.feed_dict)
        return SessionRunArgs(None, feed_dict=None, options=options)


class DumpingDebugHook(DebugHook):
    """A hook of monitored sessions and estimators that dumps the tensors of each run."""

    def __init__(self, session_root, watch_fn=None, thread_name_filter=None, log_usage=True):
        super().__init__()
        self._session_root = session_root
        self._watch_fn = _checked_watch_fn(watch_fn)
        self._thread_name_filter = thread_name_filter

    def _wrapped(self, session):
        return DumpingDebugWrapperSession(session, self._session_root, self._watch_fn, self._thread_name_filter)
