"""`converters.return_statements`."""

from everflow.legacy.inner.autograph.jumps import ReturnStatementsTransformer


def transform(node, ctx, default_to_null_return=True):
    """The code with one `return` in each function, at its end."""
    return ReturnStatementsTransformer(ctx, default_to_null_return=default_to_null_return).visit(node)
