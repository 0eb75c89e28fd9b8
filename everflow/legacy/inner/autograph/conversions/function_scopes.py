"""`converters.function_scopes`: the body of a function in a context that knows the function."""

from __future__ import annotations

from everflow.legacy.inner.autograph import activity, converters, templates, trees
from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph.trees import nodes

# The note that has the name of a function's context.
CONTEXT_NAME = "function_context_name"


class FunctionBodyTransformer(converters.Base):
    """The walk to functions; lambdas inside of one are a part of it."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._contexts: list[str] = []

    def visit_Return(self, node):
        self.generic_visit(node)
        if node.value is None or not self._contexts:
            return node
        return templates.replace(
            "return context.mark_return_value(value)", context=self._contexts[-1], value=node.value
        )

    def _options(self):
        own = self.ctx.program.options
        return (own if len(self._contexts) < 2 else own.call_options()).to_ast()

    def visit_Lambda(self, node):
        if self._contexts:
            return self.generic_visit(node)
        name = self.ctx.namer.new_symbol("lscope", ())
        self._contexts.append(name)
        self.generic_visit(node)
        node.body = templates.replace_as_expression(
            "ag__.with_function_scope(lambda context: body, text, options)",
            context=name,
            text=trees.constant(name),
            body=node.body,
            options=trees.from_python(self._options()),
        )
        self._contexts.pop()
        anno.setanno(node, CONTEXT_NAME, name)
        return node

    def visit_FunctionDef(self, node):
        scope = anno.getanno(node, activity.NodeAnno.BODY_SCOPE, None)
        name = self.ctx.namer.new_symbol(f"{node.name}_scope", () if scope is None else scope.referenced)
        self._contexts.append(name)
        node.body = self.visit_block(node.body)
        first = node.body[0]
        told = [first] if isinstance(first, nodes.Expr) and isinstance(first.value, nodes.Str) else []
        node.body = [
            *told,
            *templates.replace(
                "with ag__.FunctionScope(function, text, options) as context:\n  body",
                function=trees.constant(node.name),
                text=trees.constant(name),
                options=trees.from_python(self._options()),
                context=name,
                body=node.body[len(told) :] or [nodes.Pass()],
            ),
        ]
        self._contexts.pop()
        anno.setanno(node, CONTEXT_NAME, name)
        return node


def transform(node, ctx):
    """The code with contexts in its functions."""
    return FunctionBodyTransformer(ctx).visit(node)
