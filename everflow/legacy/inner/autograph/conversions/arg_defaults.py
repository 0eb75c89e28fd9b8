"""`converters.arg_defaults`: the defaults of a function's parameters, which the function itself has, become None."""

from __future__ import annotations

from everflow.legacy.inner.autograph import converters, templates


class ArgDefaultsTransformer(converters.Base):
    """The walk to the outermost functions."""

    def _without_defaults(self, node):
        node.args.defaults = [_none() for _ in node.args.defaults]
        node.args.kw_defaults = [None if given is None else _none() for given in node.args.kw_defaults]
        return node

    visit_FunctionDef = visit_Lambda = _without_defaults


def _none():
    return templates.replace_as_expression("None")


def transform(node, ctx):
    """The code without defaults."""
    return ArgDefaultsTransformer(ctx).visit(node)
