"""How many threads the kernels of a run take: one, or as many as the session allows, whichever was quicker when tried.

A product of small matrices takes a tenth of a millisecond, and handing half of it to another thread and waiting for that costs as much
on a machine that others use, too. What is better depends on the sizes, on the machine and on who else is there; so plans try it.
"""

from __future__ import annotations

import os
import statistics
import threading
import time

import torch

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


def use(count: int) -> None:
    """Let kernels that this thread calls take so many threads."""
    if _here.count != count:
        torch.set_num_threads(count)
        _here.count = count


def allowed(config) -> int:
    """The threads that a session may take: those of its configuration, else those of the environment and the machine."""
    return config.intra_op_parallelism_threads or _of_process


_of_process = torch.get_num_threads()


class Trial:
    """Stands for a plan's function in its first runs: calls it with all threads and with one in turns, then decides.

    Sums may be taken in another order by several threads. Whoever wants the very same bits at each run of a program sets
    TF_DETERMINISTIC_OPS, and every run takes all threads.
    """

    def __init__(self, function, count: int, decide, again: int = FIRST_AGAIN):
        self._function = function
        self._decide = decide  # called with the function that the plan shall have from now on
        self._again = again  # the runs after which to try anew
        self._times: dict[int, list[float]] = {count: [], 1: []}
        self._count = count
        self._runs = 0
        self._lock = threading.Lock()

    def __call__(self, step, *feeds):
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
                best = min(typical, key=typical.get)
                if typical[best] < SHORTEST_TRIED:
                    best = 0
            elif shared and alone and max(shared[0], alone[0]) > HOPELESS * min(shared[0], alone[0]):
                best = self._count if shared[0] < alone[0] else 1
            else:
                return
        self._decide(self._for_a_while(best) if best else self._function)

    def _for_a_while(self, count: int):
        """The function with so many threads, until it is time for another trial."""
        run, left = with_threads(self._function, count), self._again

        def counted(step, *feeds):
            nonlocal left
            left -= 1
            if left <= 0:  # several threads may come here: of their trials the last one counts
                self._decide(Trial(self._function, self._count, self._decide, 2 * self._again))
            return run(step, *feeds)

        return counted


def with_threads(function, count: int):
    """A plan's function that sees to its number of threads."""

    def run(step, *feeds):
        if _here.count != count:
            use(count)
        return function(step, *feeds)

    return run


def tried(function, count: int, decide):
    """What a plan calls at first, if there is something to try."""
    if count == 1 or os.environ.get("TF_DETERMINISTIC_OPS", "0") in ("1", "true"):
        return with_threads(function, count)
    return Trial(function, count, decide)
