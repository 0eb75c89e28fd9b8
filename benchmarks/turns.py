"""Measurements that take turns: each in a process of its own, round after round, so that what else the machine does
falls on all alike. What was found is kept in a file, if one is named, so that a run that was stopped can go on.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Job:
    """What is measured: a program under a module, with arguments."""

    module: str
    program: str
    arguments: tuple[tuple[str, Any], ...] = ()
    callers: int = 0  # threads that run one session at once
    threads: int = 0  # of kernels; 0: as many as the library likes

    def under(self, module: str) -> Job:
        return replace(self, module=module)


@dataclass
class Outcome:
    """What was found in each round."""

    rounds: list[dict[str, float]] = field(default_factory=list)

    def median(self, figure: str = "median") -> float:
        return statistics.median(r[figure] for r in self.rounds)

    def spread(self, figure: str = "median") -> tuple[float, float]:
        return min(r[figure] for r in self.rounds), max(r[figure] for r in self.rounds)


Outcomes = dict[Job, Outcome]


class Notes:
    """What was found, a line of JSON for each measurement, in a file that the next run reads; or nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: Outcomes = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                noted = json.loads(line)
                arguments = tuple((name, value) for name, value in noted["job"].pop("arguments"))
                self._outcome(Job(arguments=arguments, **noted["job"])).rounds.append(noted["figures"])

    def _outcome(self, job: Job) -> Outcome:
        return self.found.setdefault(job, Outcome())

    def add(self, job: Job, figures: dict[str, float]) -> None:
        self._outcome(job).rounds.append(figures)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps({"job": asdict(job), "figures": figures}) + "\n")

    def rounds_of(self, job: Job) -> int:
        return len(self._outcome(job).rounds)


def run(job: Job, pythons: dict[str, str], seconds: float) -> dict[str, float]:
    """Measure once; `pythons` says which interpreter has a module."""
    command = [pythons[job.module], "-W", "ignore", "-m", "benchmarks.measure", job.module, job.program]
    options = {
        "seconds": seconds,
        "arguments": json.dumps(dict(job.arguments)),
        "callers": job.callers,
        "threads": job.threads,
    }
    command += [f"--{name}={value}" for name, value in options.items()]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode, which tells in first runs
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not found:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(found[-1][len("RESULT ") :])


def in_turns(
    jobs: Iterable[Job],
    measure: Callable[[Job], dict[str, float]],
    rounds: int,
    notes: Notes | None = None,
    minutes: float = math.inf,
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
) -> Outcomes:
    """All jobs, one after the other, `rounds` times; as often as there is time for, but at least once. What notes hold
    already is not measured again.
    """
    notes = notes or Notes(None)
    jobs = list(dict.fromkeys(jobs))
    end = time.monotonic() + 60 * minutes
    for number in range(rounds):
        for job in jobs:
            if notes.rounds_of(job) > number:
                continue
            if number and time.monotonic() > end:
                tell(f"time is up in round {number + 1}")
                return {job: notes.found[job] for job in jobs}
            figures = measure(job)
            notes.add(job, figures)
            extra = " ".join(f"{k}={v}" for k, v in job.arguments)
            tell(f"{number + 1}/{rounds} {job.program} {extra} {job.module}: {figures['median']:.3f} ms")
    return {job: notes.found[job] for job in jobs}
