"""Whose turn it is when a graph runs token by token, where its edges leave that open.

Creation order; uses of a variable come before writes of it, elements of datasets before everything, and what waits for
a queue last.
"""

from __future__ import annotations

from collections.abc import Hashable

from everflow.framework import dtypes
from everflow.kernels.facts import Effect, Memory, Waits
from everflow.runtime.plan.collectives import turn
from everflow.runtime.plan.control_flow import origin
from everflow.runtime.plan.program import FEED, Node, input_counts, is_ref
from everflow.runtime.plan.tokens import KINDS, Iteration, Layout, around


def passes(node: Node) -> bool:
    """Whether a node computes nothing: its result is its first input, if it has one."""
    return node.facts.renames or node.type == "LoopCond" or (not node.output_dtypes and node.effect is Effect.PURE)


def shows(node: Node) -> bool:
    """Whether a node's result is the memory of its input."""
    if node.type == "StridedSlice":  # whole rows from the front
        strides = node.constant_input(3)
        return (
            strides is not None
            and strides.tolist() == [1]
            and not node.attribute("shrink_axis_mask")
            and not node.attribute("new_axis_mask")
        )
    return passes(node) or node.type in KINDS or node.facts.result.memory is Memory.SAME


class Turns:
    """The order of a layout's nodes where edges leave it open."""

    def __init__(self, layout: Layout, as_created: bool = False) -> None:
        """`as_created` leaves it at creation order: it was chosen for all parts of a graph that runs on several tasks."""
        self._layout = layout
        self._variables = _variables(layout)
        self.exposed: set[Node] = set()  # nodes that are given memory of variables that the program writes
        self._uses: dict[Node, list[Node]] = {}  # writer → the uses that come before it
        self.concurrent: dict[
            Node, frozenset[Node]
        ] = {}  # nodes that run at the same time as others, because one may wait for another
        first: set[Node] = set()
        takes_last = False
        if not as_created:
            first = _above(layout, [n for n in layout.nodes if n.facts.first])
            takes_last = any(n.facts.waits is Waits.PUTS for n in layout.nodes)
            self._find_meetings()
        self._find_uses(as_created)
        self._places: dict = {
            node: (
                0 if node in first else 2 if takes_last and node.facts.waits is Waits.TAKES else 1 + turn(node),
                node.index,
            )
            for node in layout.nodes
        }
        for node in layout.nodes:
            rank, index = self._places[node]
            path = max(layout.path[node], layout.leads_to(node), key=len)
            for depth in range(1, len(path) + 1):
                others = self._places.get(path[:depth], (1, index))
                self._places[path[:depth]] = (max(rank, others[0]), min(index, others[1]))

    def place(self, node_or_path: Node | tuple[str, ...]) -> tuple[int, int]:
        """Where a node, or the frame of a path, comes among others that are ready."""
        return self._places[node_or_path]

    def must_wait(self, iteration: Iteration, node: Node) -> bool:
        """Whether uses that come before a write have not run yet."""
        uses = self._uses.get(node)
        return uses is not None and any(not self._is_done(iteration, use) for use in uses)

    def _is_done(self, iteration: Iteration, node: Node) -> bool:
        path, here = self._layout.path[node], iteration.frame.path
        depth = 0
        while depth < min(len(path), len(here)) and path[depth] == here[depth]:
            depth += 1
        while len(iteration.frame.path) > depth:
            iteration = around(iteration.frame)
        return (node if len(path) == depth else path[: depth + 1]) in iteration.done

    def _find_uses(self, as_created: bool) -> None:
        writers: dict[Node, list[Node]] = {}
        users: dict[Node, dict[Node, None]] = {}
        shown: dict[tuple[Node, int], set[Node]] = {}  # edge → variables whose memory it is
        for node in self._layout.nodes:
            given: set[Node] = set()
            for position, edge in enumerate(node.inputs):
                variables = self._variables.get(edge, ())
                for variable in variables:
                    if _writes(node, position, variable):
                        writers.setdefault(variable, []).append(node)
                    else:
                        users.setdefault(variable, {})[node] = None
                if is_ref(*edge) or node.type == "ReadVariableOp":
                    given.update(variables)
                for variable in shown.get(edge, ()):
                    users.setdefault(variable, {})[node] = None
                    given.add(variable)
            if given:
                self.exposed.add(node)
                if shows(node):
                    shown.update({(node, i): given for i in range(len(node.output_dtypes)) if not is_ref(node, i)})
        self.exposed = self.exposed if writers else set()
        if as_created:
            return
        before = _before(self._layout, list(dict.fromkeys(w for found in writers.values() for w in found)))
        for variable, found in writers.items():
            for writer in found:
                uses = [u for u in users.get(variable, ()) if u is not writer and writer not in before[u]]
                self._uses.setdefault(writer, []).extend(uses)
        self._find_sections()

    def _find_sections(self) -> None:
        """Let the critical sections of one lock follow each other: a run that took the lock twice would wait for
        itself.
        """
        ends: dict[tuple, list[Node]] = {}
        for node in self._layout.nodes:
            if node.type == "MutexLock":
                earlier = ends.setdefault(origin(node.inputs[0]), [])
                self._uses.setdefault(node, []).extend(earlier)
                earlier += [u for u, _, _ in self._layout.users[node] if u.type == "ConsumeMutexLock"]

    def _find_meetings(self) -> None:
        """Nodes that put into and take from the same store, in no order: a full queue lets nothing in before something
        is taken.
        """
        stores: dict = {}
        for node in self._layout.nodes:
            if not self._layout.path[node] and node.facts.waits in (Waits.PUTS, Waits.TAKES):
                stores.setdefault(self._store(node), []).append(node)
        for nodes in stores.values():
            before = _before(self._layout, nodes)
            chosen: list[Node] = []
            for node in nodes:
                if not any(node in before[other] or other in before[node] for other in chosen):
                    chosen.append(node)
            if {n.facts.waits for n in chosen} == {Waits.PUTS, Waits.TAKES}:
                self.concurrent.update(dict.fromkeys(chosen, frozenset(chosen)))

    def _store(self, node: Node) -> Hashable:
        if node.inputs and node.type != "Stage":
            return frozenset(self._variables.get(node.inputs[0], ()))
        return node.attribute("container"), node.attribute("shared_name")


def _variables(layout: Layout) -> dict[tuple[Node, int], frozenset[Node]]:
    """Edges that are references or handles → the nodes that made what is behind them."""
    found: dict[tuple[Node, int], frozenset[Node]] = {}
    for node in layout.nodes:
        made = frozenset().union(*(found.get(edge, ()) for edge in node.inputs)) or frozenset([node])
        for i, dtype in enumerate(node.output_dtypes):
            if dtype._is_ref_dtype or dtype is dtypes.resource:
                found[node, i] = made
    return found


def _writes(node: Node, position: int, variable: Node) -> bool:
    if passes(node) or node.type in KINDS or node.facts.writes == ():
        return False
    if node.definition is None:
        return variable.type in ("VarHandleOp", FEED)  # a function may do anything with what it is given
    if node.input_dtypes[position] is dtypes.resource:
        return variable.type in ("VarHandleOp", FEED)  # queues, tables and iterators order their uses themselves
    for argument, count in input_counts(node):
        if position < count:
            return argument.is_ref
        position -= count
    return False


def _above(layout: Layout, nodes: list[Node]) -> set[Node]:
    """Nodes, and all that they need."""
    found: set[Node] = set()
    while nodes:
        node = nodes.pop()
        if node not in found:
            found.add(node)
            nodes += [n for n, _ in node.inputs] + node.controls
    return found


def _before(layout: Layout, nodes: list[Node]) -> dict[Node, set[Node]]:
    """Node → those of some nodes that always run before it, in the same round.

    A loop counts as a whole: all that enters it comes before what is inside, and all inside before what its Exits give.
    """
    before: dict[Node, set[Node]] = {node: set() for node in layout.nodes}
    among = set(nodes)
    entering: dict[tuple, set[Node]] = {}  # path → what comes before a frame
    inside: dict[tuple, set[Node]] = {}  # path → what has run when a frame has come to its end
    grows = bool(nodes)
    while grows:
        grows = False
        for node in layout.nodes:
            kind, path, found = KINDS.get(node.type), layout.path[node], before[node]
            known = len(found)
            for source in [n for n, _ in node.inputs] + node.controls:
                if not (kind == "Merge" and KINDS.get(source.type) == "NextIteration"):
                    found |= before[source]
                    found |= {source} & among
            found |= entering.get(path, set())
            if kind == "Exit":
                found |= inside.get(path, set())
            if kind == "Enter":
                entering.setdefault(layout.leads_to(node), set()).update(found)
            if path:
                inside.setdefault(path, set()).update(found, {node} & among)
                inside.setdefault(path[:-1], set()).update(inside[path])
            grows |= len(found) > known
    return before
