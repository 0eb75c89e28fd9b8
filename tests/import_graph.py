"""Who imports whom in the package: at the top of a file, inside functions, for type checkers only, and by name in
strings.
"""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import everflow

ROOT = pathlib.Path(everflow.__file__).parent


class Import(NamedTuple):
    """One import of a module of the package."""

    module: str
    line: int
    imported: str  # a module of the package
    kind: str  # "top", "function", "typing" or "string"
    reason: str  # the comment beside it


@functools.cache
def modules() -> dict[str, pathlib.Path]:
    """{dotted name: file}; what protoc generated is left out."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        if not path.name.endswith("_pb2.py"):
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path
    return found


@functools.cache
def source(module: str) -> str:
    return modules()[module].read_text()


@functools.cache
def tree(module: str) -> ast.Module:
    return ast.parse(source(module), str(modules()[module]))


def nearest(name: str) -> str:
    """The module that a dotted name is, or is in."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def package(module: str) -> str:
    """The part of the package that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


@functools.cache
def imports() -> tuple[Import, ...]:
    """All imports of modules of the package by others of it."""
    return tuple(found for module in modules() for found in _imports_of(module))


def _imports_of(module: str) -> Iterator[Import]:
    lines = source(module).splitlines()
    for node, kind in _statements(tree(module), "top"):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: a relative import"
            names = {nearest(f"{node.module}.{alias.name}") for alias in node.names}
        else:
            names = {nearest(alias.name) for alias in node.names}
        comment = re.search(r"#\s*(?!noqa|type:)(.*)", lines[node.end_lineno - 1])
        before = lines[node.lineno - 2].strip()
        reason = comment[1] if comment else before.removeprefix("#").strip() if before.startswith("#") else ""
        for name in sorted(names - {"", module}):
            yield Import(module, node.lineno, name, kind, reason)
    for node in ast.walk(tree(module)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"everflow(\.\w+)+:?", node.value)
        ):
            named = nearest(node.value.rstrip(":"))
            if named not in ("", module, "everflow"):
                yield Import(module, node.lineno, named, "string", "")


def _statements(node: ast.AST, kind: str) -> Iterator[tuple]:
    """(import statement, its kind), wherever it is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, kind
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _statements(child, "typing")
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _statements(child, "function" if inside and kind == "top" else kind)


def edges(*kinds: str) -> dict[str, set[str]]:
    """{module: the modules it imports} by imports of some kinds."""
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for found in imports():
        if found.kind in kinds:
            graph[found.module].add(found.imported)
    return graph


def package_edges(*kinds: str) -> dict[str, set[str]]:
    """{part: the parts it imports from}."""
    graph: dict[str, set[str]] = {package(name): set() for name in modules()}
    for module, imported in edges(*kinds).items():
        graph[package(module)] |= {package(name) for name in imported} - {package(module)}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan's algorithm, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []
    for start in graph:
        work = [(start, iter(sorted(graph[start])))] if start not in index else []
        while work:
            node, following = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            for other in following:
                if other not in graph:
                    continue
                if other not in index:
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    if len(component) > 1:
                        found.append(sorted(component))
    return found
