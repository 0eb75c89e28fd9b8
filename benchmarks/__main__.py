"""Measure Everflow beside TensorFlow 1.15.5 and eager torch, and write docs/performance.md.

python -m benchmarks                                     all, into the page and its picture
python -m benchmarks greedy_decoder elementwise          some programs, to the screen
python -m benchmarks scaling bandwidth                   how steps grow, and what of the memory's speed is reached
    --tensorflow old/bin/python                          an interpreter that has TensorFlow 1.x; without one, no column
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import tables
from benchmarks.by_hand import BY_HAND
from benchmarks.programs import PROGRAMS, STREAMS
from benchmarks.turns import Job, Outcomes, in_turns, run

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
PICTURE = PAGE.with_suffix(".svg")
SCALING = {
    "batch": [Job("", "perceptron", (("batch", n),)) for n in (1, 10, 100, 1000, 10000)],
    "numbers": [Job("", "elementwise", (("size", n),)) for n in (1000, 10000, 100000, 1000000, 10000000)],
    "nodes": [
        Job("", "unrolled_lstm", (("steps", n), ("batch", 8), ("width", 32), ("words", 100))) for n in (1, 5, 20, 80)
    ],
    "callers": [Job("", "perceptron", (), n) for n in (1, 2, 4)],
}
Measure = Callable[[list[Job]], Outcomes]


def under(modules: list[str], jobs: list[Job]) -> list[Job]:
    return [Job(module, j.program, j.arguments, j.callers) for j in jobs for module in modules]


def programs(names: list[str], modules: list[str], measure: Measure) -> tuple[str, Outcomes]:
    jobs = [Job(m, name) for name in names for m in modules if m != "torch" or name in BY_HAND]
    outcomes = measure(jobs)
    text = f"{tables.programs_table(outcomes)}\n\n### First steps and memory\n\n{tables.beginnings_table(outcomes)}"
    return text, outcomes


def scaling(modules: list[str], measure: Measure) -> str:
    parts = []
    for what in ("batch", "numbers", "nodes"):
        parts.append(tables.scaling_table(measure(under(modules, SCALING[what]))))
    together = measure(under(modules, SCALING["callers"]))
    parts.append("Steps a second of threads that run one session at once:")
    parts.append(tables.scaling_table(together, lambda o: tables.number(o.median("steps_a_second"))))
    return "### How steps grow\n\nMilliseconds.\n\n" + "\n\n".join(parts)


def bandwidth(modules: list[str], measure: Measure) -> str:
    jobs = [Job("torch", "plain_copy"), *(Job(m, name) for name in STREAMS for m in modules)]
    text = "### Memory\n\nBytes that must be read and written, by the time it takes; sixteen million numbers.\n\n"
    return text + tables.bandwidth_table(measure(jobs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="what", help=f"scaling, bandwidth, {', '.join(PROGRAMS)}")
    parser.add_argument("--tensorflow", metavar="PYTHON", default=os.environ.get("TENSORFLOW_PYTHON"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--threads", type=int, default=0, help="of kernels; 0: as many as each library likes")
    options = parser.parse_args()
    unknown = set(options.names) - {*PROGRAMS, "scaling", "bandwidth"}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are scaling, bandwidth, {', '.join(PROGRAMS)}")
    pythons = {"everflow": sys.executable, "torch": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    modules = [m for m in tables.MODULES if m in pythons]
    once = functools.partial(run, pythons=pythons, seconds=options.seconds, threads=options.threads)
    measure = functools.partial(in_turns, measure=once, rounds=options.rounds)
    graphs = [m for m in modules if m != "torch"]
    chosen = options.names or [*PROGRAMS, "scaling", "bandwidth"]
    parts, outcomes = [], {}
    if names := [name for name in chosen if name in PROGRAMS]:
        text, outcomes = programs(names, modules, measure)
        parts.append(text)
    parts += [part(graphs, measure) for part in (scaling, bandwidth) if part.__name__ in chosen]
    text = "\n\n".join(parts)
    print(text)
    if not options.names:
        from benchmarks.plot import plot_ratios  # needs a library that nothing else does

        plot_ratios(outcomes, PICTURE)
        threads = f"{options.threads} threads" if options.threads else f"{os.cpu_count()} cores"
        machine = f"{platform.machine()}, {threads}, {options.rounds} rounds of {options.seconds:g} s"
        picture = f"![times as long as Everflow for a step]({PICTURE.name})"
        tables.write_page(
            PAGE, f"Medians and, in brackets, the span of medians of processes, on {machine}.\n\n{picture}\n\n{text}"
        )


if __name__ == "__main__":
    main()
