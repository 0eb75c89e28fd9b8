"""`pyct.templates`: source with names in it that stand for other nodes."""

from __future__ import annotations

import ast
import copy
import textwrap

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import names, sources, trees
from everflow.legacy.inner.autograph.trees import nodes

_WITH_CONTEXT = ("Name", "Attribute", "Subscript", "Tuple", "List", "Starred")


def replace(template, **replacements):
    """The statements of a template, with names replaced.

    A replacement is a string, a qualified name, a node or several of these. Where a name stands for a parameter, an
    attribute or a function's name, what replaces it must be a name, too.
    """
    if not isinstance(template, str):
        raise ValueError(f"a template is a string, not {template!r}")
    statements = sources.parse_str(textwrap.dedent(template).strip("\n"), single_node=False)
    made = _Replacing({name: _nodes_of(given) for name, given in replacements.items()}).visit_all(statements)
    return [names.resolve(statement) for statement in made]


def replace_as_expression(template, **replacements):
    """The expression of a template, with names replaced."""
    made = replace(template, **replacements)
    if len(made) != 1:
        raise ValueError("the template is one expression; replace takes statements")
    inside = made[0].value if isinstance(made[0], nodes.Expr) else made[0]
    if not isinstance(inside, nodes.expr):
        raise ValueError(f"the template is an expression; this is {type(inside).__name__}")
    return inside


def _nodes_of(given) -> list:
    """The nodes that a replacement is."""
    if isinstance(given, str):
        return [trees.name(given)]
    if isinstance(given, names.QN):
        return [given.ast()]
    if isinstance(given, ast.AST):
        return [given]
    return [node for part in given for node in _nodes_of(part)]


def in_context(node, context):
    """The node, as something that is read, written or deleted; parts of tuples and lists are, too."""
    if type(node).__name__ in _WITH_CONTEXT:
        node.ctx = context
    if isinstance(node, (nodes.Tuple, nodes.List)):
        for part in node.elts:
            in_context(part, context)
    elif isinstance(node, nodes.Starred):
        in_context(node.value, context)
    return node


class _Replacing(nodes.NodeTransformer):
    """The walk through a template."""

    def __init__(self, replacements):
        self._replacements = replacements

    def visit_all(self, statements):
        module = sources.parse_str("class all:\n  pass")  # a walk replaces statements in what holds them
        module.body = statements
        return self.generic_visit(module).body

    def _copies(self, name, context):
        """What stands for a name, fit for the place that the name had."""
        return [_loaded(in_context(copy.deepcopy(node), context)) for node in self._replacements[name]]

    def visit_Expr(self, node):
        """A name by itself stands for statements as well as for an expression."""
        if isinstance(node.value, nodes.Name) and node.value.id in self._replacements:
            made = self._copies(node.value.id, nodes.Load())
            return [part if isinstance(part, nodes.stmt) else nodes.Expr(part) for part in made]
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id not in self._replacements:
            return node
        made = self._copies(node.id, node.ctx)
        return made[0] if len(made) == 1 else made

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        if node.attr in self._replacements:
            node.attr = self._identifier(node.attr)
        return node

    def visit_FunctionDef(self, node):
        node = self.generic_visit(node)
        if node.name in self._replacements:
            node.name = self._identifier(node.name)
        return node

    def visit_keyword(self, node):
        """A keyword's name stands for one name, or for keywords as a whole."""
        given = self._replacements.get(node.arg)
        if given is None:
            return self.generic_visit(node)
        if all(isinstance(part, nodes.keyword) for part in given):
            return [_loaded(copy.deepcopy(part)) for part in given]
        node.arg = self._identifier(node.arg)
        return self.generic_visit(node)

    def visit_arg(self, node):
        """Python's own trees have parameters of a kind of their own."""
        if node.arg not in self._replacements:
            return node
        made = [trees.argument(trees.argument_name(part)) for part in self._replacements[node.arg]]
        return made[0] if len(made) == 1 else made

    def _identifier(self, name):
        (given,) = self._replacements[name]
        if not hasattr(given, "id"):
            raise ValueError(f"{name!r} is a name here, which {type(given).__name__} can't stand for")
        return given.id


def _loaded(node):
    """The node, where no place in it is left without saying that it is read; notes on names are made anew."""
    for inside in nodes.walk(node):
        if type(inside).__name__ in _WITH_CONTEXT and getattr(inside, "ctx", None) is None:
            inside.ctx = nodes.Load()
        if anno.hasanno(inside, anno.Basic.QN):
            anno.delanno(inside, anno.Basic.QN)
    return node
