"""Examples in docstrings are run: each in a folder, a graph and a session of its own.

An example sees what most programs have: `import everflow as tf`, `import numpy as np`, and an open session, `sess`.
One that turns eager execution on has a process of its own.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from docsite.run_page import agree

_PARSER = doctest.DocTestParser()
# What changes the process for good.
_ALONE = ("tf.enable_eager_execution(", "tf.enable_v2_behavior(")


@contextlib.contextmanager
def _surroundings() -> Iterator[dict[str, Any]]:
    here, hook = os.getcwd(), sys.displayhook
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.displayhook = sys.__displayhook__
        tf.keras.backend.clear_session()
        tf.disable_resource_variables()  # some Estimators enable them
        sess = tf.InteractiveSession()
        try:
            yield {"tf": tf, "np": np, "sess": sess, "__name__": "__main__"}
        finally:
            sess.close()
            tf.keras.backend.clear_session()
            tf.summary.FileWriterCache.clear()  # they are known by folders that other examples have, too
            sys.displayhook = hook
            os.chdir(here)


def outputs(example: str) -> list[tuple[doctest.Example, str]]:
    """Every statement of an example with what it printed; the last line of a traceback where it raised."""
    statements = _PARSER.get_examples(example)
    if any(call in example for call in _ALONE):
        command = [sys.executable, "-m", "docsite.examples"]
        done = subprocess.run(command, input=example, text=True, capture_output=True, check=True)
        return list(zip(statements, json.loads(done.stdout)))
    with _surroundings() as names:
        return [(statement, _output(statement.source, names)) for statement in statements]


def _output(source: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<example>", "single"), names)
        except Exception as error:
            told = traceback.format_exception_only(error)[-1].strip().split("\n")[0]
            out.write(f"Traceback (most recent call last):\n    ...\n{told}\n")
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n") if line.strip())


def wrong(example: str) -> list[str]:
    """Where an example prints something else than it shows."""
    return [
        f"{statement.source}shows\n{statement.want}but printed\n{printed}"
        for statement, printed in outputs(example)
        if not agree(statement.want, printed)
    ]


def printed(example: str) -> str:
    """An example with what it prints now; what shows `...` stays as it is where that still holds."""
    parts = []
    for statement, shown in outputs(example):
        first, *more = statement.source.rstrip("\n").split("\n")
        parts += [f">>> {first}", *(f"... {line}".rstrip() for line in more)]
        shown = statement.want if statement.want and agree(statement.want, shown) else shown
        parts += shown.rstrip("\n").split("\n") if shown.strip() else []
    return "\n".join(parts)


def main() -> None:
    """Run the example that is read, in a process where nothing was done before."""
    names = {"tf": tf, "np": np}
    json.dump([_output(statement.source, names) for statement in _PARSER.get_examples(sys.stdin.read())], sys.stdout)


if __name__ == "__main__":
    main()
