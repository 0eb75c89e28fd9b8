"""`pyct.pretty_printer`: trees as text, for reading."""

from __future__ import annotations

import ast

from everflow.legacy.inner.autograph.trees import nodes


class PrettyPrinter(nodes.NodeVisitor):
    """The walk that writes the text, a line for each field, to `result`."""

    def __init__(self, color=True, noanno=False):
        self.color, self.noanno = color, noanno
        self.indent_lvl = 0
        self.result = ""

    def _line(self, text):
        self.result += "| " * self.indent_lvl + text + "\n"

    def generic_visit(self, node, name=None):
        """Write one node, after the name of the field that it is in."""
        before = "" if name is None else f"{name}="
        fields = [field for field in node._fields if not (self.noanno and field.startswith("__"))]
        self._line(f"{before}{type(node).__name__}{':' if fields else '()'}")
        self.indent_lvl += 1
        for field in fields:
            self._field(field, getattr(node, field, None))
        self.indent_lvl -= 1

    def _field(self, name, value):
        if isinstance(value, (list, tuple)) and value:
            opening, closing = "[]" if isinstance(value, list) else "()"
            self._line(f"{name}={opening}")
            self.indent_lvl += 1
            for part in value:
                self.generic_visit(part) if isinstance(part, ast.AST) else self._line(str(part))
            self.indent_lvl -= 1
            self._line(closing)
        elif isinstance(value, ast.AST):
            self.generic_visit(value, name)
        elif isinstance(value, bytes):
            self._line(f'{name}=b"{value}"')
        elif isinstance(value, str):
            self._line(f'{name}=u"{value}"')
        elif isinstance(value, dict):
            self._line(f"{name}={{{', '.join(f'{key!r}: {inside!r}' for key, inside in value.items())}}}")
        else:
            self._line(f"{name}={value}")


def fmt(node, color=True, noanno=False):
    """The text of a tree, or of several; `noanno` leaves notes out."""
    printer = PrettyPrinter(color, noanno)
    for part in node if isinstance(node, (list, tuple)) else [node]:
        printer.visit(part)
    return printer.result
