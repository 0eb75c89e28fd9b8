"""Measurements that take turns: each in a process of its own, round after round, so that what else the machine does
falls on all alike.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Job:
    """What is measured: a program under a module, with arguments."""

    module: str
    program: str
    arguments: tuple[tuple[str, Any], ...] = ()
    callers: int = 0


@dataclass
class Outcome:
    """What was found in each round."""

    rounds: list[dict[str, float]] = field(default_factory=list)

    def median(self, figure: str = "median") -> float:
        return statistics.median(r[figure] for r in self.rounds)

    def spread(self, figure: str = "median") -> tuple[float, float]:
        return min(r[figure] for r in self.rounds), max(r[figure] for r in self.rounds)


Outcomes = dict[Job, Outcome]


def run(job: Job, pythons: dict[str, str], seconds: float, threads: int = 0) -> dict[str, float]:
    """Measure once; `pythons` says which interpreter has a module."""
    command = [pythons[job.module], "-W", "ignore", "-m", "benchmarks.measure", job.module, job.program]
    options = {
        "seconds": seconds,
        "arguments": json.dumps(dict(job.arguments)),
        "callers": job.callers,
        "threads": threads,
    }
    command += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not found:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(found[-1][len("RESULT ") :])


def in_turns(
    jobs: Iterable[Job],
    measure: Callable[[Job], dict[str, float]],
    rounds: int,
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
) -> Outcomes:
    """All jobs, one after the other, `rounds` times."""
    outcomes: Outcomes = {job: Outcome() for job in jobs}
    for number in range(rounds):
        for job, outcome in outcomes.items():
            outcome.rounds.append(measure(job))
            extra = " ".join(f"{k}={v}" for k, v in job.arguments)
            tell(f"{number + 1}/{rounds} {job.program} {extra} {job.module}: {outcome.rounds[-1]['median']:.3f} ms")
    return outcomes
