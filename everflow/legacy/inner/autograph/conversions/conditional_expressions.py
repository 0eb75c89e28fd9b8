"""`converters.conditional_expressions`: `a if test else b` as a call."""

from __future__ import annotations

from everflow.legacy.inner.autograph import converters, templates


class ConditionalExpressionTransformer(converters.Base):
    """The walk to the conditional expressions."""

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return templates.replace_as_expression(
            "ag__.if_stmt(test, lambda: one, lambda: other, lambda: (), lambda _: None)",
            test=node.test,
            one=node.body,
            other=node.orelse,
        )


def transform(node, ctx):
    """The code without conditional expressions."""
    return ConditionalExpressionTransformer(ctx).visit(node)
