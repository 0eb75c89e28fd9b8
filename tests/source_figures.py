"""Figures of the source that `make metrics` prints and `test_metrics.py` holds.

python -m tests.source_figures
"""

from __future__ import annotations

import ast
import gc
import re
import sys
import tokenize
from collections.abc import Callable

import numpy as np

import everflow as tf
from everflow.framework import raw_ops
from tests import import_graph
from tests.import_graph import ROOT, imports, modules, package, source, tree

CORE = {"framework", "native", "runtime", "kernels", "eager", "cluster", "formats"}
ABOVE_OPS = {
    "protos",
    "version",
    "framework",
    "platform",
    "formats",
    "native",
    "ops",
    "kernels",
    "runtime",
    "cluster",
    "eager",
}


def packages_in_cycles() -> int:
    return sum(map(len, import_graph.cycles(import_graph.package_edges("top", "function"))))


def modules_in_cycles() -> int:
    return sum(map(len, import_graph.cycles(import_graph.edges("top", "function"))))


def imports_inside_functions() -> int:
    return len({(found.module, found.line) for found in imports() if found.kind == "function"})


def largest_folder() -> int:
    return max(len(list(folder.glob("*.py"))) for folder in {p.parent for p in ROOT.rglob("*.py")} - {ROOT / "protos"})


def _functions() -> list[tuple[str, ast.FunctionDef]]:
    return [(m, node) for m in modules() for node in ast.walk(tree(m)) if isinstance(node, ast.FunctionDef)]


def functions_over_50_lines() -> int:
    return sum(1 for _, node in _functions() if _lines_of_code(node) > 50)


def _lines_of_code(node: ast.FunctionDef) -> int:
    """The lines of a function without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return (node.end_lineno or 0) - body[0].lineno + 2


def hints_in_the_core() -> int:
    """Per cent of the core's functions whose parameters and result have hints."""
    core = [node for m, node in _functions() if package(m) in CORE]
    return 100 * sum(map(_is_hinted, core)) // len(core)


def _is_hinted(node: ast.FunctionDef) -> bool:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return node.returns is not None and all(a.annotation is not None for a in arguments if a.arg not in ("self", "cls"))


def unformatted_statements() -> int:
    """`fmt: skip` and `fmt: off` marks."""
    return sum(len(re.findall(r"# fmt: (?:skip|off)", source(m))) for m in modules())


def lines_over_120() -> int:
    """Long lines, but for those that a string makes long."""
    return sum(1 for m in modules() for number in _long_lines(m) if number not in _lines_with_long_strings(m))


def _long_lines(module: str) -> list[int]:
    return [i for i, line in enumerate(source(module).splitlines(), 1) if len(line) > 120]


def _lines_with_long_strings(module: str) -> set[int]:
    found = set()
    with modules()[module].open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
                found |= set(range(token.start[0], token.end[0] + 1))
    return found


def lines_above_ops() -> int:
    """Lines of the packages that stand on ops and the runtime."""
    return sum(len(source(m).splitlines()) for m in modules() if package(m) not in ABOVE_OPS)


# --- data on its way ----------------------------------------------------------------------------


def calls_of(function: Callable[[], object]) -> list[tuple[str, str]]:
    """(file, function) of every Python call that a function makes."""
    found: list[tuple[str, str]] = []

    def note(frame, event, argument):
        if event == "call":
            found.append((frame.f_code.co_filename, frame.f_code.co_name))

    function()
    gc.collect()  # what is collected while it runs would call its finalizers
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found[1:]


def calls_before_a_plan() -> list[tuple[str, str]]:
    """The Python calls of a steady `sess.run` with a feed, until its plan begins."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.matmul(x, tf.ones([3, 2]))
        feeds = {x: np.ones([2, 3], np.float32)}
        for _ in range(60):
            sess.run([y], feeds)
        # The shortest of some: in one of them the plan may be made anew, for these shapes or as machine code.
        calls = min((calls_of(lambda: sess.run([y], feeds)) for _ in range(3)), key=len)
    begin = next(i for i, (file, _) in enumerate(calls) if file.startswith("<plan"))
    return calls[:begin]


def calls_of_a_run() -> int:
    return len(calls_before_a_plan())


def files_of_a_run() -> int:
    return len({file for file, _ in calls_before_a_plan()})


def calls_of_a_node() -> int:
    """The Python calls that add one node to a graph."""
    with tf.Graph().as_default():
        a, b = tf.constant(1.0), tf.constant(2.0)
        raw_ops.AddV2(x=a, y=b)
        return len(calls_of(lambda: raw_ops.AddV2(x=a, y=b)))


# What is measured, and the most (or, for hints, the least) it may be.
BOUNDS: dict[Callable[[], int], int] = {
    packages_in_cycles: 0,
    modules_in_cycles: 39,
    imports_inside_functions: 96,
    largest_folder: 40,
    functions_over_50_lines: 3,
    unformatted_statements: 97,
    lines_over_120: 66,
    calls_of_a_run: 25,
    files_of_a_run: 8,
    calls_of_a_node: 60,
}
AT_LEAST = {hints_in_the_core: 99}


def main() -> None:
    for figure, bound in {**BOUNDS, **AT_LEAST}.items():
        print(f"{figure.__name__.replace('_', ' '):28} {figure():7,}   (bound {bound:,})")
    print(f"{'lines above ops':28} {lines_above_ops():7,}")


if __name__ == "__main__":
    main()
