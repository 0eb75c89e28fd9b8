"""Which TensorFlow a program was written for, by its source: 0.x, 1.x or 2.

Only what 1.x surely refuses counts as a sign of 0.x: names that it dropped, and calls in an order that it has no sense
for. A program that has a sign of 1.x as well, or that asks itself which version it runs on, is one of 1.x.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import everflow
from everflow.framework import api_names
from everflow.legacy.paths import module_paths
from everflow.legacy.tf0.table import parameters, rows

# Namespaces and names that came with 1.x; 0.12 has none of them.
_MODERN = frozenset(
    "data estimator keras layers losses metrics feature_column distributions initializers AUTO_REUSE random math linalg "
    "strings io lookup debugging dtypes nn.static_rnn nn.static_bidirectional_rnn nn.softmax_cross_entropy_with_logits_v2 "
    "enable_eager_execution contrib.data contrib.eager contrib.legacy_seq2seq contrib.rnn.BasicLSTMCell "
    "contrib.rnn.LSTMCell contrib.rnn.GRUCell contrib.rnn.BasicRNNCell contrib.rnn.MultiRNNCell contrib.rnn.static_rnn "
    "contrib.rnn.DropoutWrapper".split()
)
# Names of 2 besides those in compat/v2_names.txt.
_LATER = frozenset(
    "random.set_seed optimizers.Adam optimizers.SGD summary.create_file_writer config.run_functions_eagerly data.AUTOTUNE config.list_physical_devices config.set_visible_devices keras.utils.set_random_seed "
    "keras.utils.image_dataset_from_directory keras.layers.Normalization keras.layers.Rescaling keras.layers.RandomFlip "
    "keras.layers.RandomRotation keras.layers.TextVectorization keras.layers.StringLookup keras.layers.MultiHeadAttention "
    "keras.mixed_precision keras.optimizers.legacy keras.optimizers.AdamW random.Generator types.experimental".split()
)
# What a program catches that only tries whether a name is there.
_TRIED = frozenset(
    "AttributeError ImportError ModuleNotFoundError TypeError ValueError Exception BaseException".split()
)
_OLD_NAMESPACES = frozenset(("nn.seq2seq", "contrib.skflow", "contrib.ctc"))
_OLD_PATHS = ("models.", "g3doc.", "contrib.skflow", "contrib.ctc", "python.ops.seq2seq")


class Sign(NamedTuple):
    """A place in a program that tells which TensorFlow it is for."""

    version: int
    what: str
    file: str
    line: int


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_many(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple, ast.ListComp))


def _by_axis(old: int, new: int) -> Callable[[list[ast.expr]], int | None]:
    """Judges calls by where a literal axis stands: at the old place, or at the new one."""

    def judge(args: list[ast.expr]) -> int | None:
        if len(args) > max(old, 1) and _is_number(args[old]):
            return 0
        return 1 if _is_many(args[0]) or (len(args) > new and _is_number(args[new])) else None

    return judge


def _any_positional(args: list[ast.expr]) -> int | None:
    return 0 if args else None


def _booleans(args: list[ast.expr]) -> int | None:
    flags = args[1].elts if len(args) > 1 and isinstance(args[1], (ast.List, ast.Tuple)) else []
    return 0 if any(isinstance(e, ast.Constant) and isinstance(e.value, bool) for e in flags) else None


def _by_labels(old: int, new: int) -> Callable[[list[ast.expr]], int | None]:
    """Judges calls by where an argument stands that the program itself calls labels or targets."""

    def judge(args: list[ast.expr]) -> int | None:
        named = [i for i, arg in enumerate(args) if re.search("label|target", ast.unparse(arg), re.IGNORECASE)]
        return 0 if old in named and new not in named else 1 if new in named and old not in named else None

    return judge


# What the positional arguments of a call say of its version; None where nothing.
_CALLS: dict[str, Callable[[list[ast.expr]], int | None]] = {
    "concat": _by_axis(0, 1),
    "split": _by_axis(0, 2),
    "reverse": _booleans,
    "nn.softmax_cross_entropy_with_logits": _any_positional,
    "nn.sparse_softmax_cross_entropy_with_logits": _any_positional,
    "nn.sigmoid_cross_entropy_with_logits": _any_positional,
    "nn.nce_loss": _by_labels(3, 2),
    "nn.sampled_softmax_loss": _by_labels(3, 2),
    "nn.ctc_loss": _by_labels(1, 0),
    "nn.weighted_cross_entropy_with_logits": _by_labels(1, 0),
    "image.resize_images": lambda args: 0 if len(args) > 2 and _is_number(args[1]) else None,
}


@functools.cache
def _keywords(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The keywords that only 0.12 takes in a call, and those that only 1.x takes."""
    today = api_names.resolve(everflow, name)
    old, new = set(parameters(name)), set(inspect.signature(today).parameters) if today else set()
    return frozenset(old - new), frozenset(new - old)


class _Reader(ast.NodeVisitor):
    """Collects the signs in a module."""

    def __init__(self, file: str):
        self._file = file
        self.signs: list[Sign] = []
        self._roots: dict[str, str] = {}  # a name in the module: the path below `tensorflow` that it stands for

    def _found(self, version: int, what: str, node: ast.AST) -> None:
        self.signs.append(Sign(version, what, self._file, node.lineno))

    def _path(self, path: str, node: ast.AST) -> None:
        """A module or name below `tensorflow` that the program imports or touches."""
        parts = path.split(".")
        if parts[:2] == ["compat", "v1"]:
            self._found(1, f"tf.{path}", node)
            return self._path(".".join(parts[2:]), node)
        prefixes = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
        if prefixes & _MODERN:
            self._found(1, f"tf.{path}", node)
        is_gone = path in rows() and (path.startswith("contrib.") or not api_names.in_tensorflow(path))
        if is_gone or prefixes & _OLD_NAMESPACES:
            self._found(0, f"tf.{path}", node)
        elif _is_of_2(path):
            self._found(2, f"tf.{path}", node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root, _, rest = alias.name.partition(".")
            if root == "tensorflow":
                self._roots[alias.asname or "tensorflow"] = rest if alias.asname else ""
                self._imported(rest, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        root, _, rest = (node.module or "").partition(".")
        if root != "tensorflow" or node.level:
            return
        for alias in node.names:
            path = f"{rest}.{alias.name}" if rest else alias.name
            self._roots[alias.asname or alias.name] = path
            self._imported(path, node)

    def _imported(self, path: str, node: ast.AST) -> None:
        if f"{path}.".startswith(_OLD_PATHS) and path not in module_paths():
            self._found(0, f"tensorflow.{path}", node)
        elif path:
            self._path(path, node)

    def _name(self, node: ast.expr) -> str | None:
        """The path below `tensorflow` of an expression like `tf.nn.relu`."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._roots:
            return None
        return ".".join(filter(None, [self._roots[node.id], *reversed(parts)]))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if path := self._name(node):
            self._path(path, node)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._name(node.func) or ""
        if name in rows() and api_names.in_tensorflow(name):
            version = _CALLS[name](node.args) if name in _CALLS and node.args else None
            given = {keyword.arg for keyword in node.keywords}
            if rows()[name].parameters is not None:
                old, new = _keywords(name)
                version = 0 if given & old else 1 if given & new else version
            if version is not None:
                self._found(version, f"tf.{name}({ast.unparse(node).partition('(')[2][:40]}", node)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        """What a program only tries, it can do without: of that only its imports are looked at, to know their names."""
        caught = [handler.type for handler in node.handlers]
        names = {n.id for kind in caught if kind is not None for n in ast.walk(kind) if isinstance(n, ast.Name)}
        if None not in caught and not names & _TRIED:
            self.generic_visit(node)
            return
        before = list(self.signs)
        for statement in (*node.body, *(s for handler in node.handlers for s in handler.body)):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self.visit(statement)
        self.signs = before
        for statement in (*node.orelse, *node.finalbody):
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        """Nor does it tell anything what a program does on one version only."""
        asked = {getattr(n, "attr", getattr(n, "id", None)) for n in ast.walk(node.test)}
        if not asked & {"__version__", "VERSION", "hasattr", "version"}:
            self.generic_visit(node)


def _is_of_2(path: str) -> bool:
    """Whether 2 has a name and 1.15 hasn't, not even by another way."""
    if api_names.in_tensorflow(path) or path.startswith(("python.", "compat.", "core.")):
        return False
    return path in _LATER or path in _names_of_2()


@functools.cache
def _names_of_2() -> frozenset[str]:
    return frozenset((pathlib.Path(everflow.compat.__file__).with_name("v2_names.txt")).read_text().split())


def signs(source: str | bytes, file: str) -> list[Sign]:
    """What in a module tells which TensorFlow it was written for."""
    reader = _Reader(file)
    reader.visit(ast.parse(source))
    return reader.signs


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield from [module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)]


def sources(
    source: str | bytes, file: str, folder: str, change: Callable[[str | bytes], str | bytes]
) -> Iterator[tuple[str | bytes, str]]:
    """A program's source and those of its own modules, which lie in its folder: (source, file). `change` makes Python 3
    of it.
    """
    waiting, seen = [(source, file)], {file}
    while waiting:
        source, file = waiting.pop()
        yield source, file
        try:
            tree = ast.parse(change(source))
        except (SyntaxError, ValueError):
            continue
        for name in _imports(tree):
            path = os.path.join(folder, *name.split("."))
            for found in (f"{path}.py", os.path.join(path, "__init__.py")):
                if found not in seen and os.path.isfile(found):
                    seen.add(found)
                    with open(found, "rb") as opened:
                        waiting.append((opened.read(), found))


def first_sign(found: list[Sign]) -> Sign | None:
    """The sign that decides: the first of 0.x where there is none of 1.x, else the first of 2 where there is one."""
    versions = {sign.version for sign in found}
    decisive = 0 if 0 in versions and 1 not in versions else 2 if 2 in versions and 0 not in versions else None
    return next((sign for sign in found if sign.version == decisive), None)
