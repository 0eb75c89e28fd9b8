"""How many threads the kernels of a run take: one, or as many as the session allows, whichever was quicker when tried.

Handing half of a small op to another thread and waiting for that costs as much as it gains on a machine that others
use, too. What is better depends on the sizes, on the machine and on who else is there; so plans try it, if their
results are the same either way (`thread_orders.py`). Those whose bits depend on the number keep one that their sizes
decide.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from everflow.runtime.thread_orders import is_left_to_regions, may_choose_threads, steady_count

if TYPE_CHECKING:
    from everflow.protos import config_pb2
    from everflow.runtime.hints import PlanFunction, Value
    from everflow.runtime.plan.program import Node
    from everflow.runtime.state import Step

# Longer runs are tried once each way, and still longer ones not at all: that would take too long.
LONG, LONGEST_TRIED = 0.1, 1.0
# Shorter ones have none: nothing is shared, and even to look at the number of threads would cost something.
SHORTEST_TRIED = 5e-5
# Runs of each kind, after those that warm caches up; a kind that is so much slower at first is not tried again.
WARM_UP, PAIRS, HOPELESS = 2, 5, 2.0
# After so many runs it is tried again, then after twice as many, and so on: others may have disturbed the first time.
FIRST_AGAIN = 256


class _Here(threading.local):
    """What OpenMP was told in this thread."""

    count = 0


_here = _Here()


def use(count: int) -> int:
    """Let kernels that this thread calls take so many threads; how many they took before."""
    # At first torch takes the process's number for this thread, which must not come later.
    before = _here.count or torch.get_num_threads()
    if _here.count != count:
        torch.set_num_threads(min(count, _most))
        _here.count = count
    return before


def take(count: int) -> None:
    """Let kernels that this thread calls take so many threads from now on."""
    if _here.count != count:
        use(count)


def by_one_thread(function: Callable[..., Value]) -> Callable[..., Value]:
    """A kernel that takes one thread, whatever others take."""

    def call(*arguments: Value, **keywords: Any) -> Value:
        before = use(1)
        try:
            return function(*arguments, **keywords)
        finally:
            use(before)

    return call


def _only_one() -> None:
    """After a fork: the threads of the parent's pool are not here, and OpenMP would wait for them for ever."""
    global _most
    _most = 1
    torch.set_num_threads(1)


_most = sys.maxsize
os.register_at_fork(after_in_child=_only_one)


def allowed(config: config_pb2.ConfigProto) -> int:
    """The threads that a session may take: those of its configuration, else those of the environment and the machine."""
    return config.intra_op_parallelism_threads or OF_PROCESS


# Those of the environment and the machine.
OF_PROCESS = torch.get_num_threads()


class Trial:
    """Stands for a plan's function in its first runs: calls it with all threads and with one in turns, then decides."""

    def __init__(
        self,
        function: PlanFunction,
        count: int,
        decide: Callable[[PlanFunction], None],
        again: int = FIRST_AGAIN,
    ) -> None:
        self._function = function
        self._decide = decide  # called with the function that the plan shall have from now on
        self._again = again  # the runs after which to try anew
        self._times: dict[int, list[float]] = {count: [], 1: []}
        self._count = count
        self._runs = 0
        self._lock = threading.Lock()
        self.threads = f"1 or {count}, being tried"

    def __call__(self, step: Step | None, *feeds: Value) -> list[Any]:
        with self._lock:
            self._runs += 1
            warming = self._runs <= WARM_UP
            count = self._count if warming or self._runs % 2 else 1
        use(count)
        start = time.perf_counter()
        results = self._function(step, *feeds)
        if not warming:
            self._record(count, time.perf_counter() - start)
        return results

    def _record(self, count: int, seconds: float) -> None:
        with self._lock:
            shared, alone = self._times[self._count], self._times[1]
            self._times[count].append(seconds)
            if shared and shared[0] > LONGEST_TRIED:
                best = self._count
            elif min(len(shared), len(alone)) >= (1 if shared and shared[0] > LONG else PAIRS):
                typical = {c: statistics.median(times) for c, times in self._times.items()}
                best = min(typical, key=typical.__getitem__)
                if typical[best] < SHORTEST_TRIED:
                    best = 0
            elif shared and alone and max(shared[0], alone[0]) > HOPELESS * min(shared[0], alone[0]):
                best = self._count if shared[0] < alone[0] else 1
            else:
                return
        self._decide(self._for_a_while(best) if best else self._function)

    def _for_a_while(self, count: int) -> PlanFunction:
        """The function with so many threads, until it is time for another trial."""
        run, left = with_threads(self._function, count), self._again

        def counted(step: Step | None, *feeds: Value) -> list[Any]:
            nonlocal left
            left -= 1
            if left <= 0:  # several threads may come here: of their trials the last one counts
                self._decide(Trial(self._function, self._count, self._decide, 2 * self._again))
            return run(step, *feeds)

        counted.threads = f"{count}, to be tried again after {self._again} runs"  # type: ignore[attr-defined]  # for `explain`
        return counted


def with_threads(function: PlanFunction, count: int) -> PlanFunction:
    """A plan's function that sees to its number of threads."""

    def run(step: Step | None, *feeds: Value) -> list[Any]:
        take(count)
        return function(step, *feeds)

    run.threads = count  # type: ignore[attr-defined]  # for `explain`
    return run


def tried(
    function: PlanFunction,
    count: int,
    decide: Callable[[PlanFunction], None],
    nodes: Sequence[Node] = (),
    sized_by: Sequence[Node] | None = None,
) -> PlanFunction:
    """What a plan of these nodes calls at first: something that tries, if there is a choice. Where machine code took the
    place of some, sizes are those of the nodes before.

    With TF_DETERMINISTIC_OPS set every run takes all threads; with EVERFLOW_QUICKEST_THREADS there is a choice whatever
    it does to bits.
    """
    if count == 1 or _is_set("TF_DETERMINISTIC_OPS") or is_left_to_regions(nodes):
        return with_threads(function, count)
    if _is_set("EVERFLOW_QUICKEST_THREADS") or may_choose_threads(nodes):
        return Trial(function, count, decide)
    return with_threads(function, steady_count(nodes if sized_by is None else sized_by, count))


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") in ("1", "true")
