"""`CompiledWrapper`: a cell whose nodes carry the attributes that ask TensorFlow's XLA to compile them."""

from __future__ import annotations

from everflow.contrib.rnn.wrappers import _Wrapper
from everflow.framework import op_defs
from everflow.framework.scopes import get_default_graph
from everflow.xla.experimental import next_scope


class CompiledWrapper(_Wrapper):
    """A cell marked for compilation. Everflow compiles every plan, so here the marks only travel with the graph."""

    def __init__(self, cell, compile_stateful=False):
        super().__init__(cell)
        self._compile_stateful = compile_stateful

    def _compiles(self, node):
        if callable(self._compile_stateful):
            return bool(self._compile_stateful(node))
        return self._compile_stateful or not op_defs.get(node.op).is_stateful

    def __call__(self, inputs, state, scope=None):
        graph = get_default_graph()
        marks = {"_XlaCompile": self._compiles, "_XlaSeparateCompiledGradients": False, "_XlaScope": next_scope(graph)}
        with graph._attr_scope(marks):
            return self._cell(inputs, state, scope=scope) if scope is not None else self._cell(inputs, state)
