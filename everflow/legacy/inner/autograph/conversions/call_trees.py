"""`converters.call_trees`: calls by way of `converted_call`, which converts what is called."""

from __future__ import annotations

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import converters, sources, templates, trees
from everflow.legacy.inner.autograph.conversions.function_scopes import CONTEXT_NAME
from everflow.legacy.inner.autograph.trees import nodes

# What stops a program for somebody to look at it does that where it stands.
_AS_THEY_ARE = {"pdb.set_trace", "ipdb.set_trace", "breakpoint"}


class CallTreeTransformer(converters.Base):
    """The walk to the calls of functions that have a context."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._contexts: list[str] = []

    def _inside(self, node, name):
        self._contexts.append(name)
        node.body = self.visit_block(node.body) if isinstance(node.body, list) else self.visit(node.body)
        self._contexts.pop()
        return node

    def visit_FunctionDef(self, node):
        node.args.defaults = self.visit_block(node.args.defaults)
        node.args.kw_defaults = [given and self.visit(given) for given in node.args.kw_defaults]
        if self._contexts:  # it is converted already when it is called
            node.decorator_list.append(templates.replace_as_expression("ag__.do_not_convert_internal"))
        return self._inside(node, anno.getanno(node, CONTEXT_NAME, None))

    def visit_Lambda(self, node):
        name = anno.getanno(node, CONTEXT_NAME, None)
        return self.generic_visit(node) if name is None else self._inside(node, name)

    def visit_With(self, node):
        # What is entered isn't converted.
        node.body = self.visit_block(node.body)
        return node

    def visit_Call(self, node):
        context = self._contexts[-1] if self._contexts else None
        called = sources.ast_to_source(node.func, include_encoding_marker=False).strip()
        own = called.startswith("ag__.") or called.startswith(f"{context}.")
        node.args = [self.visit(given) for given in node.args]
        node.keywords = [self.visit(given) for given in node.keywords]
        if own or context is None or called in _AS_THEY_ARE:
            return node
        return templates.replace_as_expression(
            "ag__.converted_call(called, context.callopts, positional, named, context)",
            called=self.visit(node.func),
            context=context,
            positional=nodes.Tuple(node.args, nodes.Load()),
            named=_named(node.keywords),
        )


def _named(keywords):
    """The dict of keyword arguments; None where there are none."""
    if not keywords:
        return templates.replace_as_expression("None")
    keys = [None if given.arg is None else trees.constant(given.arg) for given in keywords]
    return nodes.Dict(keys, [given.value for given in keywords])


def transform(node, ctx):
    """The code with its calls converted."""
    return CallTreeTransformer(ctx).visit(node)
