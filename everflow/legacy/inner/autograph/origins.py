"""`pyct.origin_info`: where in a file the nodes of a tree come from."""

from __future__ import annotations

import inspect
import io
import os
import tokenize
from typing import NamedTuple

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import sources, tree_tools
from everflow.legacy.inner.autograph.trees import nodes


class LineLocation(NamedTuple):
    """A line of a file."""

    filename: str | None
    lineno: int


class Location(NamedTuple):
    """A place in a file."""

    filename: str | None
    lineno: int
    col_offset: int

    @property
    def line_loc(self):
        """Its line."""
        return LineLocation(self.filename, self.lineno)


class OriginInfo(NamedTuple):
    """Where a node comes from: the place, the function around it, the line's text and the comment in it."""

    loc: Location
    function_name: str | None
    source_code_line: str
    comment: str | None

    def as_frame(self):
        """The same as a line of a traceback has it."""
        return self.loc.filename, self.loc.lineno, self.function_name, self.source_code_line

    def __repr__(self):
        return ":".join(str(part) for part in (os.path.basename(self.loc.filename or ""), *self.loc[1:]))


class OriginResolver(nodes.NodeVisitor):
    """The walk that notes on nodes where they come from."""

    def __init__(self, root_node, source_lines, comments_map, context_lineno, context_col_offset, filepath):
        self._lines, self._comments, self._filepath = source_lines, comments_map, filepath
        first = getattr(root_node, "lineno", 1)
        decorated = getattr(root_node, "decorator_list", None)
        # A function's line is that of its `def`, whether Python or what carried the tree counted decorators, too.
        self._line_shift = context_lineno - min([first, *(node.lineno for node in decorated or ())])
        self._column_shift = context_col_offset - getattr(root_node, "col_offset", 0)
        self._functions: list[str] = []

    def visit(self, node):
        """Visit one node."""
        entered = isinstance(node, nodes.FunctionDef)
        if entered:
            self._functions.append(node.name)
        if hasattr(node, "lineno"):
            self._note(node)
        self.generic_visit(node)
        if entered:
            self._functions.pop()

    def _note(self, node):
        place = Location(self._filepath, node.lineno + self._line_shift, node.col_offset + self._column_shift)
        function = self._functions[-1] if self._functions else None
        text = self._lines[node.lineno - 1] if node.lineno <= len(self._lines) else ""
        anno.setanno(node, anno.Basic.ORIGIN, OriginInfo(place, function, text, self._comments.get(node.lineno)))


def create_source_map(nodes, code, filepath):
    """{line of the file: where it comes from} for trees that were written as `code` to a file."""
    written = sources.parse_str(code, single_node=False)
    given = list(nodes) if isinstance(nodes, (list, tuple)) else [nodes]
    found = {}
    for before, after in tree_tools.parallel_walk(given, written):
        origin = anno.getanno(before, anno.Basic.ORIGIN, None) if hasattr(before, "_fields") else None
        line = LineLocation(filepath, getattr(after, "lineno", 0))
        if origin is None or not hasattr(after, "lineno"):
            continue
        # Of several nodes in a line the first that begins it says where it comes from.
        if line not in found or origin.loc.line_loc < found[line].loc.line_loc:
            found[line] = origin
    return found


def resolve(node, source, context_filepath, context_lineno, context_col_offset):
    """Note where the nodes of a tree come from; the tree is that of `source`, which begins at a place of a file."""
    comments = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = token.string.strip()[1:].strip()
    except (tokenize.TokenError, IndentationError):
        pass  # a piece of a file may end anywhere; what it has of comments until there is known
    resolver = OriginResolver(node, source.split("\n"), comments, context_lineno, context_col_offset, context_filepath)
    resolver.visit(node)


def resolve_entity(node, source, entity):
    """Note where the nodes of a function's or class's tree come from."""
    lines, first = inspect.findsource(entity)
    indentation = len(lines[first]) - len(lines[first].lstrip())
    resolve(node, source, inspect.getsourcefile(entity), first + 1, indentation)
