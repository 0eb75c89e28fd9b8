"""slim.queues: all queue runners of a graph, running for the length of a `with` block."""

from __future__ import annotations

import contextlib
import threading

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.train.coordinator import Coordinator

_inside: set[int] = set()


class NestedQueueRunnerError(Exception):
    """A QueueRunners block inside another of the same thread."""


@contextlib.contextmanager
def QueueRunners(session):
    """Start all queue runners, and stop them at the end of the block.

    >>> with slim.queues.QueueRunners(sess):
    ...     sess.run(batch)
    """
    if threading.get_ident() in _inside:
        raise NestedQueueRunnerError()
    _inside.add(threading.get_ident())
    coordinator = Coordinator()
    try:
        threads = []
        for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
            threads.extend(runner.create_threads(session, coord=coordinator, daemon=True, start=True))
        yield
    finally:
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=120)
        finally:
            _inside.discard(threading.get_ident())
