"""Rewrite programs of TensorFlow 1 for TensorFlow 2: names that are elsewhere, arguments that have other places, and
`tf.compat.v1` for the rest. `--mode SAFETY` only changes the import.

python -m everflow.compat.upgrade --infile train.py --outfile train_v2.py
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import json
import os
import pathlib
import shutil
import sys
from typing import NamedTuple

import everflow
from everflow.compat import signatures
from everflow.framework import api_names

_RULE = "-" * 80
_RENAMED = {
    "dimension": "axis",
    "reduction_indices": "axis",
    "keep_dims": "keepdims",
    "squeeze_dims": "axis",
    "dim": "axis",
}
_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")


class Note(NamedTuple):
    level: str
    line: int
    column: int
    text: str


class _Edit(NamedTuple):
    """Bytes of a line to be replaced."""

    line: int
    begin: int
    end: int
    text: str


@functools.cache
def _same_in_2():
    return frozenset(pathlib.Path(__file__).with_name("v2_names.txt").read_text().split())


class _Function(NamedTuple):
    """A function that has other arguments in 2: their names there, and {name in 1: name in 2} of some."""

    parameters: list[str]
    renamed: dict[str, str]


@functools.cache
def _changed_in_2():
    """{name: _Function}."""
    found = {}
    for name, line in signatures.lines().items():
        taken, *changes = line.removeprefix(name).split("  ")
        renamed = {new: old for old, sign, new in (change.partition(">") for change in changes) if sign}
        found[name] = _Function(list(signatures.signature(taken).parameters), _RENAMED | renamed)
    return found


def _today(name):
    return api_names.resolve(everflow, name)


@functools.cache
def _home_in_2(name):
    """Where 2 has what 1 also calls `name`: tf.log is tf.math.log."""
    thing, last = _today(name), name.rpartition(".")[2]
    same = [n for n in sorted(_same_in_2()) if n.rpartition(".")[2] == last and "." in n]
    return next((n for n in same if thing is not None and _today(n) is thing), None)


class _Upgrade(ast.NodeVisitor):
    """Collects what to change in a module, and what to tell."""

    def __init__(self):
        self.edits, self.notes, self._roots = [], [], set()

    def _say(self, level, node, text):
        self.notes.append(Note(level, node.lineno, node.col_offset, text))

    def visit_Import(self, node):
        self._roots |= {alias.asname or alias.name for alias in node.names if alias.name == "tensorflow"}

    def _name(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        known = isinstance(node, ast.Name) and node.id in self._roots and parts
        return (node, ".".join(reversed(parts))) if known else (None, None)

    def visit_Call(self, node):
        root, name = self._name(node.func)
        if name in _changed_in_2() and not self._with_keywords(node, name):
            self._renamed(root, node.func, name, f"compat.v1.{name}")
            for child in (*node.args, *node.keywords):
                self.visit(child)
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ITERATORS and self._roots and not node.args:
            self._made_a_function(node, node.func)
        self.generic_visit(node)

    def _made_a_function(self, node, method):
        """`dataset.make_one_shot_iterator()` as a function of the dataset."""
        dataset, function = method.value, f"{min(self._roots)}.compat.v1.data.{method.attr}"
        if dataset.end_lineno == node.end_lineno:
            self.edits.append(_Edit(dataset.lineno, dataset.col_offset, dataset.col_offset, f"{function}("))
            self.edits.append(_Edit(node.end_lineno, dataset.end_col_offset, node.end_col_offset, ")"))
        self._say(
            "WARNING", node, f"dataset.{method.attr}() is {function}(dataset) in 2; look whether that is a dataset."
        )

    def _with_keywords(self, node, name):
        """Name the positional arguments of a call, and give keywords their new names; False where 2 has no place for one."""
        (wanted, renamed), taken = _changed_in_2()[name], list(inspect.signature(_today(name)).parameters)
        if len(node.args) > len(taken) or any(isinstance(a, ast.Starred) for a in node.args):
            return False
        named = [k if k in wanted else renamed.get(k, k) for k in taken[: len(node.args)]]
        keywords = {k.arg: k.arg if k.arg in wanted else renamed.get(k.arg or "", "") for k in node.keywords}
        if not {*named, *keywords.values()} <= set(wanted):
            return False
        if named != wanted[: len(named)]:
            for argument, keyword in zip(node.args, named):
                self.edits.append(_Edit(argument.lineno, argument.col_offset, argument.col_offset, f"{keyword}="))
            self._say("INFO", node, f"Added keywords to args of function 'tf.{name}'")
        for keyword in node.keywords:
            if keywords[keyword.arg] != keyword.arg:
                end = keyword.col_offset + len(keyword.arg)
                self.edits.append(_Edit(keyword.lineno, keyword.col_offset, end, keywords[keyword.arg]))
                self._say(
                    "INFO",
                    node,
                    f"Renamed keyword argument for tf.{name} from {keyword.arg} to {keywords[keyword.arg]}",
                )
        return True

    def visit_Attribute(self, node):
        root, name = self._name(node)
        if name is None:
            self.generic_visit(node)
        elif name.partition(".")[0] == "contrib":
            self._say("ERROR", node, f"tf.{name} is in tf.contrib, which TensorFlow 2 hasn't: it needs another way.")
        elif name not in _same_in_2() and name not in _changed_in_2() and not _is_namespace(name):
            if api_names.in_tensorflow(name):
                self._renamed(root, node, name, _home_in_2(name) or f"compat.v1.{name}")

    def _renamed(self, root, node, name, new):
        begin = root.end_col_offset
        if node.end_lineno == root.lineno:
            self.edits.append(_Edit(root.lineno, begin, node.end_col_offset, f".{new}"))
            self._say("INFO", node, f"Renamed 'tf.{name}' to 'tf.{new}'")
        else:
            self._say("WARNING", node, f"tf.{name} is tf.{new} in 2; it goes over several lines and is left as it is.")


def _is_namespace(name):
    return any(held.startswith(f"{name}.") for held in _same_in_2()) or name.startswith("compat.")


class _Safety(ast.NodeVisitor):
    """Only the import: everything else stays, in the behaviour of 1."""

    def __init__(self):
        self.edits, self.notes = [], []

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name == "tensorflow":
                name = alias.asname or "tensorflow"
                end = node.end_col_offset
                made = f"import tensorflow.compat.v1 as {name}\n{' ' * node.col_offset}{name}.disable_v2_behavior()"
                if len(node.names) == 1 and node.end_lineno == node.lineno:
                    self.edits.append(_Edit(node.lineno, node.col_offset, end, made))
                    self.notes.append(
                        Note("INFO", node.lineno, node.col_offset, f"Changed the import to '{made.splitlines()[0]}'")
                    )

    def visit_Attribute(self, node):
        text = ast.unparse(node)
        if ".contrib." in text and text.partition(".")[0] in ("tf", "tensorflow"):
            self.notes.append(
                Note("ERROR", node.lineno, node.col_offset, f"{text} is in tf.contrib, which TensorFlow 2 hasn't.")
            )


def upgraded(source, mode="DEFAULT"):
    """(the program for 2, [Note])."""
    reader = _Safety() if mode == "SAFETY" else _Upgrade()
    reader.visit(ast.parse(source))
    lines = source.encode().split(b"\n")
    for edit in sorted(reader.edits, key=lambda e: (e.line, e.begin), reverse=True):
        line = lines[edit.line - 1]
        lines[edit.line - 1] = line[: edit.begin] + edit.text.encode() + line[edit.end :]
    return b"\n".join(lines).decode(), sorted(reader.notes, key=lambda n: (n.line, n.column))


def _upgraded_notebook(text, mode):
    """A notebook, cell by cell; what isn't Python stays."""
    book, notes = json.loads(text), []
    seen = "import tensorflow as tf\n"  # cells know what those before them imported
    for cell in book.get("cells", []):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            has_import = mode == "SAFETY" or seen.strip() in source
            try:
                made, found = upgraded(source if has_import else seen + source, mode)
            except SyntaxError:
                continue
            notes += found
            cell["source"] = (made if has_import else made.removeprefix(seen)).splitlines(keepends=True)
    return json.dumps(book, indent=1) + "\n", notes


def _file(infile, outfile, mode):
    """Convert a file; its notes."""
    text = pathlib.Path(infile).read_text(encoding="utf-8")
    try:
        made, notes = _upgraded_notebook(text, mode) if infile.endswith(".ipynb") else upgraded(text, mode)
    except SyntaxError as e:
        return [Note("ERROR", e.lineno or 0, e.offset or 0, f"Failed to parse: {e.msg}")]
    os.makedirs(os.path.dirname(os.path.abspath(outfile)), exist_ok=True)
    pathlib.Path(outfile).write_text(made, encoding="utf-8")
    return notes


def _files(args):
    """[(from, to)] of what the flags name, and what else to copy."""
    if args.input_file:
        if not args.output_file and not args.inplace:
            raise ValueError("--infile needs an --outfile to write to, or --inplace")
        return [(args.input_file, args.output_file or args.input_file)], []
    if not args.input_tree:
        return [], []
    if not args.output_tree and not args.inplace:
        raise ValueError("--intree needs an --outtree to write to, or --inplace")
    out, converted, others = args.output_tree or args.input_tree, [], []
    for folder, _, names in os.walk(args.input_tree):
        for name in sorted(names):
            path = os.path.join(folder, name)
            pair = path, os.path.join(out, os.path.relpath(path, args.input_tree))
            (converted if name.endswith((".py", ".ipynb")) else others).append(pair)
    return converted, others if args.copy_other_files and args.output_tree else []


def _report(found):
    issues = {file: [n for n in notes if n.level != "INFO"] for file, (_, notes) in found.items()}
    lines = ["TensorFlow 2.0 Upgrade Script", "-" * 29, f"Converted {len(found)} files"]
    lines += [f"Detected {sum(map(len, issues.values()))} issues that require attention", _RULE]
    for file, notes in issues.items():
        if notes:
            lines += [
                _RULE,
                f"File: {file}",
                _RULE,
                *(f"{file}:{n.line}:{n.column}: {n.level}: {n.text}" for n in notes),
            ]
    return "\n".join(lines) + "\n"


def _details(found):
    lines = ["=" * 80, "Detailed log follows:\n", "=" * 80]
    for file, (out, notes) in found.items():
        lines += [_RULE, f"Processing file {file!r}", f" outputting to {out!r}", f"{_RULE}\n"]
        lines += [f"{n.line}:{n.column}: {n.level}: {n.text}" for n in notes]
        lines += [_RULE]
    return "\n".join(lines) + "\n"


def _parser():
    parser = argparse.ArgumentParser(
        prog="tf_upgrade_v2", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--infile", dest="input_file", help="a file to convert")
    parser.add_argument("--outfile", dest="output_file", help="where to write it")
    parser.add_argument("--intree", dest="input_tree", help="a folder to convert, with all below it")
    parser.add_argument("--outtree", dest="output_tree", help="where to write it")
    parser.add_argument(
        "--copyotherfiles",
        dest="copy_other_files",
        default=True,
        type=lambda t: t.lower() != "false",
        help="whether to copy what is no program (true)",
    )
    parser.add_argument("--inplace", action="store_true", help="write over the files that are converted")
    parser.add_argument(
        "--reportfile", dest="report_filename", default="report.txt", help="where to write the report (report.txt)"
    )
    parser.add_argument(
        "--mode", choices=["DEFAULT", "SAFETY"], default="DEFAULT", help="change names, or only the import"
    )
    parser.add_argument("--print_all", action="store_true", help="print the whole log")
    return parser


def main(argv=None):
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        converted, others = _files(args)
    except ValueError as e:
        parser.error(str(e))
    if not converted:
        parser.print_help()
        return 0
    found = {file: (out, _file(file, out, args.mode)) for file, out in converted}
    for file, out in others:
        os.makedirs(os.path.dirname(out), exist_ok=True)
        shutil.copy(file, out)
    report, details = _report(found), _details(found)
    pathlib.Path(args.report_filename).write_text(report + details, encoding="utf-8")
    print(report + (details if args.print_all else ""))
    print(f"\nThe whole log is in {args.report_filename!r}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
