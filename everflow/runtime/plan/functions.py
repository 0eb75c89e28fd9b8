"""Bodies of graph functions as plans: what `PartitionedCall`, a function used as an op, and datasets' functions call.

A body is planned when it is first called, not when its callers are: functions may call themselves, and a plan needs
those only that are reached.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework import errors
from everflow.ops.parallel_for.exact import for_many
from everflow.runtime import threads
from everflow.runtime.state import Step

if TYPE_CHECKING:
    from everflow.framework.functions import Body, GraphFunction
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Operation, Tensor
    from everflow.runtime.hints import Runnable, Value
    from everflow.runtime.state import SessionState

# Python bounds how deep calls on one thread may be, by what a thread's stack holds. Each call here takes some ten of
# Python's; after so many, they go on on a thread of their own.
CALLS_ON_A_THREAD = 40
# A recursion that comes here has no end.
DEEPEST = 10_000


class _Here(threading.local):
    """How many functions are being called at the moment, one by the other."""

    depth = 0


_here = _Here()


class PlannedFunction:
    """A function of the graph as a callable on kernel values: `call(*values, step=step)` returns the list of its
    results.
    """

    def __init__(
        self,
        name: str,
        function: GraphFunction | _ForMany,
        state: SessionState,
        compile_body: Callable[..., Runnable],
        lock: AbstractContextManager[Any],
    ) -> None:
        self._name, self._function = name, function
        self._state, self._compile = state.for_function(), compile_body
        self._lock = lock
        self._plan: Runnable | None = None
        self._count = 0  # of results; what else the plan gives are operations that run in any case

    def __call__(self, *values: Value, step: Step | None = None) -> list[Value]:
        if step is not None:
            step.check()
        plan = self._plan or self._planned()
        _here.depth = depth = _here.depth + 1
        try:
            if depth % CALLS_ON_A_THREAD:
                return plan(values, step)[: self._count]
            return self._on_another_thread(plan, values, step, depth)
        finally:
            _here.depth = depth - 1

    def _planned(self) -> Runnable:
        with self._lock:
            if self._plan is None:
                inputs, outputs = self._function.body_tensors()
                fetches = [*outputs, *self._function.body_controls()]
                self._count = len(outputs)
                self._plan = self._compile(fetches, list(inputs), self._state, to_numpy=False)
            return self._plan

    def _on_another_thread(
        self,
        plan: Runnable,
        values: tuple[Value, ...],
        step: Step | None,
        depth: int,
    ) -> list[Value]:
        if depth >= DEEPEST:
            raise errors.ResourceExhaustedError(
                None,
                None,
                f"Functions call each other {DEEPEST:,} deep, the last one {self._name}: a recursion without an end?",
            )
        ended: list[tuple[list[Value], BaseException | None]] = []
        count = torch.get_num_threads()

        def run() -> None:
            _here.depth = depth
            threads.use(count)
            try:
                ended.append((plan(values, step), None))
            except BaseException as failure:  # raised again where it is waited for
                ended.append(([], failure))

        thread = threading.Thread(target=run, daemon=True, name="everflow calls")
        try:
            thread.start()
        except RuntimeError as refusal:
            raise errors.ResourceExhaustedError(
                None, None, f"No thread for functions that are called {depth} deep: {refusal}"
            ) from refusal
        thread.join()
        try:
            results, error = ended.pop()
            if error is not None:
                raise error
            return results[: self._count]
        finally:
            error = None  # it has this frame in its traceback: together they would keep all values of the call


def compile_function(
    name: str,
    graph: Graph,
    state: SessionState,
    compile_body: Callable[..., Runnable],
    lock: AbstractContextManager[Any],
) -> PlannedFunction:
    """A function of the graph to be called on kernel values.

    `compile_body(fetches, feeds, state, to_numpy=False)` makes the plan of its body; `lock` is held meanwhile.
    """
    return PlannedFunction(name, _defined(name, graph, state), state, compile_body, lock)


def _defined(name: str, graph: Graph, state: SessionState) -> Any:
    function: Any = graph._functions.get(name) or state.derivatives.get(name)
    if function is None:
        raise errors.NotFoundError(None, None, f"Function {name} is not defined.")
    return function


class _ForMany:
    """What a function is for many elements at once."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def body_tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        return self._body.inputs, self._body.outputs

    def body_controls(self) -> list[Operation]:
        return self._body.controls


def compile_for_many(
    name: str,
    captured: int,
    graph: Graph,
    state: SessionState,
    compile_body: Callable[..., Runnable],
    lock: AbstractContextManager[Any],
) -> PlannedFunction | None:
    """A function of the graph whose inputs but the last `captured`, and all results, have many elements' values along a
    first dimension, with the same bits as one by one; None where there is no such form of it.
    """
    body = for_many(_defined(name, graph, state), captured)
    return None if body is None else PlannedFunction(name, _ForMany(body), state, compile_body, lock)
