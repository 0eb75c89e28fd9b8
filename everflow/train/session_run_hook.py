"""What a hook of a monitored session is: the calls it gets around each run, and what it can ask for."""

from __future__ import annotations

import collections


class SessionRunHook:
    """Gets called around the runs of a monitored session; subclasses override what they need.

    Example:
        >>> class Counts(tf.train.SessionRunHook):
        ...     runs = 0
        ...     def after_run(self, run_context, run_values):
        ...         self.runs += 1
        >>> hook, c = Counts(), tf.constant(1.0)
        >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
        ...     _ = session.run(c), session.run(c)
        >>> hook.runs
        2
    """

    def begin(self):
        """Before the session is made; the graph can still be changed."""

    def after_create_session(self, session, coord):
        """When the session was made, also after it was made anew; the graph is final."""

    def before_run(self, run_context):
        """Before each run; may return `SessionRunArgs` with more to fetch and to feed."""

    def after_run(self, run_context, run_values):
        """After each run, with the values that were asked for; may call `run_context.request_stop()`."""

    def end(self, session):
        """Before the session is closed, unless it ends by an error."""


class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a hook wants added to a run.

    Args:
        fetches: What to fetch.
        feed_dict: What to feed.
        options: RunOptions.

    Example:
        >>> tf.train.SessionRunArgs("loss:0").fetches
        'loss:0'
    """

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext:
    """What a hook is told about a run.

    Args:
        original_args: The SessionRunArgs of the run.
        session: The session.

    Example:
        >>> context = tf.train.SessionRunContext(tf.train.SessionRunArgs("loss:0"), sess)
        >>> context.request_stop()
        >>> context.stop_requested
        True
    """

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    original_args = property(lambda self: self._original_args, doc="What the user asked for, as `SessionRunArgs`.")
    session = property(lambda self: self._session, doc="The session below.")
    stop_requested = property(lambda self: self._stop_requested, doc="Whether a hook asked to stop.")

    def request_stop(self):
        """Ask for `should_stop()` to be true after this run."""
        self._stop_requested = True


class SessionRunValues(collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])):
    """What came out of a run for a hook: the values it asked for, the options and the metadata.

    Args:
        results: What came out.
        options: The RunOptions.
        run_metadata: The RunMetadata.

    Example:
        >>> tf.train.SessionRunValues(3.0, None, None).results
        3.0
    """
