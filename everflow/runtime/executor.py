"""Runs a graph in this process: places it, keeps its plans and its state. `Session` talks to one of these."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everflow.framework import errors
from everflow.framework.forking import renewed
from everflow.framework.operation import Operation, Tensor
from everflow.platform.collecting import without_collecting
from everflow.runtime import debug_dumps, devices, tracing
from everflow.runtime.ending import end_runs_first
from everflow.runtime.feeds import Feeder, shapes_fit
from everflow.runtime.limits import check_after, within_limit
from everflow.runtime.memory import keep_freed_memory
from everflow.runtime.process_options import PROCESS
from everflow.runtime.state import SessionState, Step

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.hints import Element
    from everflow.protos import config_pb2, graph_pb2
    from everflow.runtime.hints import Recorder, Rewrite, Runnable, Value
    from everflow.runtime.partial import PartialRun
    from everflow.runtime.plan.functions import Functions
    from everflow.runtime.plan.interpret import Interpreted
    from everflow.runtime.plan.place import Placer

# Values of `ConfigProto.experimental.executor_type`, and of EVERFLOW_EXECUTOR in the environment.
CHECKED, REFERENCE = "CHECKED", "REFERENCE"


class Prepared:
    """A plan with the converters of its feeds: `call(values)` is one run."""

    __slots__ = ("plan", "feeders", "call")

    def __init__(self, plan: Runnable, feeders: list[Feeder], timeout_in_ms: int) -> None:
        self.plan = plan
        self.feeders = feeders
        self.call = _caller(plan, feeders, timeout_in_ms)


def _runner(plan: Runnable, timeout_in_ms: int) -> Callable[[Sequence[Value]], list[Any]]:
    """A plan's function on kernel values that sees to its step: its time limit, and that nothing of it goes on when its
    caller is interrupted.
    """
    if timeout_in_ms > 0:

        def limited(values: Sequence[Value]) -> list[Any]:
            step = Step(plan.state, timeout_in_ms)
            return within_limit(lambda: plan(values, step), step)

        return limited
    if not plan.takes_step:
        return plan

    def stepping(values: Sequence[Value]) -> list[Any]:
        step = Step(plan.state)
        try:
            return plan(values, step)
        except BaseException:
            step.interrupt()
            raise

    return stepping


def _caller(plan: Runnable, feeders: list[Feeder], timeout_in_ms: int) -> Callable[[Iterable[Any]], list[Any]]:
    """The function of a steady run: as little as there can be between the caller's values and the kernels."""
    run, converters = _runner(plan, timeout_in_ms), [f.feed for f in feeders]
    if plan.fed_fetches:
        return lambda values: _run_with_fed_fetches(plan, feeders, list(values), timeout_in_ms)
    if not converters:
        return lambda values: run(())
    if len(converters) == 1:
        convert = converters[0]
        return lambda values: run([convert(v) for v in values])
    return lambda values: run([f(v) for f, v in zip(converters, values, strict=True)])


def _run_with_fed_fetches(plan: Runnable, feeders: list[Feeder], values: list[Any], timeout_in_ms: int) -> list[Any]:
    """A run that fetches what it is fed: the caller gets the array that was fed."""
    arrays = [f.array(v) for f, v in zip(feeders, values, strict=True)]
    results = _runner(plan, timeout_in_ms)([f.feed(a) for f, a in zip(feeders, arrays, strict=True)])
    for fetch, feed in plan.fed_fetches:
        results[fetch] = arrays[feed]
    return results


def _in_turn(*recorders: Recorder) -> Recorder:
    """Recorders as one."""

    def record(*event: Any) -> None:
        for recorder in recorders:
            recorder(*event)

    return record


class LocalExecutor:
    """The engine behind a local session."""

    def __init__(
        self,
        graph: Graph,
        config: config_pb2.ConfigProto | None = None,
        *,
        state: SessionState | None = None,
        device_names: list[str] | None = None,
    ) -> None:
        """`state` is that of a session whose graphs are several, `device_names` those of a task in a cluster."""
        self.graph = graph
        self.config = config if config is not None else PROCESS.config_proto()
        self.state = (
            SessionState(graph, functions=self.functions) if state is None else state.for_graph(graph, self.functions)
        )
        # How graphs run: by plans, by plans whose kernels are compared with what is said of them, or node by node as
        # the reference.
        self._kind = self.config.experimental.executor_type or os.environ.get("EVERFLOW_EXECUTOR", "")
        self.state.checks = self._kind == CHECKED
        self._lock = renewed(threading.RLock())
        self._plans: dict[tuple, Prepared] = {}
        self._feeders: dict[Tensor, Feeder] = {}
        self._functions: Functions | None = None
        self._watched_runs: collections.Counter[tuple[Any, ...]] = collections.Counter()
        self._device_names = device_names
        # These are made before the first plan.
        self._placer: Placer = None  # type: ignore[assignment]
        self._rules: list[Rewrite] = []
        self._native = ""
        self._partial_runs: dict[str, PartialRun] = {}
        self._run_numbers = itertools.count()
        self.extended_to = -1
        if self.config.log_device_placement:
            print("Device mapping:")
            for device in self.list_devices():
                print(f"{device.name} -> device: {device.device_type}")
        keep_freed_memory()
        end_runs_first()

    @property
    def device_names(self) -> list[str]:
        if self._device_names is None:
            self._device_names = devices.device_names(self.config)
        return self._device_names

    def list_devices(self) -> list[devices.DeviceAttributes]:
        return devices.attributes_of(self.device_names)

    def extend(self) -> None:
        """Take in what was added to the graph since the last run, and place it."""
        version = self.graph.version
        if version == self.extended_to:
            return
        with self._lock:
            self._ready_to_plan()
            if not self.config.graph_options.place_pruned_graph:
                self._placer.place(self.graph.get_operations()[max(self.extended_to, 0) :])
            self.extended_to = version

    @without_collecting()
    def _ready_to_plan(self) -> None:
        if self._placer is None:
            from everflow.runtime.plan.native.tiers import mode_of  # builds on this module
            from everflow.runtime.plan.patterns import chosen  # builds on this module
            from everflow.runtime.plan.place import Placer  # builds on this module
            from everflow.runtime.plan.rules import REWRITES  # builds on this module

            self._placer = Placer(
                self.device_names, soft=self.config.allow_soft_placement, log=self.config.log_device_placement
            )
            self._rules = chosen(REWRITES, self.config)
            self._native = mode_of(self.config)

    def feeder(self, tensor: Tensor) -> Feeder:
        found = self._feeders.get(tensor)
        if found is None:
            found = self._feeders[tensor] = Feeder(tensor)
        return found

    def prepare(self, fetches: list[Element], feeds: list[Tensor], timeout_in_ms: int = 0) -> Prepared:
        """The plan for these fetches and feeds, made when first asked for; runs with a time limit have plans of their
        own.
        """
        timeout_in_ms = timeout_in_ms or self.config.operation_timeout_in_ms
        key = (tuple(fetches), tuple(feeds), timeout_in_ms > 0)
        found = self._plans.get(key)
        if found is None:
            with self._lock:
                found = self._plans.get(key)
                if found is None:
                    options: dict[str, Any] = {"recorder": check_after} if timeout_in_ms > 0 else {}
                    plan = self.compile(fetches, feeds, shaped=True, **options)
                    found = self._plans[key] = Prepared(plan, [self.feeder(t) for t in feeds], timeout_in_ms)
        return found

    def prepare_any_shapes(self, fetches: list[Element], feeds: list[Tensor]) -> Callable[[Sequence[Any]], list[Any]]:
        """The function of a run that takes values of other shapes than declared, too. Plans rely on shapes, so the
        nodes run one by one for these.
        """
        planned, fits = self.prepare(fetches, feeds).call, shapes_fit(feeds)

        def call(values: Sequence[Any]) -> list[Any]:
            if fits(values):
                return planned(values)
            drawn = self.compile(fetches, feeds, as_drawn=True)
            feeders = [Feeder(tensor, any_shape=True) for tensor in feeds]
            return _run_with_fed_fetches(drawn, feeders, list(values), self.config.operation_timeout_in_ms)

        return call

    def compile(
        self,
        fetches: list[Element],
        feeds: list[Tensor],
        *,
        shaped: bool = False,
        as_drawn: bool = False,
        **options: Any,
    ) -> Runnable:
        """A new plan, not kept; `shaped` if it may make others of itself for the shapes that are fed, `as_drawn`
        without rewriting.
        """
        from everflow.runtime.threads import allowed  # builds on this module

        with self._lock:
            self._ready_to_plan()
            if self.config.graph_options.place_pruned_graph:
                self._placer.place(_closure(fetches, feeds))
            options.update(threads=allowed(self.config), native=self._native)
            return self._compile(fetches, feeds, self.state, shaped, as_drawn, **options)

    def _compile(
        self,
        fetches: list[Element],
        feeds: list[Tensor],
        state: SessionState,
        shaped: bool = True,
        as_drawn: bool = False,
        **options: Any,
    ) -> Runnable:
        """A plan; or, where every node shall run as it was drawn or has no place in loops and branches, what runs them
        one by one.
        """
        if as_drawn or self._kind == REFERENCE:
            return self._interpret(fetches, feeds, state, copying=self._kind == REFERENCE, **options)
        from everflow.runtime.plan.compile import compile_plan, compile_shaped  # builds on this module
        from everflow.runtime.plan.control_flow import Unstructured  # builds on this module

        make = compile_shaped if shaped else compile_plan
        try:
            return make(fetches, feeds, state, self._placer, self._rules, checks=self._kind == CHECKED, **options)
        except Unstructured:
            return self._interpret(fetches, feeds, state, copying=False, **options)

    def _interpret(
        self,
        fetches: list[Element],
        feeds: list[Tensor],
        state: SessionState,
        *,
        copying: bool,
        journal: bool = False,
        native: str = "",
        **options: Any,
    ) -> Interpreted:
        from everflow.runtime.plan.interpret import interpret  # builds on this module

        return interpret(fetches, feeds, state, self._placer, copying=copying, **options)

    def run_with_options(
        self,
        fetches: list[Element],
        feeds: Mapping[Tensor, Any],
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> list[Any]:
        """A run with a time limit or a trace; what was asked for goes into `run_metadata`."""
        tensors = list(feeds)
        timeout = (options.timeout_in_ms if options is not None else 0) or self.config.operation_timeout_in_ms
        checks = [check_after] if timeout > 0 else []
        prepared = self.prepare(fetches, tensors, timeout)
        plan = prepared.plan
        from everflow.runtime.plan.partition import cut  # builds on this module

        trace = dumps = None
        if options is not None and options.trace_level > 0 and run_metadata is not None:
            trace = tracing.StepTrace()
        if options is not None and options.debug_options.debug_tensor_watch_opts:
            watched = options.debug_options.SerializeToString(deterministic=True), tuple(fetches), tuple(tensors)
            dumps = debug_dumps.DebugDumps(options.debug_options, self._watched_runs[watched])
            self._watched_runs[watched] += 1
        if trace is not None or dumps is not None:
            records = [each.record for each in (dumps, trace) if each is not None]
            plan = self.compile(fetches, tensors, recorder=_in_turn(*records, *checks), as_drawn=dumps is not None)
        start = time.time()
        with dumps or contextlib.nullcontext():
            if dumps is not None:
                dumps.write_graphs(self._parts(cut, plan, fetches, tensors), fetches, tensors)
                dumps.record_feeds(feeds, self.device_names[0])
            results = _run_with_fed_fetches(plan, prepared.feeders, list(feeds.values()), timeout)
        if trace is not None and not trace.records:
            # All was known beforehand, so there is nothing to show but how it was drawn: constants, which run again.
            plan = self.compile(fetches, tensors, recorder=_in_turn(trace.record, *checks), as_drawn=True)
            results = _run_with_fed_fetches(plan, prepared.feeders, list(feeds.values()), timeout)
        if run_metadata is not None:
            run_metadata.Clear()  # it may tell of an earlier run
            if trace is not None:
                trace.write(run_metadata.step_stats, start)
                if self.config.graph_options.build_cost_model > 0:
                    tracing.write_cost_graph(run_metadata, plan, trace)
            if options is not None and options.output_partition_graphs:
                self._write_parts(run_metadata, self._parts(cut, plan, fetches, tensors))
        return results

    def _parts(
        self, cut: Callable, plan: Runnable, fetches: list[Element], feeds: list[Tensor]
    ) -> list[graph_pb2.GraphDef]:
        places = {n.op: device for device, nodes in plan.devices.items() for n in nodes}
        return cut(places.__getitem__, fetches, feeds, self.device_names[0])

    def _write_parts(self, run_metadata: config_pb2.RunMetadata, parts: list[graph_pb2.GraphDef]) -> None:
        whole = self.graph._as_graph_def(from_version=self.graph.version)[0]  # versions and functions
        for part in parts:
            part.versions.CopyFrom(whole.versions)
            part.library.CopyFrom(whole.library)
            run_metadata.partition_graphs.append(part)

    def call(self, plan: Runnable, values: list[Value]) -> list[Any]:
        """Run a plan once, within the session's time limit if it has one."""
        return _runner(plan, self.config.operation_timeout_in_ms)(values)

    def functions(self) -> Functions:
        """The graph's functions, to be called on kernel values."""
        with self._lock:
            if self._functions is None:
                from everflow.runtime.plan.functions import Functions  # builds on this module

                self._ready_to_plan()
                compiled = functools.partial(self._compile, native=self._native)
                self._functions = Functions(self.graph, self.state, compiled, self._lock, plain=self._kind == REFERENCE)
            return self._functions

    # --- partial runs ----------------------------------------------------------------------

    def partial_run_setup(self, fetches: list[Element], feeds: list[Tensor]) -> str:
        from everflow.runtime.partial import PartialRun  # builds on this module

        if not fetches:
            raise errors.InvalidArgumentError(None, None, "A run in parts has to fetch or run something.")
        self.extend()
        with self._lock:
            handle = f"->{next(self._run_numbers)}/{id(self)}"
            self._partial_runs[handle] = PartialRun(self, fetches, feeds)
            return handle

    def partial_run(self, handle: str, fetches: list[Element], feeds: Mapping[Tensor, Any]) -> list[Any]:
        found = self._partial_runs.get(handle)
        if found is None:
            raise errors.InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        results = found.run(fetches, feeds)
        if found.is_over:
            self._partial_runs.pop(handle, None)
        return results

    def reset(self, containers: list[str]) -> None:
        """Forget the objects of these resource containers; plans that hold them are made anew."""
        with self._lock:
            for container in containers:
                self.state.resources.clear_container(container)
            self._plans.clear()
            self.extended_to = -1

    def close(self) -> None:
        self.state.close()


def _closure(fetches: Iterable[Element], feeds: Iterable[Tensor]) -> list[Operation]:
    """The operations that fetches need, in creation order."""
    fed = set(feeds)
    found: set[Operation] = set()
    stack = [f.op if isinstance(f, Tensor) else f for f in fetches if f not in fed]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack += [t.op for t in op.inputs if t not in fed]
            stack += op.control_inputs
    return sorted(found, key=lambda op: op._id)
