"""Run cases and write expected_failures.txt anew: `python -m tests.conformance.update [--jobs N] [--dry-run]
[--verbose] [PATTERN ...]`.

With patterns, only the lines of the cases whose AREA/NAME contains one are changed. Prints a table by area.
"""

from __future__ import annotations

import argparse
import collections
import os

from tests.conformance import cases
from tests.conformance.compare import KINDS, judge, kinds_of

_HEADER = """\
# Cases that are not yet as TensorFlow 1.15.5 shows them, and in what: value, graph, attrs, seeded (see compare.py).
# A question mark: good at times, bad at times, so held to neither. Written by `python -m tests.conformance.update`.
"""


def run_all(tf, names: list[str], jobs: int):
    """Yield (name, records, error) as each case ends."""
    waiting, running = collections.deque(names), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.popleft()
            pid, report = cases.start(tf, name)
            running[pid] = (name, report)
        pid, status = os.wait()
        name, report = running.pop(pid)
        yield name, *cases.collect(report, status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--dry-run", action="store_true", help="leave the list as it is")
    parser.add_argument("--verbose", action="store_true", help="say what fell short")
    args = parser.parse_args()

    expected = cases.expected_failures() if cases.EXPECTED_FAILURES.exists() else {}
    areas: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for name, records, error in run_all(cases.load_tensorflow(), cases.names(*args.patterns), args.jobs):
        golden = cases.golden(name)
        short = judge(golden, records, error)
        # What somebody found to be unsteady stays so until it is taken off by hand.
        unsteady = {kind for kind in expected.pop(name, ()) if kind.startswith("?")}
        found = unsteady | {kind for kind in short if "?" + kind not in unsteady}
        if found:
            expected[name] = found
        if short:
            if args.verbose:
                print(name, *(f"    {kind}: {line}" for kind, words in short.items() for line in words), sep="\n")
        for kind in kinds_of(golden):
            areas[name.partition("/")[0]][kind] += 1
            areas[name.partition("/")[0]][kind, "good"] += kind not in short

    rows = sorted(areas.items())
    rows.append(("total", sum((tally for _, tally in rows), collections.Counter())))
    print(f"{'area':16}", *(f"{kind:>9}" for kind in KINDS))
    for area, tally in rows:
        print(f"{area:16}", *(f"{tally[kind, 'good']:4}/{tally[kind]:<4}" for kind in KINDS))
    if not args.dry_run:
        lines = [
            f"{name}: {' '.join(mark + kind for kind in KINDS for mark in ('', '?') if mark + kind in kinds)}\n"
            for name, kinds in sorted(expected.items())
        ]
        cases.EXPECTED_FAILURES.write_text(_HEADER + "".join(lines))


if __name__ == "__main__":
    main()
