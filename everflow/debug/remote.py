"""Debuggers elsewhere: sessions and hooks that send what they compute to TensorBoard's debugger, or to any program that
listens for it, at an address over gRPC.
"""

from __future__ import annotations

import traceback

from everflow.debug.run_keys import GRPC_URL_PREFIX, get_run_key
from everflow.debug.tracebacks import send_graph_tracebacks
from everflow.debug.watches import WatchOptions
from everflow.debug.wrappers import DebugHook, NonInteractiveDebugWrapperSession


def _addresses(given):
    if not isinstance(given, (str, list)):
        raise TypeError(f"grpc_debug_server_addresses is an address or a list of them, not {type(given).__name__}")
    return [given] if isinstance(given, str) else list(given)


class GrpcDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """A session that sends the tensors of each run to the programs that listen at addresses ("localhost:6064").

    `watch_fn(fetches, feeds)` returns WatchOptions for a run, to send less than everything.

    >>> sess = tf_debug.GrpcDebugWrapperSession(sess, "localhost:6064")
    """

    def __init__(self, sess, grpc_debug_server_addresses, watch_fn=None, thread_name_filter=None, log_usage=True):
        super().__init__(sess, watch_fn, thread_name_filter)
        self._grpc_debug_server_urls = [
            address if address.startswith(GRPC_URL_PREFIX) else GRPC_URL_PREFIX + address
            for address in _addresses(grpc_debug_server_addresses)
        ]

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """The addresses, as URLs."""
        return self._grpc_debug_server_urls


def _what_is_asked_for(fetches, feeds):
    """Watch everything, and send what the debugger asks for."""
    return WatchOptions(debug_ops=["DebugIdentity(gated_grpc=true)"])


class TensorBoardDebugWrapperSession(GrpcDebugWrapperSession):
    """A session that TensorBoard's debugger looks at: it gets the graph, the lines that drew it, and what it asks for.

    >>> sess = tf_debug.TensorBoardDebugWrapperSession(sess, "localhost:6064")
    """

    def __init__(
        self,
        sess,
        grpc_debug_server_addresses,
        thread_name_filter=None,
        send_traceback_and_source_code=True,
        log_usage=True,
    ):
        super().__init__(sess, grpc_debug_server_addresses, _what_is_asked_for, thread_name_filter)
        self._send_traceback_and_source_code = send_traceback_and_source_code
        self._sent_graph_version = -1

    def watched_options(self, options, graph, fetches, feed_dict):
        if self._send_traceback_and_source_code:
            self._sent_graph_version = send_new_tracebacks(
                self._grpc_debug_server_urls, self._sent_graph_version, graph, get_run_key(feed_dict, fetches)
            )
        return super().watched_options(options, graph, fetches, feed_dict)


def send_new_tracebacks(urls, sent_version, graph, run_key):
    """Send the lines that drew a graph, where it has grown since `sent_version`; returns the version now."""
    if graph.version > sent_version:
        send_graph_tracebacks(urls, run_key, traceback.extract_stack(), graph, send_source=True)
    return max(sent_version, graph.version)


class GrpcDebugHook(DebugHook):
    """A hook of monitored sessions and estimators that sends the tensors of each run to the programs at addresses."""

    def __init__(self, grpc_debug_server_addresses, watch_fn=None, thread_name_filter=None, log_usage=True):
        super().__init__()
        self._grpc_debug_server_addresses = _addresses(grpc_debug_server_addresses)
        self._watch_fn = watch_fn
        self._thread_name_filter = thread_name_filter

    def _wrapped(self, session):
        return GrpcDebugWrapperSession(
            session, self._grpc_debug_server_addresses, self._watch_fn, self._thread_name_filter
        )


class TensorBoardDebugHook(GrpcDebugHook):
    """A hook of monitored sessions and estimators that TensorBoard's debugger looks at."""

    def __init__(
        self,
        grpc_debug_server_addresses,
        thread_name_filter=None,
        send_traceback_and_source_code=True,
        log_usage=True,
    ):
        super().__init__(grpc_debug_server_addresses, _what_is_asked_for, thread_name_filter)
        self._send_traceback_and_source_code = send_traceback_and_source_code

    def _wrapped(self, session):
        return TensorBoardDebugWrapperSession(
            session,
            self._grpc_debug_server_addresses,
            self._thread_name_filter,
            self._send_traceback_and_source_code,
        )
