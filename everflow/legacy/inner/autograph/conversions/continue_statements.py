"""`converters.continue_statements`."""

from everflow.legacy.inner.autograph.jumps import ContinueCanonicalizationTransformer


def transform(node, ctx):
    """The code without `continue`."""
    return ContinueCanonicalizationTransformer(ctx).visit(node)
