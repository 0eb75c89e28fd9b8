"""`pyct.static_analysis.reaching_definitions`: which assignments a name's value may come from."""

from __future__ import annotations

import weakref

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import flow_graphs, walking
from everflow.legacy.inner.autograph.trees import nodes


class Definition:
    """A place where a name gets a value. `param_of` is the function whose parameter it is, `directives` what a program said
    about it.
    """

    def __init__(self):
        self.param_of = None
        self.directives = {}

    def __repr__(self):
        return f"{type(self).__name__}[{id(self)}]"


class _NodeState:
    """{name: its definitions} at one place."""

    def __init__(self, init_from=None):
        given = init_from.value if isinstance(init_from, _NodeState) else init_from or {}
        self.value = {
            name: frozenset(found if isinstance(found, (set, frozenset)) else [found]) for name, found in given.items()
        }

    def __eq__(self, other):
        return isinstance(other, _NodeState) and self.value == other.value

    __hash__ = None

    def __or__(self, other):
        both = dict(self.value)
        for name, found in other.value.items():
            both[name] = both.get(name, frozenset()) | found
        return _NodeState(both)

    def __sub__(self, names):
        return _NodeState({name: found for name, found in self.value.items() if name not in names})

    def __repr__(self):
        return f"NodeState[{', '.join(f'{name}={len(found)}' for name, found in self.value.items())}]"


class Analyzer(flow_graphs.GraphVisitor):
    """The walk along one function's graph; `extra_in` has what reaches an inner function from those around it."""

    def __init__(self, graph, definition_factory):
        self._definition_factory = definition_factory
        self._made = {}
        super().__init__(graph)

    def init_state(self, _):
        """Nothing is defined."""
        return _NodeState()

    def visit_node(self, node):
        """What reaches a node, and what it hands on."""
        before = self.out[node]
        reaching = _NodeState()
        for previous in node.prev:
            reaching |= self.out[previous]
        self.in_[node] = reaching
        scope = anno.getanno(node.ast_node, anno.Static.SCOPE, None)
        if scope is not None:
            if node not in self._made:
                self._made[node] = {name: self._defined(name, scope) for name in scope.modified}
            made = self._made[node]
            reaching = (reaching - (scope.modified | scope.deleted)) | _NodeState(made)
        self.out[node] = reaching
        return reaching != before

    def _defined(self, name, scope):
        made = self._definition_factory()
        if name in scope.params:
            made.param_of = weakref.ref(scope.params[name])
        return made


class TreeAnnotator(walking.Base):
    """The walk that makes the notes."""

    def __init__(self, source_info, graphs, definition_factory):
        super().__init__(source_info)
        self.graphs = graphs
        self.definition_factory = definition_factory
        self._analyzers = []  # those of the functions around, outermost first
        self._place = None  # the node of the graph that the walk is at
        self._reaching = []  # what reaches inner functions from outside, outermost first

    def visit_FunctionDef(self, node):
        outside = self._analyzers[-1].in_.get(self._place) if self._analyzers else None
        for decorator in node.decorator_list:
            self.visit(decorator)
        analyzer = Analyzer(self.graphs[node], self.definition_factory)
        analyzer.visit_forward()
        self._analyzers.append(analyzer)
        self._reaching.append(outside or _NodeState())
        place, self._place = self._place, None
        node.args = self.visit(node.args)
        node.body = self.visit_block(node.body)
        self._place = place
        self._reaching.pop()
        self._analyzers.pop()
        return node

    def _node_of(self, node):
        return self._analyzers[-1].graph.index.get(node)

    def visit_Name(self, node):
        if self._place is None:
            return node
        analyzer, name = self._analyzers[-1], anno.getanno(node, anno.Basic.QN)
        reading = isinstance(node.ctx, nodes.Load)
        found = (analyzer.in_ if reading else analyzer.out)[self._place].value.get(name)
        if found is None and reading:
            found = next((state.value[name] for state in reversed(self._reaching) if name in state.value), None)
        anno.setanno(node, anno.Static.DEFINITIONS, tuple(found or ()))
        return node

    def _note_defined_in(self, node):
        analyzer = self._analyzers[-1]
        defined = set()
        for before in analyzer.graph.stmt_prev[node]:
            defined |= set(analyzer.out[before].value)
        anno.setanno(node, anno.Static.DEFINED_VARS_IN, frozenset(defined))

    def _compound(self, node):
        self._note_defined_in(node)
        return self.generic_visit(node)

    visit_If = visit_While = visit_Try = visit_ExceptHandler = _compound

    def visit_For(self, node):
        self._note_defined_in(node)
        node.iter = self.visit(node.iter)
        # What a loop goes through is read where its head is, what it assigns is as well.
        place, self._place = self._place, self._node_of(node.iter)
        node.target = self.visit(node.target)
        self._place = place
        node.body = self.visit_block(node.body)
        node.orelse = self.visit_block(node.orelse)
        return node

    def visit(self, node):
        """Visit one node, at its place in the function's graph."""
        place = self._place
        if self._analyzers:
            self._place = self._node_of(node) or place
        try:
            return super().visit(node)
        finally:
            self._place = place


def resolve(node, source_info, graphs, definition_factory):
    """The tree with notes on what defines its names; it has those of `activity` already."""
    return TreeAnnotator(source_info, graphs, definition_factory).visit(node)
