"""`converters.directives`: what a program says about lists and loops becomes notes on them."""

from __future__ import annotations

import inspect

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import converters, sources
from everflow.legacy.inner.autograph.lang import directives
from everflow.legacy.inner.autograph.trees import nodes

_OF_LOOPS, _OF_NAMES = (directives.set_loop_options,), (directives.set_element_type,)


class DirectivesTransformer(converters.Base):
    """The walk to calls of directives."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._loops: list = []

    def _called(self, node):
        """The function that a call calls, where the program's names tell it."""
        *owners, last = sources.ast_to_source(node.func, include_encoding_marker=False).strip().split(".")
        found = self.ctx.info.namespace
        for name in (*owners, last):
            found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
        return found

    def visit_Expr(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, nodes.Call):
            return node
        called = self._called(node.value)
        if called in _OF_LOOPS:
            if not self._loops:
                raise ValueError(f"{called.__name__} stands in a loop")
            self._note(self._loops[-1], called, node.value)
        elif called in _OF_NAMES:
            if not node.value.args:
                raise ValueError(f"{called.__name__} wants the name that it is about")
            for definition in anno.getanno(node.value.args[0], anno.Static.DEFINITIONS, ()):
                definition.directives[called] = _arguments(node.value, called)
        else:
            return node
        return None

    @staticmethod
    def _note(loop, called, call):
        given = dict(anno.getanno(loop, converters.AgAnno.DIRECTIVES, {}))
        anno.setanno(loop, converters.AgAnno.DIRECTIVES, {**given, called: _arguments(call, called)})

    def _loop(self, node):
        self._loops.append(node)
        try:
            node = self.generic_visit(node)
        finally:
            self._loops.pop()
        node.body = node.body or [nodes.Pass()]
        return node

    visit_While = visit_For = _loop


def _arguments(call, function):
    """{parameter: node} of a call."""
    names = list(inspect.signature(function).parameters)
    given = dict(zip(names, call.args, strict=False))
    return {**given, **{keyword.arg: keyword.value for keyword in call.keywords}}


def transform(node, ctx):
    """The code without directives."""
    return DirectivesTransformer(ctx).visit(node)
