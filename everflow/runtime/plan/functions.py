"""Bodies of graph functions as plans: what `PartitionedCall`, a function used as an op, and datasets' functions call.

A body is planned when it is first called, not when its callers are: functions may call themselves, and a plan needs
those only that are reached.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework import errors
from everflow.ops.functions.draws import apart, repeated, seeded
from everflow.ops.parallel_for.exact import for_many, for_so_many
from everflow.runtime import threads
from everflow.runtime.plan.program import Program
from everflow.runtime.state import Step
from everflow.runtime.thread_orders import steady_count

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
_SHARED = "shared"


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
        defined: Callable[[], GraphFunction | _Rewritten],
        state: SessionState,
        compile_body: Callable[..., Runnable],
        lock: AbstractContextManager[Any],
    ) -> None:
        """`defined()` is the function: asked for when it is planned, so that this keeps none that nobody calls."""
        self._name, self._defined = name, defined
        self._state, self._compile = state.for_function(), compile_body
        self._lock = lock
        self._plan: Runnable | None = None
        self._count = 0  # of results; what else the plan gives are operations that run in any case
        self._steady: int | None = None  # threads, once they are known

    def restart_random_streams(self) -> None:
        """Let its random operations begin again."""
        self._state.random.restart()

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

    def steady_count(self, count: int) -> int:
        """The number of threads, up to `count`, that its products are worth where it is called by itself."""
        if self._steady is None:
            program = (self._plan or self._planned()).program
            self._steady = steady_count(list(program.nodes()), count) if isinstance(program, Program) else count
        return self._steady

    def _planned(self) -> Runnable:
        with self._lock:
            if self._plan is None:
                function = self._defined()
                inputs, outputs = function.body_tensors()
                fetches = [*outputs, *function.body_controls()]
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


class _Rewritten:
    """What a function became."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def body_tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        return self._body.inputs, self._body.outputs

    def body_controls(self) -> list[Operation]:
        return self._body.controls


class Functions:
    """The functions of a session's graph, to be called on kernel values.

    `compile_body(fetches, feeds, state, to_numpy=False)` makes the plan of a body; `lock` is held meanwhile.
    """

    def __init__(
        self,
        graph: Graph,
        state: SessionState,
        compile_body: Callable[..., Runnable],
        lock: AbstractContextManager[Any],
        plain: bool = False,
    ) -> None:
        """`plain`: none is rewritten."""
        self._graph, self._state, self._compile, self._lock = graph, state, compile_body, lock
        self._plain = plain
        # What was made of each function, by what was asked for. Where functions come and go, as those of a program that
        # executes eagerly do, each has it itself: a plan refers to the graph of its function, so it would keep that.
        self._made: dict[str, dict[Hashable, Any]] = {}
        self._come_and_go = not isinstance(graph._functions, dict)
        self._all: weakref.WeakSet[PlannedFunction] = weakref.WeakSet()  # that others share

    def shared(self, name: str) -> PlannedFunction:
        """The function of that name; all who call it share its random streams."""
        with self._lock:
            made = self._made_of(name)
            if _SHARED not in made:
                made[_SHARED] = self.fresh(name)
                self._all.add(made[_SHARED])
            return made[_SHARED]

    def fresh(self, name: str) -> PlannedFunction:
        """The function of that name, with random streams of its own."""
        self._defined(name)  # or an error says that it isn't there
        return PlannedFunction(name, lambda: self._defined(name), self._state, self._compile, self._lock)

    def for_many(
        self, name: str, captured: int, lists: tuple[bool, ...] = ()
    ) -> tuple[PlannedFunction, tuple[bool, ...]] | None:
        """A function whose inputs but the last `captured`, and all results, have many elements' values along a first
        dimension, with the same bits as one by one, and which of its results are lists; None where there is no such
        form of it. `lists`: which of its inputs are. A list is two values, those of all elements and their lengths.
        """
        with self._lock:
            key, made = (captured, lists), self._made_of(name)
            if key not in made:
                many = None if self._plain else for_many(self._defined(name), captured, lists)
                made[key] = many and (self._planned(name, _Rewritten(many.body)), many.lists)
            return made[key]

    def apart(self, name: str, captured: int = 0) -> tuple[PlannedFunction, PlannedFunction] | None:
        """A function as two, with random streams of their own: the first draws the random numbers that the second takes
        after its inputs but the last `captured`. None where what is drawn depends on the inputs.
        """
        bodies = None if self._plain else apart(self._defined(name), captured)
        if bodies is None:
            return None
        draws, rest = (self._planned(name, _Rewritten(body)) for body in bodies)
        return draws, rest

    def for_so_many(self, name: str, captured: int, count: int) -> tuple[PlannedFunction, PlannedFunction] | None:
        """A function for `count` elements at once, images among them, and for one. Both take random numbers, if it
        draws any, after their inputs but the last `captured`. None where there is no such form of it.
        """
        with self._lock:
            key, made = (captured, count), self._made_of(name)
            if key not in made:
                made[key] = None if self._plain else self._made_for_so_many(name, captured, count)
            return made[key]

    def _made_for_so_many(self, name: str, captured: int, count: int) -> tuple[PlannedFunction, PlannedFunction] | None:
        function = self._defined(name)
        both = [apart(function, captured) for _ in range(2)]  # one body becomes that for many
        bodies = [None if found is None else found[1] for found in both]
        if bodies[0] is None or bodies[1] is None:
            return None
        many = for_so_many(bodies[0], captured, count)
        if many is None:
            return None
        return self._planned(name, _Rewritten(many)), self._planned(name, _Rewritten(bodies[1]))

    def drawing(self, name: str) -> PlannedFunction | None:
        """What draws a function's random numbers for several calls at once, with random streams of its own; None where
        an op can't.
        """
        both = apart(self._defined(name))
        draws = None if both is None else repeated(both[0])
        return None if draws is None else self._planned(name, _Rewritten(draws))

    def seeded(self, name: str, captured: int = 0) -> PlannedFunction:
        """A function that draws uniform numbers once, with a seed as an input before the last `captured`."""
        return self._planned(name, _Rewritten(seeded(self._defined(name), captured)))

    def forget(self, name: str) -> None:
        """A function is defined anew, or gone: what was compiled for that name goes."""
        with self._lock:
            self._made.pop(name, None)

    def restart_random_streams(self) -> None:
        """Let the random operations of all functions begin again."""
        with self._lock:
            for function in list(self._all):
                function.restart_random_streams()

    def _made_of(self, name: str) -> dict[Hashable, Any]:
        function = self._graph._functions.get(name) if self._come_and_go else None
        return self._made.setdefault(name, {}) if function is None else function.plans.setdefault(self, {})

    def _defined(self, name: str) -> Any:
        function: Any = self._graph._functions.get(name) or self._state.derivatives.get(name)
        if function is None:
            raise errors.NotFoundError(None, None, f"Function {name} is not defined.")
        return function

    def _planned(self, name: str, function: _Rewritten) -> PlannedFunction:
        return PlannedFunction(name, lambda: function, self._state, self._compile, self._lock)
