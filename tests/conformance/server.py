"""Runs cases on request, each in a fork: a case's name a line on stdin, [records, error] as a line of JSON on stdout.

A process of its own keeps the forks clean: the one that runs the tests has threads and other tests' leavings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.conformance import cases


class Server:
    """The side of the tests: starts the process and asks it."""

    def __init__(self):
        root = cases.HERE.parent.parent
        command = [sys.executable, "-m", "tests.conformance.server"]
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, name: str) -> tuple[dict, str | None]:
        """(records, error) of a case."""
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        records, error = json.loads(self._process.stdout.readline())
        return records, error

    def stop(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what anything prints while loading must not get between the answers
    tf = cases.load_tensorflow()
    for line in sys.stdin:
        pid, report = cases.start(tf, line.strip())
        _, status = os.waitpid(pid, 0)
        print(json.dumps(cases.collect(report, status)), file=answers, flush=True)


if __name__ == "__main__":
    serve()
