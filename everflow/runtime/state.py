"""What a session keeps between runs (variables, queues, random streams) and what one run keeps while it goes on."""

from __future__ import annotations

import contextlib
import copy
import threading
import time
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from everflow.framework import errors
from everflow.framework.forking import renewed

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Operation
    from everflow.protos import attr_value_pb2
    from everflow.runtime.plan.functions import Functions

DEFAULT_CONTAINER = "localhost"
# Who waits looks so often, in seconds, whether it should stop.
LONGEST_WAIT = 0.1


class ResourceStore:
    """Objects that live longer than a run: `(container, kind, name)` → object. An empty container is the default one."""

    def __init__(self, container_type: Callable = dict) -> None:
        self._lock = renewed(threading.RLock())
        self._container_type = container_type
        self._containers: dict[str, Any] = {}

    def lookup_or_create(self, container: str, kind: str, name: str, factory: Callable[[], Any]) -> Any:
        """The object of that name, made by `factory()` the first time."""
        with self._lock:
            objects = self._containers.setdefault(container or DEFAULT_CONTAINER, self._container_type())
            found = objects.get((kind, name))
            if found is None:
                found = objects[kind, name] = factory()
            return found

    def lookup(self, container: str, kind: str, name: str) -> Any:
        """The object of that name, or None."""
        with self._lock:
            return self._containers.get(container or DEFAULT_CONTAINER, {}).get((kind, name))

    def delete(self, container: str, kind: str, name: str) -> bool:
        """Forget an object; whether there was one."""
        with self._lock:
            return self._containers.get(container or DEFAULT_CONTAINER, {}).pop((kind, name), None) is not None

    def remove(self, value: object) -> bool:
        """Forget an object wherever it is kept; whether it was there."""
        with self._lock:
            for objects in self._containers.values():
                for key, held in objects.items():
                    if held is value:
                        del objects[key]
                        return True
        return False

    def clear_container(self, container: str = "") -> None:
        """Forget all objects of a container."""
        with self._lock:
            self._containers.pop(container or DEFAULT_CONTAINER, None)


class RandomStreams:
    """The generators of random ops, one for each node: a stream goes on from run to run and starts anew in a new
    session.

    They are found by the node's name, so that growing the graph disturbs none.
    """

    def __init__(self) -> None:
        self._lock = renewed(threading.Lock())
        self._streams: dict[str, Any] = {}

    def stream(self, node_name: str, factory: Callable[[], Any]) -> Any:
        """The generator of a node, made by `factory()` the first time."""
        with self._lock:
            if node_name not in self._streams:
                self._streams[node_name] = factory()
            return self._streams[node_name]

    def restart(self) -> None:
        """Let all of them begin anew."""
        with self._lock:
            self._streams.clear()


class SessionState:
    """All that kernels get as `session`."""

    def __init__(
        self,
        graph: Graph | None = None,
        resources: ResourceStore | None = None,
        functions: Callable[[], Functions] | None = None,
    ) -> None:
        self.graph = graph
        self.resources = resources or ResourceStore()
        self.random = RandomStreams()
        self.closed = renewed(threading.Event())
        # Const operation → kernel value; plans share them.
        self.constants: MutableMapping[Operation, Any] = weakref.WeakKeyDictionary()
        self.private: dict[
            tuple[str, str], Any
        ] = {}  # (kind, node name) → what has no name to share it by, such as a queue without `shared_name`
        self.derivatives: dict[
            str, Any
        ] = {}  # name → a function that kernels made of one of the graph by differentiating it
        self.checks = False  # whether kernels are compared with what is declared of them
        self._private_lock = renewed(threading.RLock())
        self._functions = functions

    def own(self, kind: str, name: str, factory: Callable[[], Any]) -> Any:
        """What belongs to a node of this session alone, made by `factory()` the first time; on a server other sessions
        have their own.
        """
        with self._private_lock:
            if (kind, name) not in self.private:
                self.private[kind, name] = factory()
            return self.private[kind, name]

    def function(self, name_or_attr: str | attr_value_pb2.NameAttrList, fresh: bool = False) -> Callable:
        """A graph function as a callable: `call(*kernel_values, step=step)` returns the list of its results.

        A `fresh` one shares no random streams with other callers of the function.
        """
        name = getattr(name_or_attr, "name", name_or_attr)
        return self.functions.fresh(name) if fresh else self.functions.shared(name)

    @property
    def functions(self) -> Functions:
        """The functions of the graph."""
        if self._functions is None:
            raise errors.InternalError(None, None, "This state belongs to no executor, so it has no functions")
        return self._functions()

    def for_function(self) -> SessionState:
        """The same state with random streams of its own: nodes of different functions may have equal names."""
        other = copy.copy(self)
        other.random, other.private = RandomStreams(), {}
        return other

    def for_graph(self, graph: Graph, functions: Callable[[], Functions]) -> SessionState:
        """The same state for another graph that the session runs: parts of a graph that was cut over tasks."""
        other = copy.copy(self)
        other.graph, other.constants, other._functions = graph, weakref.WeakKeyDictionary(), functions
        return other

    def close(self) -> None:
        """Tell what waits that nothing more comes."""
        self.closed.set()


class Step:
    """All that kernels get as `step`: one run, its objects and whether it should stop."""

    __slots__ = ("container", "deadline", "locks", "session", "_cancelled")

    def __init__(self, session: SessionState, timeout_in_ms: int = 0) -> None:
        self.container: dict[Any, Any] = {}
        self.locks: list = []  # what this run holds of critical sections
        self.session = session
        self.deadline = time.monotonic() + timeout_in_ms / 1000.0 if timeout_in_ms > 0 else None
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled or self.session.closed.is_set()

    def abandon(self) -> None:
        """Give back the locks of a run that failed."""
        for lock in self.locks:
            lock.release()

    def detached(self) -> Step:
        """For what goes on in a thread of its own when this run is over: it ends with the session, or when it is
        cancelled.
        """
        return Step(self.session)

    def interrupt(self) -> None:
        """End a run that its caller left by an exception: nothing of it may go on in other threads, or hold locks."""
        self.cancel()
        self.abandon()

    def reason_to_stop(self) -> errors.OpError | None:
        """The error that ends this run, if it should stop."""
        if self.cancelled:
            return errors.CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`.")
        if self.deadline is not None and time.monotonic() > self.deadline:
            return errors.DeadlineExceededError(None, None, "Timed out waiting for notification")
        return None

    def check(self) -> None:
        """Raise when this run should stop. Whatever may take long without it is to call this now and then."""
        if (
            self._cancelled
            or self.session.closed.is_set()
            or (self.deadline is not None and time.monotonic() > self.deadline)
        ):
            error = self.reason_to_stop()
            if error is not None:
                raise error

    def patience(self) -> float:
        """How long to wait, in seconds, before looking again whether this run should stop."""
        return LONGEST_WAIT if self.deadline is None else min(LONGEST_WAIT, max(0.0, self.deadline - time.monotonic()))

    def wait_for(self, condition: threading.Condition, predicate: Callable[[], bool]) -> None:
        """Wait on a held condition until the predicate holds; raise when the run is cancelled or too late."""
        while not predicate():
            self.check()
            condition.wait(self.patience())
            if predicate():  # what came too late is left to others
                self.check()

    @contextlib.contextmanager
    def holding(self, lock: threading.Lock) -> Iterator[None]:
        """Hold a lock that another run may have for long; raise when this run is to stop before it gets it."""
        while not lock.acquire(timeout=self.patience()):
            self.check()
        try:
            yield
        finally:
            lock.release()

    def sleep(self, seconds: float) -> None:
        """Do nothing for a while; raise when the run is to stop meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, self.patience()))
            self.check()
