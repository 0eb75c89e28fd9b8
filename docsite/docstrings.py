"""Docstrings in the form of the API reference: what a thing does, then Args, Returns, Raises and an Example.

python -m docsite.docstrings            says which docstrings of the package are not complete
python -m docsite.docstrings --write    adds the arguments that `arguments.py` describes for all, and what examples print

What an argument means to one function is written in that function's docstring. What `name` or `axis` means to hundreds
is in one table; it is written out in the source, where editors and `help` find it, and a test holds both together.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import inspect
import pathlib
import re
import textwrap
from typing import Any

from docsite import arguments, documented, examples

WIDTH = 120
_HEADS = ("Args", "Returns", "Yields", "Raises", "Example")
_HEAD = re.compile(rf"^({'|'.join(_HEADS)}):$", re.MULTILINE)
_ITEM = re.compile(r"^ {4}(\*{0,2}[\w.]+): ", re.MULTILINE)


@dataclasses.dataclass
class Docstring:
    """The parts of a docstring. Args and Raises have an item for each name."""

    text: str
    args: dict[str, str] = dataclasses.field(default_factory=dict)
    returns: str = ""
    yields: str = ""
    raises: dict[str, str] = dataclasses.field(default_factory=dict)
    example: str = ""

    @classmethod
    def parse(cls, doc: str) -> Docstring:
        """The parts of a docstring as `inspect.getdoc` gives it."""
        text, *parts = _HEAD.split(doc)
        found: dict[str, Any] = {head.lower(): body for head, body in zip(parts[::2], parts[1::2])}
        for head in ("args", "raises"):
            found[head] = _items(found.get(head, ""))
        for head in ("returns", "yields"):
            found[head] = " ".join(found.get(head, "").split())
        found["example"] = textwrap.dedent(found.get("example", "").strip("\n")).rstrip()
        return cls(text.strip(), **found)

    def format(self, indent: int) -> str:
        """The docstring as source, quotes and all, for a body that is indented so far."""
        parts = [self.text]
        for head, items in (("Args", self.args), ("Returns", self.returns), ("Yields", self.yields)):
            parts += [f"{head}:\n{_paragraphs(items, indent)}"] if items else []
        parts += [f"Raises:\n{_paragraphs(self.raises, indent)}"] if self.raises else []
        parts += [f"Example:\n{textwrap.indent(self.example, ' ' * 4)}"] if self.example else []
        doc = "\n\n".join(parts) + ("\n" if len(parts) > 1 or "\n" in self.text else "")
        mark = "r" if "\\" in doc else ""
        lines = f'{mark}"""{doc}"""'.split("\n")
        return "\n".join([lines[0], *(" " * indent + line if line else "" for line in lines[1:])])


def _items(body: str) -> dict[str, str]:
    _, *parts = _ITEM.split(body)
    return {name: " ".join(what.split()) for name, what in zip(parts[::2], parts[1::2])}


def _paragraphs(items: str | dict[str, str], indent: int) -> str:
    width = WIDTH - indent
    if isinstance(items, str):
        return textwrap.fill(items, width, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return "\n".join(
        textwrap.fill(
            f"{name}: {what}",
            width,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, what in items.items()
    )


@functools.cache
def _tree(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text())


def definition(thing: Any) -> tuple[pathlib.Path, ast.FunctionDef | ast.ClassDef] | None:
    """The file and the statement that define a function or class; None for what is made by another function."""
    try:
        path = pathlib.Path(inspect.getfile(inspect.unwrap(thing)))
    except TypeError:
        return None
    body: list[ast.stmt] = _tree(path).body
    node = None
    for part in thing.__qualname__.split("."):
        fitting = [n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part]
        if not fitting:
            return None
        node = fitting[-1]
        body = node.body
    return (path, node) if node is not None else None


def completed(thing: Any, doc: Docstring) -> Docstring:
    """A docstring with every argument in the order of the signature, described by the table where not by itself."""
    shared = arguments.shared_by(thing)
    args = {}
    for name in documented.parameters(thing, every=True):
        what = next((doc.args[key] for key in (name, name.lstrip("*")) if key in doc.args), shared.get(name))
        if what:
            args[name] = what
    return dataclasses.replace(doc, args=args)


def rewrite(path: pathlib.Path, docs: dict[ast.FunctionDef | ast.ClassDef, Docstring]) -> None:
    """Write docstrings of definitions into their file."""
    lines = path.read_text().split("\n")
    for node in sorted(docs, key=lambda node: -node.lineno):
        first = node.body[0]
        source = " " * first.col_offset + docs[node].format(first.col_offset)
        has_one = ast.get_docstring(node) is not None
        start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))]) - 1
        lines[start : first.end_lineno if has_one else start] = source.split("\n")
    path.write_text("\n".join(lines))
    _tree.cache_clear()


def complete(write: bool) -> list[str]:
    """Complete the docstrings of all public things; what was, or would be, changed."""
    waiting: dict[pathlib.Path, dict] = {}
    changed = []
    for name, thing in documented.things().items():
        found = definition(thing)
        if found is None or not (own := documented.own_docstring(thing)) or not _HEAD.search(own):
            continue
        path, node = found
        before = Docstring.parse(own)
        doc = completed(thing, before)
        if write and doc.example:
            doc.example = examples.printed(doc.example)
        if doc != before or list(doc.args) != list(before.args):
            changed.append(name)
            waiting.setdefault(path, {})[node] = doc
    if write:
        for path, docs in waiting.items():
            rewrite(path, docs)
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into the source")
    args = parser.parse_args()
    for name in complete(args.write):
        print(f"tf.{name}: {'written' if args.write else 'not as the table has it'}")
    for name, lacks in documented.lacking().items():
        print(f"tf.{name} lacks {', '.join(lacks)}")


if __name__ == "__main__":
    main()
