"""`converters.list_comprehensions`: `x = [...]` as loops that append."""

from __future__ import annotations

from everflow.legacy.inner.autograph import converters, templates
from everflow.legacy.inner.autograph.trees import nodes


class ListCompTransformer(converters.Base):
    """The walk to assignments of list comprehensions."""

    def visit_Assign(self, node):
        if not isinstance(node.value, nodes.ListComp):
            return self.generic_visit(node)
        if len(node.targets) > 1:
            raise NotImplementedError("a list comprehension that is assigned several times at once")
        target, made = node.targets[0], node.value
        body = templates.replace("target.append(element)", target=target, element=made.elt)
        for part in reversed(made.generators):
            for test in reversed(part.ifs):
                body = templates.replace("if test:\n  body", test=test, body=body)
            body = templates.replace("for each in items:\n  body", each=part.target, items=part.iter, body=body)
        return templates.replace("target = []", target=target) + body


def transform(node, ctx):
    """The code without assigned list comprehensions."""
    return ListCompTransformer(ctx).visit(node)
