"""`converters.break_statements`."""

from everflow.legacy.inner.autograph.jumps import BreakTransformer


def transform(node, ctx):
    """The code without `break`."""
    return BreakTransformer(ctx).visit(node)
