"""`converters.asserts`: `assert` as a call."""

from __future__ import annotations

from everflow.legacy.inner.autograph import converters, templates, trees


class AssertTransformer(converters.Base):
    """The walk to the assertions."""

    def visit_Assert(self, node):
        self.generic_visit(node)
        message = node.msg or trees.constant("Assertion error")
        return templates.replace("ag__.assert_stmt(test, lambda: message)", test=node.test, message=message)


def transform(node, ctx):
    """The code without `assert`."""
    return AssertTransformer(ctx).visit(node)
