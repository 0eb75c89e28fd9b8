"""The house has floors: a module imports from its own floor and those below only, and torch is known on two of them."""

import ast
import pathlib

import pytest

from tests import import_graph
from tests.import_graph import ROOT, imports, modules, package

# From the ground up. Every part of the package that is not named here is a tf.X namespace of names of `ops`, on the
# floor NAMESPACES.
FLOORS = [
    {"protos", "version"},
    {"framework"},
    {"platform"},
    {"formats", "native"},
    {"ops"},
    {"kernels"},
    {"runtime"},
    {"cluster"},
    {"eager"},
    {"losses", "metrics", "distributions", "datasets", "profiler", "config", "xla", "autograph", "io"},
    {"summary"},
    {"train"},
    {"data", "saved_model", "debug", "test"},
    {"distribute"},
    {"keras"},
    {"layers"},
    {"rnn"},
    {"feature_column", "lite"},
    {"tpu"},
    {"estimator", "tools", "notebook"},
    {"contrib", "horovod"},
    {"compat", "legacy", "__init__"},
    {"as_tensorflow", "cli", "__main__"},
]
NAMESPACES = 9
KNOW_TORCH = {"kernels", "runtime"}
# Neighbours that must not know each other although one is above the other.
STRANGERS = {("kernels", "ops")}
EXCEPTIONS = {
    # The gradient of a function is drawn when a graph that asks for it first runs.
    ("everflow.kernels.functions", "ops"),
    # The Python functions that py_func calls are kept where they are drawn.
    ("everflow.kernels.script", "ops"),
}


def floor_of(part):
    return next((i for i, parts in enumerate(FLOORS) if part in parts), NAMESPACES)


def test_imports_go_down():
    wrong = []
    for found in imports():
        here, there = package(found.module), package(found.imported)
        if (found.module, there) in EXCEPTIONS or found.kind == "typing":
            continue
        if floor_of(there) > floor_of(here) or (here, there) in STRANGERS:
            wrong.append(f"{found.module}:{found.line} imports {found.imported} ({found.kind})")
    assert not wrong, "\n".join(wrong)


def test_packages_do_not_import_each_other_in_circles():
    assert not import_graph.cycles(import_graph.package_edges("top", "function"))


def test_modules_can_be_imported_one_after_the_other():
    assert not import_graph.cycles(import_graph.edges("top"))


def test_imports_inside_functions_say_why():
    silent = [f"{i.module}:{i.line} {i.imported}" for i in imports() if i.kind == "function" and not i.reason]
    assert not silent, "\n".join(silent)


def test_torch_stays_below():
    wrong = []
    for module, path in modules().items():
        if package(module) in KNOW_TORCH:
            continue
        for node in ast.walk(import_graph.tree(module)):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            wrong += [f"{path}:{node.lineno} imports {name}" for name in names if name.partition(".")[0] == "torch"]
    assert not wrong, "\n".join(wrong)


def test_folders_can_be_taken_in_at_a_glance():
    """Forty files at most; the messages that protoc writes are as many as there are."""
    folders = {path.parent for path in ROOT.rglob("*.py")} - {ROOT / "protos"}
    assert not [folder for folder in folders if len(list(folder.glob("*.py"))) > 40]


def chart() -> str:
    """The floors with what stands on them, and the imports between neighbours, as a Mermaid chart."""
    graph = import_graph.package_edges("top", "function")
    lines = ["flowchart BT"]
    for number, parts in enumerate(FLOORS):
        there = sorted(part for part in parts if part in graph)
        lines.append(f'  floor{number}["{" · ".join(there)}"]')
    found = set()
    for part, imported in graph.items():
        found |= {(floor_of(part), floor_of(other)) for other in imported if floor_of(other) < floor_of(part)}
    # An edge that a way over other floors makes plain is left out.
    below = {n: {b for a, b in found if a == n} for n in range(len(FLOORS))}
    reach: dict[int, set[int]] = {}
    for n in range(len(FLOORS)):
        reach[n] = below[n].union(*(reach[b] for b in below[n]))
    for n in range(len(FLOORS)):
        lines += [
            f"  floor{n} --> floor{b}" for b in sorted(below[n]) if not any(b in reach[c] for c in below[n] - {b})
        ]
    return "\n".join(lines)


@pytest.mark.parametrize("page", ["architecture.md"])
def test_the_architecture_shows_the_import_graph(page):
    text = (pathlib.Path(ROOT).parent / "docs" / page).read_text()
    assert chart() in text, f"docs/{page} needs this chart (`python -m tests.test_floors` prints it):\n{chart()}"


if __name__ == "__main__":
    print(chart())
