"""ProfileContext: traces some runs of the sessions inside it, profiles them and writes the profile down."""

from __future__ import annotations

import os
import threading

from everflow.framework.forking import renewed
from everflow.platform import gfile
from everflow.profiler.profiler import Profiler
from everflow.protos import config_pb2
from everflow.runtime.session import BaseSession

# Without steps given, these are traced: some after warming up, then one now and then, and not too many.
_WARM_UP, _EVERY, _MOST = 10, 100, 100
_VIEWS = {"scope": "profile_name_scope", "op": "profile_operations", "graph": "profile_graph", "code": "profile_python"}


class ProfileContext:
    """Inside `with` it counts the runs of all sessions, and traces, dumps and profiles at the given ones.

    >>> with tf.contrib.tfprof.ProfileContext("/tmp/profiles", trace_steps=[10], dump_steps=[10]):
    ...     train()
    """

    def __init__(self, profile_dir, trace_steps=None, dump_steps=None, enabled=True, debug=False):
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        self._directory = profile_dir
        self._debug = debug
        self._automatic = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = set(dump_steps or ())
        self._requests: list = []  # (view, options, steps)
        self._results: dict = {}  # view → [message]
        self._profiler = None
        self._step = 0
        self._traced = 0
        self._trace_next = self._dump_next = False
        self._lock = renewed(threading.RLock())

    def add_auto_profiling(self, cmd, options, profile_steps):
        """Profile with a view and options at these steps, which have to be traced or come after ones that were."""
        if self._enabled:
            self._requests.append((cmd, options, list(profile_steps)))

    @property
    def profiler(self):
        """The Profiler of the first graph that ran, or None."""
        return self._profiler if self._enabled else None

    def trace_next_step(self):
        """Trace the next run."""
        self._trace_next = self._enabled

    def dump_next_step(self):
        """Trace the next run and write the profile."""
        self._trace_next = self._dump_next = self._enabled

    def get_profiles(self, cmd):
        """What profiling with a view gave so far."""
        if cmd not in self._results:
            raise ValueError("No autoprofiler for command: " + cmd + ", was added")
        return self._results[cmd]

    def __enter__(self):
        if self._enabled:
            self._plain_run = BaseSession.run
            context = self

            def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
                return context._run(session, fetches, feed_dict, options, run_metadata)

            BaseSession.run = run
        return self

    def __exit__(self, *exc):
        if self._enabled:
            BaseSession.run = self._plain_run

    def _should_trace(self, step):
        if self._automatic and self._traced < _MOST:
            return step >= _WARM_UP and (step < 2 * _WARM_UP or step % _EVERY == 0)
        return step in self._trace_steps or step in self._dump_steps

    def _run(self, session, fetches, feed_dict, options, run_metadata):
        with self._lock:
            step = self._step
            self._step += 1
            trace, self._trace_next = self._trace_next or self._should_trace(step), False
            dump, self._dump_next = self._dump_next or step in self._dump_steps, False
        if trace or dump:
            merged = config_pb2.RunOptions()
            if options is not None:
                merged.CopyFrom(options)
            merged.trace_level = config_pb2.RunOptions.FULL_TRACE
            options = merged
            run_metadata = config_pb2.RunMetadata() if run_metadata is None else run_metadata
        result = self._plain_run(session, fetches, feed_dict, options, run_metadata)
        with self._lock:
            if self._profiler is None:
                self._profiler = Profiler(session.graph)
            if trace or dump:
                self._traced += 1
                self._profiler.add_step(step, run_metadata)
            if dump:
                self._write(step)
            self._profile(step)
        return result

    def _write(self, step):
        gfile.MakeDirs(self._directory)
        with gfile.GFile(os.path.join(self._directory, f"profile_{step}"), "wb") as f:
            f.write(self._profiler.serialize_to_string())

    def _profile(self, step):
        for cmd, options, steps in self._requests:
            if step in steps:
                options = {**options, "step": step if step in self._profiler._model.steps else options["step"]}
                self._results.setdefault(cmd, []).append(getattr(self._profiler, _VIEWS[cmd])(options))
