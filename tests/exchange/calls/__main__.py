"""Every public function called beside TensorFlow 1.15.5 with the same handful of arguments, fitting or not: it must draw the
same nodes, refused calls included, and return or raise the same.

    python -m tests.exchange.calls --tensorflow PYTHON --namespaces math nn

PYTHON is an interpreter that has TensorFlow 1.15.5. Some 40,000 calls take five minutes on each side.
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

from tests.exchange.calls.showing import NAMESPACES

SHOWING = Path(__file__).parent / "showing.py"


def shown(command: list[str], namespaces: list[str], result: Path) -> dict[str, list]:
    """What each call showed, by its text."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}
    # Warnings and notices of deprecation are each side's own.
    arguments = [*command, str(SHOWING), str(result), *namespaces]
    subprocess.run(arguments, check=True, env=environment, cwd=result.parent, stderr=subprocess.DEVNULL)
    return json.loads(result.read_text())


def difference(theirs: list, ours: list) -> str:
    """In what the outcomes of a call differ, in words."""
    (outcome, nodes), (our_outcome, our_nodes) = theirs, ours
    words = [] if outcome == our_outcome else [f"TensorFlow {outcome}, ours {our_outcome}"]
    missing = [node[0] for node in nodes if node not in our_nodes]
    more = [node[0] for node in our_nodes if node not in nodes]
    words += [f"without {', '.join(missing[:4])}"] if missing else []
    words += [f"beyond it {', '.join(more[:4])}"] if more else []
    return "; ".join(words) or "nodes in another order"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", required=True, help="an interpreter with TensorFlow 1.15.5")
    parser.add_argument("--namespaces", nargs="+", default=NAMESPACES, choices=NAMESPACES, metavar="NAME")
    parser.add_argument("--each", type=int, default=2, help="how many differing calls of a function to show")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        theirs = shown([options.tensorflow, "-W", "ignore"], options.namespaces, Path(folder) / "tensorflow.json")
        everflow = [sys.executable, "-m", "everflow", "run"]
        ours = shown(everflow, options.namespaces, Path(folder) / "everflow.json")
    differing = collections.defaultdict(list)
    for call, outcome in theirs.items():
        if outcome != ours.get(call):
            differing[call.split("(")[0]].append(call)
    for calls in differing.values():
        for call in calls[: options.each]:
            print(f"{call}: {difference(theirs[call], ours.get(call, ['not called', []]))}")
    count = sum(map(len, differing.values()))
    print(f"{len(theirs)} calls, {count} differ, of {len(differing)} functions")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
