"""`pyct.cfg`: which statement of a function may run after which, and walks along that."""

from __future__ import annotations

import collections
import contextlib
import enum
from typing import NamedTuple

from everflow.legacy.inner.autograph import sources
from everflow.legacy.inner.autograph.trees import nodes


class Node:
    """A simple statement, or what a compound one begins with: its test, what it goes through, or what it enters."""

    def __init__(self, next_, prev, ast_node):
        self.next, self.prev, self.ast_node = next_, prev, ast_node

    def freeze(self):
        """Take no more neighbours."""
        self.next, self.prev = frozenset(self.next), frozenset(self.prev)

    def __repr__(self):
        node = self.ast_node
        if isinstance(node, (nodes.FunctionDef, nodes.ClassDef)):
            return f"{'def' if isinstance(node, nodes.FunctionDef) else 'class'} {node.name}"
        if isinstance(node, nodes.withitem):
            node = node.context_expr
        return sources.ast_to_source(node, include_encoding_marker=False).strip()


class Graph(NamedTuple):
    """How control goes through a function.

    `index` has the node of each piece of its tree; `stmt_prev` and `stmt_next` the nodes just before and just after
    compound statements.
    """

    entry: Node
    exit: frozenset
    error: frozenset
    index: dict
    stmt_prev: dict
    stmt_next: dict


class _WalkMode(enum.Enum):
    FORWARD = "next"
    REVERSE = "prev"


class GraphVisitor:
    """A walk that goes on until nothing changes.

    `visit_node` says whether what it keeps of a node in `in_` and `out` has changed, so that its neighbours are visited
    again.
    """

    def __init__(self, graph):
        self.graph = graph
        self.reset()

    def init_state(self, node):
        """What is kept of a node at the beginning."""
        raise NotImplementedError("a walk along a graph says what it keeps of nodes")

    def visit_node(self, node):
        """Visit one node."""
        raise NotImplementedError("a walk along a graph says what is done at nodes")

    def reset(self):
        """Forget everything."""
        self.in_ = {node: self.init_state(node) for node in self.graph.index.values()}
        self.out = {node: self.init_state(node) for node in self.graph.index.values()}

    def visit_forward(self):
        """Go from the function's entry on."""
        self._visit_internal(_WalkMode.FORWARD)

    def visit_reverse(self):
        """Go back from where the function ends."""
        self._visit_internal(_WalkMode.REVERSE)

    def _visit_internal(self, mode):
        waiting = collections.deque([self.graph.entry] if mode is _WalkMode.FORWARD else self.graph.exit)
        seen = set(waiting)
        while waiting:
            node = waiting.popleft()
            changed = self.visit_node(node)
            for neighbour in getattr(node, mode.value):
                if changed and neighbour not in waiting or neighbour not in seen:
                    seen.add(neighbour)
                    waiting.append(neighbour)


class _Loop:
    """A loop while its body is gone through: the nodes that leave it and those that begin it again."""

    def __init__(self):
        self.broken, self.continued = set(), set()


class _Finally:
    """A `finally` that jumps have to pass: (nodes that jump, what they pass after it, where they arrive)."""

    def __init__(self):
        self.passing = []


class GraphBuilder:
    """The graph of one function, statement by statement."""

    def __init__(self, parent_ast_node):
        self.parent_ast_node = parent_ast_node
        self.index = {}
        self.ends = set()  # nodes after which control comes to what is added next
        self._entry = None
        self._returned, self._raised = set(), set()
        self._around = []  # loops and finally-clauses, outermost first
        self._open = []  # compound statements, each with the nodes that it has so far
        self._inside = {}

    def add(self, ast_node):
        """A node that follows what came before."""
        node = Node(set(), set(), ast_node)
        self._entry = self._entry or node
        self.index[ast_node] = node
        for _, inside in self._open:
            inside.add(node)
        self.join(self.ends, node)
        self.ends = {node}
        return node

    @staticmethod
    def join(before, after):
        """Control may come from nodes to another one."""
        for node in before:
            node.next.add(after)
            after.prev.add(node)

    @contextlib.contextmanager
    def statement(self, ast_node):
        """A compound statement, to which nodes belong that are added in the context."""
        inside = self._inside[ast_node] = set()
        self._open.append((ast_node, inside))
        yield
        self._open.pop()

    @contextlib.contextmanager
    def around(self, block):
        """A loop or `finally` that jumps of the context see."""
        self._around.append(block)
        yield
        self._around.pop()

    def leave(self, ast_node):
        """A `return`: it leads out of the function."""
        self._jump(self.add(ast_node), None, self._returned.update)

    def leave_loop(self, ast_node):
        """A `break`."""
        loop = self._loop()
        self._jump(self.add(ast_node), loop, loop.broken.update)

    def repeat_loop(self, ast_node):
        """A `continue`."""
        loop = self._loop()
        self._jump(self.add(ast_node), loop, loop.continued.update)

    def fail(self, ast_node):
        """A `raise`: where it is caught isn't followed."""
        self._raised.add(self.add(ast_node))
        self.ends = set()

    def _loop(self):
        found = [block for block in self._around if isinstance(block, _Loop)]
        if not found:
            raise ValueError("a jump of a loop stands outside of any")
        return found[-1]

    def _jump(self, node, target, arrive):
        passed = self._around[self._around.index(target) :] if target else self._around
        self.ends = set()
        self._on({node}, [block for block in reversed(passed) if isinstance(block, _Finally)], arrive)

    @staticmethod
    def _on(jumping, passed, arrive):
        if passed:
            passed[0].passing.append((jumping, passed[1:], arrive))
        else:
            arrive(jumping)

    def finish(self, block, visit):
        """The statements of a `finally`, which `visit` goes through, between jumps and where they arrive."""
        came_through = bool(self.ends)
        for jumping, _, _ in block.passing:
            self.ends = self.ends | jumping
        visit()
        ends = self.ends
        for _, passed, arrive in block.passing:
            self._on(set(ends), passed, arrive)
        if block.passing and not came_through:
            self.ends = set()

    def build(self):
        """The graph."""
        for node in self.index.values():
            node.freeze()
        outside = {
            statement: (
                frozenset(before for node in inside for before in node.prev if before not in inside),
                frozenset(after for node in inside for after in node.next if after not in inside),
            )
            for statement, inside in self._inside.items()
        }
        return Graph(
            entry=self._entry,
            exit=frozenset(self.ends | self._returned),
            error=frozenset(self._raised),
            index=self.index,
            stmt_prev={statement: before for statement, (before, _) in outside.items()},
            stmt_next={statement: after for statement, (_, after) in outside.items()},
        )


class AstToCfg(nodes.NodeVisitor):
    """The walk through a tree that finds its functions and makes a graph of each, in `cfgs`."""

    def __init__(self):
        self.cfgs = {}
        self._builder = None

    def _block(self, statements):
        for statement in statements:
            self.visit(statement)

    def generic_visit(self, node):
        """What is no statement that the graphs know only matters for functions in it."""
        if self._builder is None:
            super().generic_visit(node)

    def _simple(self, node):
        if self._builder is not None:
            self._builder.add(node)

    visit_Assign = visit_AugAssign = visit_AnnAssign = visit_Delete = visit_Expr = visit_Assert = _simple
    visit_Pass = visit_Global = visit_Nonlocal = visit_Print = visit_Exec = _simple

    def visit_FunctionDef(self, node):
        self._simple(node)
        outer, self._builder = self._builder, GraphBuilder(node)
        self._builder.add(node.args)
        self._block(node.body)
        self.cfgs[node] = self._builder.build()
        self._builder = outer

    def visit_ClassDef(self, node):
        self._simple(node)
        outer, self._builder = self._builder, None
        for inside in _functions_in(node.body):
            self.visit(inside)
        self._builder = outer

    def visit_Return(self, node):
        self._builder.leave(node)

    def visit_Raise(self, node):
        self._builder.fail(node)

    def visit_Break(self, node):
        self._builder.leave_loop(node)

    def visit_Continue(self, node):
        self._builder.repeat_loop(node)

    def visit_If(self, node):
        made = self._builder
        with made.statement(node):
            begin = {made.add(node.test)}
            self._block(node.body)
            after, made.ends = made.ends, begin
            self._block(node.orelse)
            made.ends = made.ends | after

    def visit_While(self, node):
        self._loop(node, node.test)

    def visit_For(self, node):
        self._loop(node, node.iter)

    def _loop(self, node, head):
        made, loop = self._builder, _Loop()
        with made.statement(node):
            begin = made.add(head)
            with made.around(loop):
                self._block(node.body)
            made.join(made.ends | loop.continued, begin)
            made.ends = {begin}
            self._block(node.orelse)
            made.ends = made.ends | loop.broken

    def visit_With(self, node):
        for item in node.items:
            self._builder.add(item)
        self._block(node.body)

    def visit_Try(self, node):
        made, last = self._builder, _Finally()
        with made.statement(node):
            with made.around(last) if node.finalbody else contextlib.nullcontext():
                self._block(node.body)
                # Whether anything was raised isn't followed: what comes next may run, or not.
                begin = made.ends
                self._block(node.orelse)
                begin = after = made.ends | begin
                for handler in node.handlers:
                    made.ends = begin
                    with made.statement(handler):
                        self._block(handler.body)
                    after = after | made.ends
                made.ends = after
            made.finish(last, lambda: self._block(node.finalbody))

    visit_AsyncFor, visit_AsyncWith, visit_AsyncFunctionDef = visit_For, visit_With, visit_FunctionDef


def _functions_in(statements):
    """The functions among statements and in them, not those inside of functions."""
    for node in statements:
        if isinstance(node, nodes.FunctionDef):
            yield node
        else:
            yield from _functions_in(nodes.iter_child_nodes(node))


def build(node):
    """{function: its graph} of the functions in a tree."""
    visitor = AstToCfg()
    for inside in _functions_in([node]):
        visitor.visit(inside)
    return visitor.cfgs
