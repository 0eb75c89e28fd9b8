"""Random programs beside TensorFlow 1.15.5: the same statements on both sides must draw the same graphs, node for node,
give the same values and raise the same types of errors.

    python -m tests.exchange.random_graphs --tensorflow PYTHON --seeds 0 250 --families ragged keras

PYTHON is an interpreter that has TensorFlow 1.15.5. Without it the programs of the seeds are printed.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.exchange.random_graphs.comparing import difference
from tests.exchange.random_graphs.families import FAMILIES
from tests.exchange.random_graphs.writing import Program, written

OPTIMIZED = "differs only from what TensorFlow's optimizers made of the graph"
SHOWING = Path(__file__).parent / "showing.py"
LIMIT = 120.0  # seconds for one program, after which its process is ended and the next program begins anew


def shown(command: list[str], programs: list[Program], known: Path, **variables: str) -> dict:
    """What programs show by a command that runs `showing.py`; `known` keeps it, so that nothing is run twice."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore", **variables}
    found = _read(known)
    while left := [p for p in programs if p.name not in found]:
        lines = "".join(json.dumps(p.as_json()) + "\n" for p in left)
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryDirectory() as folder:
            given.write(lines)
            given.seek(0)
            process = subprocess.Popen(
                [*command, str(known)], stdin=given, stdout=subprocess.DEVNULL, cwd=folder, env=environment
            )
            _wait(process, known)
        now = _read(known)
        if len(now) == len(found):  # the first of those left ended the process, or did not end
            with known.open("a") as file:
                print(
                    json.dumps([left[0].name, {"errors": [["the program", "died"]], "nodes": [], "values": {}}]),
                    file=file,
                )
        found = _read(known)
    return found


def _wait(process: subprocess.Popen, known: Path) -> None:
    """Until a process ends, or has nothing new to show for too long."""
    size = -1
    while process.poll() is None:
        now = known.stat().st_size if known.exists() else 0
        if now == size:
            process.kill()
        size = now
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            continue


def _read(path: Path) -> dict:
    return dict(json.loads(line) for line in path.open()) if path.exists() else {}


def compare(python: str, programs: list[Program], folder: Path) -> dict[str, tuple[str, str]]:
    """The programs that differ, with what differs and how."""
    command = [python, "-W", "ignore", str(SHOWING)]
    theirs = shown(command, programs, folder / "tensorflow")
    ours = shown([sys.executable, "-m", "everflow", "run", str(SHOWING)], programs, folder / "everflow")
    found = {p.name: difference(theirs[p.name], ours[p.name]) for p in programs}
    found = {name: words for name, words in found.items() if words}
    # TensorFlow's optimizers move constants about, which changes what is rounded away (docs/decisions/the-last-bits.md),
    # and lose values of branches here and there: where the graph as it was drawn gives our values, that was it.
    doubtful = [p for p in programs if p.name in found and found[p.name][0] in ("values", "errors")]
    drawn = shown(command, doubtful, folder / "tensorflow_as_drawn", SHOWING_AS_DRAWN="1") if doubtful else {}
    for name in [p.name for p in doubtful]:
        if difference(drawn[name], ours[name]) is None:
            found[name] = (OPTIMIZED, found[name][1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow 1.15.5")
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 50])
    parser.add_argument("--families", nargs="+", default=sorted(FAMILIES), choices=sorted(FAMILIES))
    parser.add_argument(
        "--keep", metavar="FOLDER", type=Path, help="keep what both sides showed, and use what is there"
    )
    options = parser.parse_args()
    programs = {f: [written(FAMILIES[f], s) for s in range(*options.seeds)] for f in options.families}
    if options.tensorflow is None:
        for program in (p for drawn in programs.values() for p in drawn):
            print(f"# {program.name}", *program.lines, sep="\n")
        return 0
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for family, drawn in programs.items():
            kept = options.keep / family if options.keep else Path(folder) / family
            kept.mkdir(parents=True, exist_ok=True)
            found = compare(options.tensorflow, drawn, kept)
            for name, (kind, words) in found.items():
                print(f"{name}: {kind}: {words}")
            kinds = collections.Counter(kind for kind, _ in found.values())
            print(f"{family}: {len(drawn)} drawn, {len(found)} differ {dict(kinds)}", flush=True)
            differing += sum(kind != OPTIMIZED for kind, _ in found.values())
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
