"""The documents and the tree agree, and the tree can be read: files open by saying what lives in them, and none is too
long to be read at a sitting.
"""

import ast
import pathlib
import re

import pytest

import everflow

ROOT = pathlib.Path(everflow.__file__).parent
DOCS = ROOT.parent / "docs"


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md")))
def test_files_that_are_named_are_there(page):
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|json|txt|proto))`", (DOCS / page).read_text()))
    there = [
        f"/{path.relative_to(ROOT.parent).as_posix()}"
        for part in ("everflow", "tests", "examples", "benchmarks")
        for path in (ROOT.parent / part).rglob("*.*")
    ]
    # Capitals stand for any name: everflow/ops/FAMILY.py.
    missing = [name for name in named if name.islower() and not any(path.endswith(f"/{name}") for path in there)]
    assert not missing


def test_the_architecture_has_every_package_and_every_file_of_the_runtime():
    page = (DOCS / "architecture.md").read_text()
    packages = [f"{path.parent.name}/" for path in ROOT.glob("*/__init__.py")]
    files = [path.name for path in (ROOT / "runtime").rglob("*.py") if path.name != "__init__.py"]
    stages = re.findall(r"\w+", page[page.index("subgraph plan") : page.index("emit --> call")])
    assert not [name for name in packages if name not in page]
    assert not [name for name in files if name not in page and name.removesuffix(".py") not in stages]


def test_files_say_what_lives_in_them_and_are_short():
    trees = {path: ast.parse(path.read_text()) for path in ROOT.rglob("*.py") if not path.name.endswith("_pb2.py")}
    assert not [path for path, tree in trees.items() if not ast.get_docstring(tree)]
    del trees[ROOT / "__init__.py"]  # which is a list of names
    assert not [path for path, tree in trees.items() if lines_of_code(tree) > 620]


def lines_of_code(tree):
    """The lines of a file without the docstrings of its functions and classes, which are the API reference."""
    documents = [
        node.body[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None
    ]
    return tree.body[-1].end_lineno - sum(doc.end_lineno - doc.lineno for doc in documents)


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_the_readme_counts_the_conformance_cases(page):
    folder = ROOT.parent / "tests" / "conformance"
    cases = len(list((folder / "cases").rglob("*.py")))
    different = [
        line for line in (folder / "expected_failures.txt").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    (row,) = [line for line in (ROOT.parent / page).read_text().splitlines() if "expected_failures.txt" in line]
    assert [int(number) for number in re.findall(r"\d+", row.partition("`tests")[0])] == [cases, len(different)]
