"""The package `gast`, in which programs that transform source as TensorFlow 1.15 does find the nodes of trees; served
where none is installed.
"""

# ruff: noqa: F403  Names handed on are a purpose of this file.

from __future__ import annotations

import ast

from everflow.legacy.inner.autograph import trees
from everflow.legacy.inner.autograph.syntax import *


def parse(*args, **kwargs):
    """The tree of some source; arguments are those of `ast.parse`."""
    return ast_to_gast(ast.parse(*args, **kwargs))


def ast_to_gast(node):
    """A tree of Python's own as one of these nodes."""
    return trees.from_python(node)


def gast_to_ast(node):
    """A tree of these nodes as one of Python's own."""
    return trees.to_python(node)


def literal_eval(node_or_string):
    """The value of an expression that is made of literals."""
    return ast.literal_eval(trees.to_python(node_or_string))


def get_docstring(node, clean=True):
    """The text that a module, class or function begins with; None where there is none."""
    return ast.get_docstring(trees.to_python(node), clean)
