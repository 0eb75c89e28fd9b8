"""`Session` and `InteractiveSession`: what a user holds to run a graph."""

from __future__ import annotations

import importlib
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes, errors, scopes
from everflow.framework.forking import renewed
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.protos import config_pb2
from everflow.runtime import feeds as feeding
from everflow.runtime.executor import LocalExecutor
from everflow.runtime.fetches import FetchPlan, composite_parts, conversion_of
from everflow.runtime.profiling import RECORDER

if TYPE_CHECKING:
    from types import TracebackType

    from everflow.framework.hints import FeedDict, Structure
    from everflow.protos import graph_pb2
    from everflow.runtime.devices import DeviceAttributes
    from everflow.runtime.hints import Executor

# How targets other than this process are reached: prefix → where `factory(target, graph, config)` is, an executor. It
# is loaded when a session first asks for it, so that who needs no cluster needs no gRPC.
_TARGETS: dict[str, tuple[str, str]] = {}
_open_sessions: weakref.WeakSet = weakref.WeakSet()
_NO_FEEDS: dict[Any, Any] = {}


def register_target(prefix: str, module: str, factory: str) -> None:
    """Let sessions reach targets that begin with `prefix` by `factory(target, graph, config)` of a module."""
    _TARGETS[prefix] = (module, factory)


def _make_executor(target: str, graph: Graph, config: config_pb2.ConfigProto | None) -> Executor:
    if not target or target == "local":
        return LocalExecutor(graph, config)
    for prefix, (module, name) in _TARGETS.items():
        if target.startswith(prefix):
            return getattr(importlib.import_module(module), name)(target, graph, config)
    raise errors.NotFoundError(
        None, None, f'No session factory registered for the given session options: {{target: "{target}"}}'
    )


class BaseSession:
    """What all sessions share: running, callables, partial runs."""

    def __init__(
        self,
        target: str | bytes | None = "",
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
    ) -> None:
        if graph is None:
            self._graph = scopes.drawn_graph()
        else:
            if not isinstance(graph, Graph):
                raise TypeError(f"graph must be a tf.Graph, not {type(graph)}")
            self._graph = graph
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        target = target.decode() if isinstance(target, bytes) else target or ""
        if config is not None and not isinstance(config, config_pb2.ConfigProto):
            raise TypeError(f"config must be a ConfigProto, not {type(config)}")
        self._target = target.encode()
        self._config = config
        self._add_shapes = bool(config is not None and config.graph_options.infer_shapes)
        self._closed = False
        self._calls: dict[
            Hashable, Callable[[Iterable[Any]], Any]
        ] = {}  # (kind of fetches, fetches, feed keys) → steady-state call
        self._executor = _make_executor(target, self._graph, config)
        _open_sessions.add(self)

    @property
    def graph(self) -> Graph:
        """The graph this session runs."""
        return self._graph

    @property
    def graph_def(self) -> graph_pb2.GraphDef:
        """The graph as a GraphDef."""
        return self._graph.as_graph_def(add_shapes=self._add_shapes)

    @property
    def sess_str(self) -> bytes:
        """The target, as bytes."""
        return self._target

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices there are: objects with `name`, `device_type`, `memory_limit_bytes`."""
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        return self._executor.list_devices()

    def close(self) -> None:
        """Give up what the session holds. Running it afterwards is a RuntimeError."""
        if not self._closed:
            self._closed = True
            self._calls = {}
            _open_sessions.discard(self)
            self._executor.close()

    def as_default(self) -> AbstractContextManager[Any]:
        """A context in which `Tensor.eval` and `Operation.run` use this session; it is not closed at the end."""
        return scopes.default_session(self)

    def run(
        self,
        fetches: Structure,
        feed_dict: FeedDict | None = None,
        options: config_pb2.RunOptions | None = None,
        run_metadata: config_pb2.RunMetadata | None = None,
    ) -> Any:
        """Run what is needed for `fetches` and give their values, in the structure that was asked for.

        >>> sess.run({"sum": a + b, "both": [a, b]}, feed_dict={a: 1.0, b: 2.0})
        {'sum': 3.0, 'both': [1.0, 2.0]}
        """
        if options is None and run_metadata is None and not RECORDER.running:
            # The steady state: one look-up by what was asked and fed, then the plan.
            kind = fetches.__class__
            feed_dict = feed_dict or _NO_FEEDS
            try:
                key: Hashable = (kind, tuple(fetches) if kind is list or kind is tuple else fetches, *feed_dict)
                call = self._calls.get(key)
            except TypeError:  # nested, or nothing that could be looked up
                key = _frozen(fetches, feed_dict)
                call = self._calls.get(key)
            if call is not None and self._executor.extended_to == self._graph.version and hasattr(feed_dict, "values"):
                return call(feed_dict.values())
            return self._first_run(key, fetches, feed_dict)
        if RECORDER.running:
            return self._run_profiled(fetches, feed_dict, options, run_metadata)
        return self._run_with_options(fetches, feed_dict, options, run_metadata)

    def _run_profiled(
        self,
        fetches: Structure,
        feed_dict: FeedDict | None,
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> Any:
        """A traced run, whose nodes go into the profile that is being taken."""
        traced = config_pb2.RunOptions()
        if isinstance(options, config_pb2.RunOptions):
            traced.CopyFrom(options)
        traced.trace_level = config_pb2.RunOptions.FULL_TRACE
        run_metadata = config_pb2.RunMetadata() if run_metadata is None else run_metadata
        began = time.time_ns()
        result = self._run_with_options(fetches, feed_dict, traced, run_metadata)
        RECORDER.record_run(run_metadata, began, time.time_ns())
        return result

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._graph.version == 0:
            raise RuntimeError("The session's graph is empty: there is nothing to run before operations are added.")

    def _first_run(self, key: Hashable, fetches: Structure, feed_dict: FeedDict) -> Any:
        self._check_open()
        fed = feeding.flatten(self._graph, feed_dict) if feed_dict is not _NO_FEEDS else {}
        wanted = FetchPlan(self, fetches)
        self._executor.extend()
        prepared = self._executor.prepare(wanted.elements, list(fed))
        run, build = prepared.call, wanted.build
        if key is not None and _is_steady(fetches, feed_dict):
            single = isinstance(fetches, Tensor) and fetches.dtype is not dtypes.string
            self._calls[key] = (lambda values: run(values)[0]) if single else (lambda values: build(run(values)))
        return build(run(fed.values()))

    def _run_with_options(
        self,
        fetches: Structure,
        feed_dict: FeedDict | None,
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> Any:
        if options is not None and not isinstance(options, config_pb2.RunOptions):
            raise TypeError(f"options must be a RunOptions, but got {type(options)}")
        if run_metadata is not None and not isinstance(run_metadata, config_pb2.RunMetadata):
            raise TypeError(f"run_metadata must be a RunMetadata, but got {type(run_metadata)}")
        self._check_open()
        fed = feeding.flatten(self._graph, feed_dict) if feed_dict else {}
        wanted = FetchPlan(self, fetches)
        self._executor.extend()
        pools = len(self._config.session_inter_op_thread_pool) if self._config is not None else 0
        if options is not None and not -1 <= options.inter_op_thread_pool < max(pools, 1):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid inter_op_thread_pool: {options.inter_op_thread_pool}; the session has {max(pools, 1)} (their "
                "list is the config's session_inter_op_thread_pool).",
            )
        return wanted.build(self._executor.run_with_options(wanted.elements, fed, options, run_metadata))

    def _extend_graph(self) -> None:
        """Take over what was added to the graph since the last run."""
        self._executor.extend()

    def make_callable(
        self,
        fetches: Structure,
        feed_list: Sequence[Any] | None = None,
        accept_options: bool = False,
    ) -> Callable[..., Any]:
        """A function that runs `fetches`, with the values of `feed_list` as positional arguments."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("feed_list must be a sequence: a list, or a tuple")
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        self._executor.extend()
        wanted = FetchPlan(self, fetches)
        if accept_options:
            return lambda *args, options=None, run_metadata=None: self.run(
                fetches, dict(zip(feed_list or (), args, strict=False)), options=options, run_metadata=run_metadata
            )
        tensors = feeding.check_list(self._graph, feed_list or [])
        if feed_list:
            run = self._executor.prepare(wanted.elements, tensors).call
            return self._callable_with_feeds(fetches, wanted, feed_list, tensors, run)
        run, build = self._executor.prepare(wanted.elements, []).call, wanted.build

        def call() -> Any:
            if self._closed:
                raise errors.CancelledError(None, None, "Session has been closed.")
            return self.run(fetches) if RECORDER.running else build(run(()))

        return call

    def _make_callable_for_any_shapes(self, fetches: Structure, feed_list: Sequence[Any]) -> Callable[..., Any]:
        """As `make_callable`, but what is fed may have other shapes than the tensors, and what is fetched may be of a
        branch, as for Keras's functions in TensorFlow.
        """
        self._executor.extend()
        wanted = FetchPlan(self, fetches, also_of_parts=True)
        tensors = feeding.check_list(self._graph, feed_list)
        run = self._executor.prepare_any_shapes(wanted.elements, tensors)
        return self._callable_with_feeds(fetches, wanted, feed_list, tensors, run)

    def _callable_with_feeds(
        self,
        fetches: Structure,
        wanted: FetchPlan,
        feed_list: Sequence[Any],
        tensors: list[Tensor],
        run: Callable[[Sequence[Any]], list[Any]],
    ) -> Callable[..., Any]:
        simple = len(tensors) == len(feed_list)
        build, count = wanted.build, len(feed_list)

        def call(*values: Any, **options: Any) -> Any:
            if options or not simple or len(values) != count or self._closed or RECORDER.running:
                return self.run(fetches, dict(zip(feed_list, values, strict=False)), **options)
            return build(run(values))

        return call

    def _make_callable_from_options(self, callable_options: config_pb2.CallableOptions) -> Callable[..., list[Any]]:
        """A function from a CallableOptions proto: `call(*feeds)` returns the list of fetched values."""
        try:
            named = [self._graph.get_tensor_by_name(name) for name in callable_options.feed]
            wanted = [self._graph.as_graph_element(name) for name in callable_options.fetch]
            targets = [self._graph.get_operation_by_name(name) for name in callable_options.target]
        except (KeyError, ValueError) as e:
            raise errors.InvalidArgumentError(None, None, f"A callable of what the graph doesn't have: {e}") from None
        self._executor.extend()
        options = callable_options.run_options if callable_options.HasField("run_options") else None

        def call(*args: Any, run_metadata: config_pb2.RunMetadata | None = None) -> list[Any]:
            self._check_open()
            if len(args) != len(named):
                raise errors.InvalidArgumentError(
                    None, None, f"This callable takes {len(named)} values, not {len(args)}"
                )
            if options is None and run_metadata is None:
                results = self._executor.prepare_any_shapes(wanted + targets, named)(args)
            else:
                results = self._executor.run_with_options(
                    wanted + targets, dict(zip(named, args, strict=True)), options, run_metadata
                )
            return results[: len(wanted)]

        return call

    def partial_run_setup(self, fetches: Structure, feeds: Sequence[Any] | None = None) -> str:
        """Begin a run that goes on in parts; gives the handle for `partial_run`. All fetches and feeds to come must be
        named here.
        """
        self._check_open()
        wanted = FetchPlan(self, fetches)
        return self._executor.partial_run_setup(wanted.elements, feeding.check_list(self._graph, feeds or []))

    def partial_run(self, handle: str, fetches: Structure, feed_dict: FeedDict | None = None) -> Any:
        """Go on with a run: feed more, fetch more."""
        self._check_open()
        fed = feeding.flatten(self._graph, feed_dict) if feed_dict else {}
        wanted = FetchPlan(self, fetches)
        return wanted.build(self._executor.partial_run(handle, wanted.elements, fed))

    def explain(self, fetches: Structure, feed_list: Sequence[Any] = ()) -> str:
        """What each stage of planning made of a run, as text: the plan that runs, and those for shapes that came often;
        see docs/runtime.md.
        """
        from everflow.runtime.plan.explain import explain  # builds on this module

        self._check_open()
        self._executor.extend()
        wanted, fed = FetchPlan(self, fetches).elements, feeding.check_list(self._graph, list(feed_list))
        # The plan that runs wrote nothing down; one made again in the same way does.
        again = self._executor.compile(wanted, fed, journal=True)
        return explain(self._executor.prepare(wanted, fed).plan, getattr(again.program, "journal", ()))


def _is_steady(fetches: Structure, feed_dict: FeedDict) -> bool:
    """Whether equal fetches and feed keys mean the same run every time: graph elements and names only."""
    return all(_is_element(item) for item in _leaves(fetches)) and all(_is_element(item) for item in feed_dict)


def _leaves(fetches: Structure) -> list[Any]:
    if isinstance(fetches, (list, tuple)):
        return [leaf for item in fetches for leaf in _leaves(item)]
    if isinstance(fetches, dict):
        return _leaves(list(fetches.values()))
    return [fetches]


def _frozen(fetches: Structure, feed_dict: FeedDict) -> Hashable:
    """A key for nested fetches, equal for equal structures of the same things; None where one of them has no hash."""

    def frozen(item: Structure) -> Any:
        if isinstance(item, (list, tuple)):
            return (type(item), *map(frozen, item))
        if isinstance(item, dict):
            return (type(item), *item, *map(frozen, item.values()))
        return item

    key = (None, frozen(fetches), *(feed_dict if isinstance(feed_dict, dict) else (feed_dict,)))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _is_element(item: object) -> bool:
    if isinstance(item, (Tensor, Operation, str)):
        return True
    return hasattr(item, "_as_graph_element") and composite_parts(item) is None and conversion_of(item) is None


class Session(BaseSession):
    """Runs the operations of a graph and holds its variables.

    Args:
        target: The server to run on, such as `grpc://host:2222`; an empty string for this process.
        graph: The graph to run; the default graph if None.
        config: A `tf.ConfigProto` with settings.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> with tf.Session() as session:
        ...     print(session.run(x * 3.0, feed_dict={x: 2.0}))
        6.0
    """

    def __init__(
        self,
        target: str | bytes | None = "",
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
    ) -> None:
        super().__init__(target, graph, config=config)
        self._entered: tuple[AbstractContextManager[Any], AbstractContextManager[Any]] | None = None

    def __enter__(self) -> Session:
        if self._entered is not None:
            raise RuntimeError(
                "This session is entered already, and `with` closes it at the end, so it is not re-entrant. `with sess.as_default():` can be nested."
            )
        graph_context = self._graph.as_default()
        session_context = self.as_default()
        graph_context.__enter__()
        session_context.__enter__()
        self._entered = graph_context, session_context
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> None:
        if exc_type is errors.OpError:
            warnings.warn("Session closing due to error", stacklevel=2)
        if self._entered is not None:
            graph_context, session_context = self._entered
            self._entered = None
            try:
                session_context.__exit__(exc_type, exc_value, exc_traceback)
            finally:
                graph_context.__exit__(exc_type, exc_value, exc_traceback)
        self.close()

    @staticmethod
    def reset(
        target: str | bytes | None,
        containers: Sequence[str] | None = None,
        config: config_pb2.ConfigProto | None = None,
    ) -> None:
        """Forget what is kept in resource containers (the default one unless named) at a target."""
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        target = target.decode() if isinstance(target, bytes) else target or ""
        if containers is not None and (
            not isinstance(containers, (list, tuple)) or not all(isinstance(c, str) for c in containers)
        ):
            raise TypeError("containers must be a list of strings")
        if target:
            executor = _make_executor(target, Graph(), config)
            executor.reset(list(containers or [""]))
            return
        for session in list(_open_sessions):
            session._executor.reset(list(containers or [""]))


_interactive_lock = renewed(threading.Lock())
_interactive_count = 0


class InteractiveSession(BaseSession):
    """A session that makes itself the default when created, for shells and notebooks.

    Args:
        target: The server to run on, such as `grpc://host:2222`; an empty string for this process.
        graph: The graph to work in; the default graph if None.
        config: A `tf.ConfigProto` with settings.

    Example:
        >>> session = tf.InteractiveSession()
        >>> tf.constant(2.0).eval()
        np.float32(2.0)
        >>> session.close()
    """

    def __init__(
        self,
        target: str | bytes | None = "",
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
    ) -> None:
        global _interactive_count
        super().__init__(target, graph, config)
        with _interactive_lock:
            if _interactive_count > 0:
                warnings.warn(
                    "An interactive session is open already, and keeps its variables and queues in memory until its `close()` is called.",
                    stacklevel=2,
                )
            _interactive_count += 1
        self._explicit_graph = graph
        scopes.default_sessions.enforce_nesting = False
        self._contexts = [self.as_default()]
        if graph is not None:
            scopes.default_graphs.enforce_nesting = False
            self._contexts.append(graph.as_default())
        for context in self._contexts:
            context.__enter__()

    def close(self) -> None:
        """Close it, and take it from the default stacks."""
        global _interactive_count
        if not self._closed:
            with _interactive_lock:
                _interactive_count -= 1
            for context in reversed(self._contexts):
                context.__exit__(None, None, None)
        super().close()
