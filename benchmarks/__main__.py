"""Measure Everflow beside TensorFlow 1.15.5 and eager torch, and write docs/performance.md.

python -m benchmarks                                     all, into the page and its picture
python -m benchmarks greedy_decoder elementwise          some programs, to the screen
python -m benchmarks scaling bandwidth                   how steps grow, and what of the memory's speed is reached
    --tensorflow old/bin/python                          an interpreter that has TensorFlow 1.x; without one, no column
    --notes found.jsonl                                  keep what is found, and go on where a run was stopped
    --minutes 24                                         as many rounds as there is time for, at least one
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks import tables
from benchmarks.by_hand import BY_HAND
from benchmarks.programs import PROGRAMS, STREAMS
from benchmarks.turns import Job, Notes, Outcomes, in_turns, run

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
PICTURE = PAGE.with_suffix(".svg")
_NODES = (("batch", 8), ("width", 32), ("words", 100))
SCALING = {
    "batch": [Job("", "perceptron", (("batch", n),)) for n in (1, 10, 100, 1000, 10000)],
    "numbers": [Job("", "elementwise", (("size", n),)) for n in (1000, 10000, 100000, 1000000, 10000000)],
    "nodes": [Job("", "unrolled_lstm", (("steps", n), *_NODES)) for n in (1, 5, 20, 80)],
    "threads": [Job("", name, threads=n) for name in ("perceptron", "elementwise", "lenet") for n in (1, 2)],
    "callers": [Job("", "perceptron", callers=n) for n in (1, 2, 4)],
}
# What stands before the tables of what grows in which way; with callers it is steps a second that are told.
_SCALING_WORDS = {
    "batch": "With the examples of a step:",
    "numbers": "With the numbers of a tensor:",
    "nodes": "With the graph, as a network is unrolled over more steps:",
    "threads": "With the threads of kernels (`intra_op_parallelism_threads`):",
    "callers": "Steps a second of threads that run one session at once:",
}
PARTS = ("scaling", "bandwidth")


class Measured:
    """What is asked for: which jobs that takes, and the text that tells of them."""

    def __init__(self, chosen: Iterable[str], modules: list[str]) -> None:
        self._chosen = list(chosen)
        self._names = [name for name in self._chosen if name in PROGRAMS]
        self._modules = modules
        self._graphs = [m for m in modules if m != "torch"]

    def jobs(self) -> list[Job]:
        """Of all parts, so that a round goes through all of them."""
        jobs = self._programs()
        if "scaling" in self._chosen:
            jobs += [job for what in SCALING for job in self._scaling(what)]
        return jobs + (self._bandwidth() if "bandwidth" in self._chosen else [])

    def _programs(self) -> list[Job]:
        return [Job(m, name) for name in self._names for m in self._modules if m != "torch" or name in BY_HAND]

    def _scaling(self, what: str) -> list[Job]:
        return [job.under(module) for job in SCALING[what] for module in self._graphs]

    def _bandwidth(self) -> list[Job]:
        return [Job("torch", "plain_copy"), *(Job(m, name) for name in STREAMS for m in self._graphs)]

    def programs(self, outcomes: Outcomes) -> Outcomes:
        return {job: outcomes[job] for job in self._programs()}

    def text(self, outcomes: Outcomes) -> str:
        parts = []
        if self._names:
            found = self.programs(outcomes)
            parts += [tables.programs_table(found), "### First steps and memory", tables.beginnings_table(found)]
        if "scaling" in self._chosen:
            parts += ["### How steps grow", "Milliseconds."]
            for what, words in _SCALING_WORDS.items():
                figure = tables.steps_a_second if what == "callers" else tables.with_spread
                parts += [words, tables.scaling_table({job: outcomes[job] for job in self._scaling(what)}, figure)]
        if "bandwidth" in self._chosen:
            parts += [
                "### Memory",
                "Bytes that must be read and written, by the time it takes; sixteen million numbers.",
            ]
            parts.append(tables.bandwidth_table({job: outcomes[job] for job in self._bandwidth()}))
        return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="what", help=f"{', '.join([*PARTS, *PROGRAMS])}")
    parser.add_argument("--tensorflow", metavar="PYTHON", default=os.environ.get("TENSORFLOW_PYTHON"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=24.0, help="after which no further round goes on")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    parser.add_argument("--notes", type=Path, help="a file for what is found; what it holds is not measured again")
    options = parser.parse_args()
    unknown = set(options.names) - {*PROGRAMS, *PARTS}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join([*PARTS, *PROGRAMS])}")
    pythons = {"everflow": sys.executable, "torch": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    once = functools.partial(run, pythons=pythons, seconds=options.seconds)
    measured = Measured(options.names or [*PROGRAMS, *PARTS], [m for m in tables.MODULES if m in pythons])
    outcomes = in_turns(measured.jobs(), once, options.rounds, Notes(options.notes), options.minutes)
    print(measured.text(outcomes))
    if not options.names:
        write(measured, outcomes, options.seconds)


def write(measured: Measured, outcomes: Outcomes, seconds: float) -> None:
    """The page and its picture."""
    from benchmarks.plot import plot_ratios  # needs a library that nothing else does

    plot_ratios(measured.programs(outcomes), PICTURE)
    counts = sorted({len(outcome.rounds) for outcome in outcomes.values()})
    rounds = " to ".join(str(n) for n in dict.fromkeys((counts[0], counts[-1])))
    words = f"on {platform.machine()}, {os.cpu_count()} cores, {rounds} rounds of {seconds:g} s each"
    picture = f"![times as long as Everflow for a step]({PICTURE.name})"
    tables.write_page(
        PAGE,
        f"Milliseconds of a step: medians and, in brackets, the span of medians of processes, {words}.\n\n{picture}\n\n"
        f"{measured.text(outcomes)}",
    )


if __name__ == "__main__":
    main()
