"""`converters.slices`: reading and writing elements as calls."""

from __future__ import annotations

from everflow.legacy.inner.autograph import converters, templates, trees
from everflow.legacy.inner.autograph.lang import directives
from everflow.legacy.inner.autograph.trees import nodes


class SliceTransformer(converters.Base):
    """The walk to subscripts that aren't slices."""

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        index = trees.index_of(target) if isinstance(target, nodes.Subscript) else None
        if len(node.targets) > 1 or index is None:
            return node
        return templates.replace("held = ag__.set_item(held, key, item)", held=target.value, key=index, item=node.value)

    def visit_Subscript(self, node):
        self.generic_visit(node)
        index = trees.index_of(node)
        if index is None or not isinstance(node.ctx, nodes.Load):
            return node
        dtype = self.get_definition_directive(
            node.value, directives.set_element_type, "dtype", default=templates.replace_as_expression("None")
        )
        return templates.replace_as_expression(
            "ag__.get_item(held, key, opts=ag__.GetItemOpts(element_dtype=dtype))",
            held=node.value,
            key=index,
            dtype=dtype,
        )


def transform(node, ctx):
    """The code without subscripts."""
    return SliceTransformer(ctx).visit(node)
