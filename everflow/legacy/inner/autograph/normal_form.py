"""`pyct.common_transformers.anf`: code in which the parts of expressions are variables, one computation a statement."""

from __future__ import annotations

import ast
import functools
from typing import Any, NamedTuple

from everflow.legacy.inner.autograph import sources, trees
from everflow.legacy.inner.autograph.trees import nodes
from everflow.legacy.inner.autograph.walking import Base

ANY = object()


def REPLACE(_1, _2, _3):
    """A part becomes a variable."""
    return True


def LEAVE(_1, _2, _3):
    """A part stays where it is."""
    return False


class ASTEdgePattern(NamedTuple):
    """Parts that a rule is for: the type of what they are in, the field that they are, and their own type; each may be
    ANY.
    """

    parent: Any
    field: Any
    child: Any

    def matches(self, parent, field, child):
        """Whether a part is one of them."""
        return (
            (self.parent is ANY or isinstance(parent, self.parent))
            and (self.field is ANY or field == self.field)
            and (self.child is ANY or isinstance(child, self.child))
        )


class DummyGensym:
    """Names `tmp_1001`, `tmp_1002` and so on; whether the code has them already isn't asked."""

    def __init__(self, ctx):
        del ctx
        self._last = 1000

    def new_name(self, stem="tmp"):
        """The next one."""
        self._last += 1
        return f"{stem}_{self._last}"


# What stands between an expression and its parts.
_WRAPPERS = tuple(
    getattr(nodes, kind)
    for kind in ("keyword", "Starred", "Slice", "ExtSlice", "Index", "withitem")
    if hasattr(nodes, kind)
)
# Why parts of these can't be computed beforehand.
_TRIVIAL_ONLY = {
    "BoolOp": "whether the second operand is computed depends on the first",
    "IfExp": "only one of its branches may be computed",
    "Assert": "its parts may only be computed when assertions are on and when it fails",
    "FormattedValue": "a string's format is not taken apart",
    "JoinedStr": "a string's format is not taken apart",
    "Lambda": "there is no place for statements in a lambda",
}
_NEVER = ("ListComp", "SetComp", "DictComp", "GeneratorExp", "Await", "AsyncFor", "AsyncWith", "NamedExpr")
_EXPRESSIONS = ("Attribute BinOp Call Dict List Set Subscript Tuple UnaryOp Yield YieldFrom").split()
# What becomes a variable unless rules are given.
_ALL_COMPUTATIONS = [
    (ASTEdgePattern(ANY, ANY, trees.CONSTANT_KINDS), LEAVE),
    (ASTEdgePattern(ANY, ANY, ANY), REPLACE),
]


class AnfTransformer(Base):
    """The walk: parts are visited first, then those that are to be variables go into assignments before the statement."""

    def __init__(self, ctx, config, gensym_source=None):
        super().__init__(ctx)
        self._rules = _ALL_COMPUTATIONS if config is None else config
        self._gensym = (gensym_source or DummyGensym)(ctx)
        self._pending: list = []

    def _is_replaced(self, parent, field, child) -> bool:
        for pattern, answer in self._rules:
            if pattern is ANY or pattern.matches(parent, field, child):
                return answer(parent, field, child)
        return False

    def _part(self, parent, field, node):
        """What stands for a part of `parent`. What only wraps one (a keyword, a slice) is looked into."""
        if isinstance(node, list):
            return [self._part(parent, field, item) for item in node]
        if isinstance(node, _WRAPPERS):
            for inner, value in list(nodes.iter_fields(node)):
                setattr(node, inner, self._part(parent, field, value))
            return node
        if (
            not isinstance(node, nodes.expr)
            or isinstance(node, nodes.Name)
            or not self._is_replaced(parent, field, node)
        ):
            return node
        name = self._gensym.new_name()
        assignment = sources.parse_str(f"{name} = 0")
        assignment.value = node
        self._pending.append(assignment)
        return trees.name(name, nodes.Load())

    def _taken(self):
        pending, self._pending = self._pending, []
        return pending

    def _parts(self, node, fields=None):
        """The node with those of its parts replaced that are to be."""
        for field, value in list(nodes.iter_fields(node)):
            if (fields is None or field in fields) and isinstance(value, (ast.AST, list)):
                setattr(node, field, self._part(node, field, value))
        return node

    def _expression(self, node):
        return self._parts(self.generic_visit(node))

    def visit_Compare(self, node):
        if len(node.ops) > 1:
            return self._trivial_only("a comparison of several values stops where the first one fails", node)
        return self._expression(node)

    def _trivial_only(self, why, node):
        """A node whose parts can't be computed before it: they must be variables already."""
        before = self._taken()
        self._parts(self.generic_visit(node))
        if self._pending:
            raise ValueError(f"{type(node).__name__} of parts that are to be computed: {why}")
        self._pending = before
        return node

    def _unsupported(self, node):
        raise ValueError(f"{type(node).__name__} has no form in which its parts are variables")

    # Statements: what their parts need comes before them.

    def _with_expressions(self, node, fields):
        """A statement whose fields are expressions."""
        for field in fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                setattr(node, field, [self.visit(item) for item in value])
            elif value is not None:
                setattr(node, field, self.visit(value))
        return node

    def visit_Return(self, node):
        self._parts(self._with_expressions(node, ("value",)))
        return [*self._taken(), node]

    def visit_Raise(self, node):
        self._parts(self._with_expressions(node, ("exc", "cause")))
        return [*self._taken(), node]

    def _itself(self, node):
        """What is assigned, deleted or dropped may stay a computation: this is its statement."""
        self._with_expressions(node, ("targets", "target", "value"))
        return [*self._taken(), node]

    visit_Assign = visit_AnnAssign = visit_AugAssign = visit_Expr = visit_Delete = _itself

    def _blocks(self, node, *fields):
        for field in fields:
            setattr(node, field, self.visit_block(getattr(node, field)))

    def _with_head(self, node, head, *blocks):
        """A statement with blocks: its head is computed before, its blocks keep what they need inside."""
        self._parts(self._with_expressions(node, (head,)), (head,))
        before = self._taken()
        self._blocks(node, *blocks)
        return [*before, node]

    def visit_If(self, node):
        return self._with_head(node, "test", "body", "orelse")

    def visit_For(self, node):
        return self._with_head(node, "iter", "body", "orelse")

    def visit_With(self, node):
        return self._with_head(node, "items", "body")

    def visit_While(self, node):
        self._parts(self._with_expressions(node, ("test",)), ("test",))
        if self._pending:
            raise ValueError("While with a test that is to be computed: it is computed anew in every round")
        self._blocks(node, "body", "orelse")
        return node

    def visit_FunctionDef(self, node):
        self._trivial_only("defaults of parameters are computed outside", node.args)
        self._blocks(node, "body")
        return node

    def visit_Try(self, node):
        self._blocks(node, "body", "orelse", "finalbody")
        for handler in node.handlers:
            self._blocks(handler, "body")
        return node


for _kind in _EXPRESSIONS:
    setattr(AnfTransformer, f"visit_{_kind}", AnfTransformer._expression)
for _kind, _why in _TRIVIAL_ONLY.items():
    setattr(AnfTransformer, f"visit_{_kind}", functools.partialmethod(AnfTransformer._trivial_only, _why))
for _kind in _NEVER:
    setattr(AnfTransformer, f"visit_{_kind}", AnfTransformer._unsupported)


def transform(node, ctx, config=None, gensym_source=None):
    """The code with parts of expressions in variables: all that isn't a name or a constant, or what `config` says.

    `config` is a list of (ASTEdgePattern or ANY, function of (parent, field, part)); the first pattern that fits a part
    decides, and a part that none fits stays.
    """
    made = AnfTransformer(ctx, config, gensym_source).visit(node)
    return made[0] if isinstance(made, list) and len(made) == 1 else made
