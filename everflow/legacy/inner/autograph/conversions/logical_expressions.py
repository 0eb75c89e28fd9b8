"""`converters.logical_expressions`: `and`, `or`, `not`, `==` and `!=` as calls."""

from __future__ import annotations

import functools

from everflow.legacy.inner.autograph import converters, templates
from everflow.legacy.inner.autograph.trees import nodes
from everflow.ops.autograph.features import Feature

LOGICAL_OPERATORS = {nodes.And: "ag__.and_", nodes.Not: "ag__.not_", nodes.Or: "ag__.or_"}
EQUALITY_OPERATORS = {nodes.Eq: "ag__.eq", nodes.NotEq: "ag__.not_eq"}


class LogicalExpressionTransformer(converters.Base):
    """The walk to the logic."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        return functools.reduce(
            lambda rest, first: _lazily(LOGICAL_OPERATORS[type(node.op)], first, rest), reversed(node.values)
        )

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        called = LOGICAL_OPERATORS.get(type(node.op))
        return templates.replace_as_expression(f"{called}(operand)", operand=node.operand) if called else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        converts = self.ctx.program.options.uses(Feature.EQUALITY_OPERATORS)
        if len(node.ops) == 1 and not (converts and type(node.ops[0]) in EQUALITY_OPERATORS):
            return node
        lefts = [node.left, *node.comparators]
        pairs = [
            self._comparison(op, left, right)
            for op, left, right in zip(node.ops, lefts, node.comparators, strict=False)
        ]
        return functools.reduce(lambda rest, first: _lazily(LOGICAL_OPERATORS[nodes.And], first, rest), reversed(pairs))

    def _comparison(self, op, left, right):
        called = EQUALITY_OPERATORS.get(type(op))
        if called and self.ctx.program.options.uses(Feature.EQUALITY_OPERATORS):
            return templates.replace_as_expression(f"{called}(left, right)", left=left, right=right)
        made = templates.replace_as_expression("left < right", left=left, right=right)
        made.ops = [op]
        return made


def _lazily(called, first, rest):
    return templates.replace_as_expression(f"{called}(lambda: first, lambda: rest)", first=first, rest=rest)


def transform(node, ctx):
    """The code without Python's logic."""
    return LogicalExpressionTransformer(ctx).visit(node)
