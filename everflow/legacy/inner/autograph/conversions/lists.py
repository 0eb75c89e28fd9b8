"""`converters.lists`: lists as values that `append` and `pop` change by assignment."""

from __future__ import annotations

from everflow.legacy.inner.autograph import activity, converters, templates
from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph.lang import directives
from everflow.legacy.inner.autograph.trees import nodes


class ListTransformer(converters.Base):
    """The walk to lists and what is done to them."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._before: list[list] = []  # statements that take elements, for each statement around

    def visit_List(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, nodes.Load):
            return node
        return templates.replace_as_expression("ag__.new_list(elements)", elements=node)

    def visit_Call(self, node):
        self.generic_visit(node)
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        if called == "pop" and isinstance(node.func, nodes.Attribute) and len(node.args) < 2 and self._before:
            return self._popped(node)
        if called == "stack" and len(node.args) == 1 and not node.keywords:
            return templates.replace_as_expression(
                "ag__.list_stack(held, opts=ag__.ListStackOpts(element_dtype=dtype, original_call=called))",
                held=node.args[0],
                dtype=self._told_of(node.args[0], "dtype"),
                called=node.func,
            )
        return node

    def visit_Expr(self, node):
        call = node.value
        appends = isinstance(call, nodes.Call) and getattr(call.func, "attr", None) == "append" and len(call.args) == 1
        self.generic_visit(node)
        if not appends:
            return node
        return templates.replace(
            "held = ag__.list_append(held, item)", held=node.value.func.value, item=node.value.args[0]
        )

    def _popped(self, node):
        held = node.func.value
        scope = anno.getanno(node, activity.NodeAnno.ARGS_SCOPE, None)
        root = anno.getanno(held, anno.Basic.QN).ssf() if anno.hasanno(held, anno.Basic.QN) else "popped"
        name = self.ctx.namer.new_symbol(root, () if scope is None else scope.referenced)
        self._before[-1] += templates.replace(
            "held, name = ag__.list_pop(held, index, opts=ag__.ListPopOpts(element_dtype=dtype, element_shape=shape))",
            held=held,
            name=name,
            index=node.args[0] if node.args else _none(),
            dtype=self._told_of(held, "dtype"),
            shape=self._told_of(held, "shape"),
        )
        return templates.replace_as_expression("name", name=name)

    def _told_of(self, held, what):
        return self.get_definition_directive(held, directives.set_element_type, what, default=_none())

    def visit_block(self, nodes, before_visit=None, after_visit=None):
        made: list = []
        for statement in nodes or ():
            self._before.append([])
            visited = self.visit(statement)
            made += [*self._before.pop(), *(visited if isinstance(visited, list) else [visited])]
        return made

    def _blocks(self, node):
        for field, value in nodes.iter_fields(node):
            if field in ("body", "orelse", "finalbody", "handlers"):
                setattr(node, field, self.visit_block(value))
            elif field in ("test", "iter") or field == "items":
                setattr(node, field, [self.visit(item) for item in value] if field == "items" else self.visit(value))
        return node

    visit_FunctionDef = visit_If = visit_For = visit_While = visit_With = visit_Try = visit_ExceptHandler = _blocks


def _none():
    return templates.replace_as_expression("None")


def transform(node, ctx):
    """The code with lists of the graph."""
    return ListTransformer(ctx).visit(node)
