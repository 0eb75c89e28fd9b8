"""`pyct.static_analysis.liveness`: which names' values are still needed at a place."""

from __future__ import annotations

from everflow.legacy.inner.autograph import activity, flow_graphs, walking
from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph.trees import nodes


class Analyzer(flow_graphs.GraphVisitor):
    """The walk back along one function's graph."""

    def init_state(self, _):
        """Nothing is needed."""
        return frozenset()

    def visit_node(self, node):
        """What is needed after a node, and before it."""
        before = self.in_[node]
        needed = frozenset().union(*(self.in_[after] for after in node.next))
        self.out[node] = needed
        self.in_[node] = self._needs(node.ast_node) | needed - self._sets(node.ast_node)
        return self.in_[node] != before

    @staticmethod
    def _needs(node):
        """Names that a piece of code needs; of a function what it has from outside."""
        if isinstance(node, nodes.FunctionDef):
            inside, given = anno.getanno(node, activity.NodeAnno.BODY_SCOPE), anno.getanno(node.args, anno.Static.SCOPE)
            return frozenset(inside.read - inside.modified - given.modified | given.read)
        scope = anno.getanno(node, anno.Static.SCOPE, None)
        return frozenset(scope.read) if scope is not None else frozenset()

    @staticmethod
    def _sets(node):
        scope = anno.getanno(node, anno.Static.SCOPE, None)
        return scope.modified | scope.deleted if scope is not None else frozenset()


class WholeTreeAnalyzer(walking.Base):
    """The analysis of every function in a tree, in `analyzers`."""

    def __init__(self, source_info, graphs):
        super().__init__(source_info)
        self.graphs = graphs
        self.analyzers = {}

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        analyzer = self.analyzers[node] = Analyzer(self.graphs[node])
        analyzer.visit_reverse()
        return node


class Annotator(walking.Base):
    """The walk that makes the notes."""

    def __init__(self, source_info, cross_function_analyzer):
        super().__init__(source_info)
        self.cross_function_analyzer = cross_function_analyzer
        self._around = []

    def visit(self, node):
        """Visit one node; what is needed before it is noted, where the function's graph has it."""
        node = super().visit(node)
        if self._around and isinstance(node, nodes.stmt):
            self._note_needed_before(node)
        return node

    def _note_needed_before(self, node):
        analyzer = self._around[-1]
        place = analyzer.graph.index.get(_beginning(node))
        if place is not None:
            anno.setanno(node, anno.Static.LIVE_VARS_IN, analyzer.in_[place])

    def visit_FunctionDef(self, node):
        self._around.append(self.cross_function_analyzer.analyzers[node])
        try:
            return self.generic_visit(node)
        finally:
            self._around.pop()

    def _compound(self, node):
        node = self.generic_visit(node)
        analyzer = self._around[-1]
        after = (analyzer.in_[place] for place in analyzer.graph.stmt_next[node])
        anno.setanno(node, anno.Static.LIVE_VARS_OUT, frozenset().union(*after))
        return node

    visit_If = visit_While = visit_For = visit_Try = _compound

    def visit_ExceptHandler(self, node):
        node = self._compound(node)
        self._note_needed_before(node)
        return node

    def visit_Expr(self, node):
        node = self.generic_visit(node)
        analyzer = self._around[-1]
        anno.setanno(node, anno.Static.LIVE_VARS_OUT, analyzer.out[analyzer.graph.index[node]])
        return node


def _beginning(node):
    """The piece of a statement that runs first."""
    while not isinstance(node, nodes.expr):
        if isinstance(node, (nodes.If, nodes.While)):
            return node.test
        if isinstance(node, nodes.For):
            return node.iter
        if isinstance(node, nodes.With):
            return node.items[0]
        if not isinstance(node, (nodes.Try, nodes.ExceptHandler)):
            return node
        node = node.body[0]
    return node


def resolve(node, source_info, graphs):
    """The tree with notes on what is needed; it has those of `activity` already."""
    analyzer = WholeTreeAnalyzer(source_info, graphs)
    analyzer.visit(node)
    return Annotator(source_info, analyzer).visit(node)
