"""Loops and branches, recovered from the dataflow ops that hold them in a graph.

A frame (what lies between Enter and Exit) is a loop; a node behind a Switch has a guard: the predicates that must hold
for it to run. Graphs that `while_loop` and `cond` would never write have no such structure; they are run token by token
(`tokens.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from everflow.framework import errors
from everflow.runtime.plan.program import FEED, Edge, Node, is_ref
from everflow.runtime.plan.prune import MERGE, NEXT, Pruned

if TYPE_CHECKING:
    from everflow.runtime.hints import Item

SWITCH = frozenset(["Switch", "RefSwitch"])
ENTER = frozenset(["Enter", "RefEnter"])
EXIT = frozenset(["Exit", "RefExit"])
CONTROL_FLOW = SWITCH | MERGE | ENTER | EXIT | NEXT | {"LoopCond"}

Literal = tuple[Edge, bool]  # a predicate and what it must be
Guard = tuple[Literal, ...] | None
Path = tuple[str, ...]  # names of the frames around something, the outermost first
DEAD = None  # the guard of a node that can never run: it needs both sides of a branch


def origin(edge: Edge) -> Edge:
    """Where something comes from that branches and loops only let in, as they do with resources."""
    while edge[0].type in SWITCH or edge[0].type in ENTER:
        edge = edge[0].inputs[0]
    return edge


class Unstructured(Exception):
    """A graph's control flow is not that of loops and branches."""


@dataclass(slots=True, eq=False)
class Frame:
    """A while loop. `variables` are the Merge nodes that take a first value from an Enter and later ones from a
    NextIteration.
    """

    path: Path  # names of the frames around it and its own
    nodes: list[Node] = field(default_factory=list)  # all nodes inside, also those of loops within
    items: list[Item] = field(default_factory=list)  # nodes and loops directly inside
    variables: list[Node] = field(default_factory=list)
    predicate: Edge = None  # type: ignore[assignment]  # found before anybody asks for it
    body: set[Item] = field(default_factory=set)  # the items that run only when the predicate holds
    after: set[Item] = field(default_factory=set)  # the items that run when it no longer does
    guard: Guard = ()

    def entry(self, merge: Node) -> Edge:
        return next(e for e in merge.inputs if e[0].type not in NEXT)

    def following(self, merge: Node) -> Edge:
        return next(e for e in merge.inputs if e[0].type in NEXT)


@dataclass(slots=True, eq=False)
class AtOnce:
    """Nodes that run at the same time, because one may wait for what another does."""

    nodes: list[Node]


class ControlFlow:
    """Which loop each node is in, and on which side of which branches."""

    def __init__(self, pruned: Pruned) -> None:
        self.frame_of: dict[Node, tuple] = {}
        self.guard_of: dict[Node, Guard] = {}
        self.frames: dict[tuple, Frame] = {}
        self.items: list[Any] = pruned.nodes  # what is in no loop
        self.groups: dict[Node, AtOnce] = {}
        self.is_straight = not any(node.type in CONTROL_FLOW for node in pruned.nodes)
        if not self.is_straight:
            self._find_frames(pruned.nodes)
            self._find_loops(pruned.nodes)
            self._find_guards(pruned.nodes)
            self._find_items(pruned.nodes)

    def frame(self, node: Node) -> Path:
        return self.frame_of.get(node, ())

    def guard(self, item: Item) -> Guard:
        if isinstance(item, Frame):
            return item.guard
        return self.guard_of.get(item.nodes[0] if isinstance(item, AtOnce) else item, ())

    def owner(self, node: Node, depth: int) -> Item:
        """The item that stands for a node among items that are `depth` frames deep."""
        if self.is_straight:
            return self.groups.get(node, node) if self.groups else node
        path = self.frame_of[node]
        return self.groups.get(node, node) if len(path) <= depth else self.frames[path[: depth + 1]]

    # --- frames -------------------------------------------------------------------------------

    def _find_frames(self, nodes: list[Node]) -> None:
        """Give each node the path of frames it runs in; Enter and Exit count as inside their loop."""
        frame_of = self.frame_of
        for node in nodes:
            path: Path = ()
            for source in sources(node):
                outside = frame_of[source][:-1] if source.type in EXIT else frame_of[source]
                if len(outside) > len(path):
                    path = outside
            if node.type in ENTER:
                path += (node.attribute("frame_name"),)
            frame_of[node] = path
        depth = 1
        while inside := [n for n in nodes if len(frame_of[n]) >= depth]:
            conditions = Counter(frame_of[n] for n in inside if n.type == "LoopCond" and len(frame_of[n]) == depth)
            for path in [path for path, count in conditions.items() if count > 1]:
                self._tell_namesakes_apart([n for n in inside if frame_of[n][:depth] == path], path)
            depth += 1

    def _tell_namesakes_apart(self, nodes: list[Node], path: Path) -> None:
        """Loops that were imported several times have frames of one name; each gets a path of its own by what hangs
        together.
        """
        frame_of = self.frame_of
        among = set(nodes)
        joined: dict[Node, list[Node]] = {node: [] for node in nodes}
        for node in nodes:
            for source in [n for n, _ in node.inputs] + node.controls:
                if source in among and not (source.type in EXIT and frame_of[source] == path):
                    joined[node].append(source)
                    joined[source].append(node)
        number = 0
        for start in nodes:
            if start not in among:
                continue
            stack = [start]
            while stack:
                node = stack.pop()
                if node in among:
                    among.remove(node)
                    frame_of[node] = (*path[:-1], f"{path[-1]} {number}", *frame_of[node][len(path) :])
                    stack += joined[node]
            number += 1

    def _find_loops(self, nodes: list[Node]) -> None:
        for node in nodes:
            path = self.frame_of[node]
            for depth in range(len(path)):
                self.frames.setdefault(path[: depth + 1], Frame(path[: depth + 1])).nodes.append(node)
            if not path:
                continue
            loop = self.frames[path]
            if node.type in MERGE and any(n.type in NEXT for n, _ in node.inputs):
                _check_types(node)
                if len(node.inputs) != 2 or node.inputs[0][0].type in NEXT or node.inputs[0][0].type not in ENTER:
                    raise Unstructured(f"{node.name!r} is no loop variable")
                loop.variables.append(node)
            elif node.type == "LoopCond":
                if loop.predicate is not None:
                    raise Unstructured(f"the loop of {node.name!r} has several conditions")
                loop.predicate = (node, 0)
        for loop in self.frames.values():
            if loop.predicate is None:
                raise Unstructured(f"the loop around {loop.nodes[0].name!r} has no LoopCond")
        for node in nodes:
            self._check_form(node)

    def _check_form(self, node: Node) -> None:
        """Values go round and leave in loops, and leave one at a time."""
        if node.type in NEXT and not self.frame_of[node]:
            raise Unstructured(f"{node.name!r} is in no loop")
        if node.type in EXIT and node.inputs[0][0].type in EXIT:
            raise Unstructured(f"{node.name!r} leaves two loops at once")

    def _find_items(self, nodes: list[Node]) -> None:
        self.items = []
        for node in nodes:
            path = self.frame_of[node]
            for depth in range(len(path)):
                inside = self.frames[path[: depth + 1]]
                (self.items if depth == 0 else self.frames[path[:depth]].items).append(inside)
            (self.frames[path].items if path else self.items).append(node)
        for items in [self.items, *(loop.items for loop in self.frames.values())]:
            items[:] = dict.fromkeys(items)
        for loop in self.frames.values():
            depth = len(loop.path)
            loop.body = {self.owner(n, depth) for n in self._side(loop, 1)}
            loop.after = {self.owner(n, depth) for n in self._side(loop, 0)}
            self._check_sides(loop)

    def _side(self, loop: Frame, side: int) -> set[Node]:
        """The nodes that run only when the loop goes round once more, or only when it does not."""
        depth = len(loop.path)
        found: set[Node] = set()
        for node in loop.nodes:
            for source, output in node.inputs:
                if source.type in NEXT:
                    continue
                if source in found or (
                    is_loop_switch(source) and len(self.frame_of[source]) == depth and output == side
                ):
                    found.add(node)
            if any(source in found for source in node.controls):
                found.add(node)
        return found

    def _check_sides(self, loop: Frame) -> None:
        """What leaves a loop, and what comes after its last round, takes nothing but what the loop has come to."""
        depth = len(loop.path)
        if loop.body & loop.after:
            raise Unstructured(f"nodes of the loop {loop.path[-1]!r} hang on both sides of its condition")
        for node in loop.nodes:
            if len(self.frame_of[node]) != depth:
                continue
            if (node.type in EXIT) and node not in loop.after:
                raise Unstructured(f"{node.name!r} leaves a loop from inside")
            if node in loop.after:
                for source, output in node.inputs:
                    ends = is_loop_switch(source) and output == 0
                    if not (
                        ends
                        or source in loop.after
                        or source.type in ENTER
                        or self.owner(source, depth) in loop.after
                        or _is_there(source)
                    ):
                        raise Unstructured(f"{node.name!r} takes what a loop made in its last round")

    # --- guards -------------------------------------------------------------------------------

    def _find_guards(self, nodes: list[Node]) -> None:
        guard_of = self.guard_of
        for node in nodes:
            if node.type == "ControlTrigger":  # runs whatever its control inputs did
                guards = [set(g) for g in (guard_of[c] for c in node.controls) if g is not None]
                guard_of[node] = self._sorted(set.intersection(*guards) if guards else set())
            elif node.type in MERGE:
                guard_of[node] = self._merge_guard(node)
            else:
                union: set[Literal] | None = set()
                for edge in node.inputs:
                    union = _joined(union, self.edge_guard(edge))
                for control in node.controls:
                    union = _joined(union, guard_of[control])
                guard_of[node] = DEAD if union is None else self._sorted(union)
        for loop in self.frames.values():
            loop.guard = self._loop_guard(loop)
            if loop.guard is DEAD:
                raise Unstructured(f"the loop {loop.path[-1]!r} can never run")

    def _loop_guard(self, loop: Frame) -> Guard:
        """A loop runs when its variables have first and next values; what else enters it may be of a branch that only
        some of its nodes take.
        """
        inside = set(loop.nodes)
        union: set[Literal] | None = set()
        for merge in loop.variables:
            union = _joined(union, self.guard_of[loop.entry(merge)[0]])
            following = self.guard_of[loop.following(merge)[0]]
            union = _joined(
                union, None if following is None else tuple(lit for lit in following if lit[0][0] not in inside)
            )
        return DEAD if union is None else self._sorted(union)

    def edge_guard(self, edge: Edge) -> Guard:
        """What must hold for an edge to carry a value."""
        node, output = edge
        guard = self.guard_of.get(node, ())
        if guard is None or node.type not in SWITCH or is_loop_switch(node):
            return guard
        union = _joined(set(guard), ((predicate_of(node.inputs[1]), output == 1),))
        return DEAD if union is None else self._sorted(union)

    def _merge_guard(self, node: Node) -> Guard:
        """A Merge runs when one of its inputs does: what both sides of a branch need, or the one that can ever run. It
        waits for control inputs, and runs also after those that didn't.
        """
        alive = [set(g) for g in (self.edge_guard(e) for e in node.inputs if e[0].type not in NEXT) if g is not None]
        if not alive:
            return DEAD
        common = set.intersection(*alive)
        if len(alive) > 1:
            choice = [g - common for g in alive]
            if len(alive) > 2 or any(len(c) != 1 for c in choice):
                raise Unstructured(f"{node.name!r} merges more than two sides of a branch")
            (one, side), (other, other_side) = (next(iter(c)) for c in choice)
            if one != other or side == other_side:
                raise Unstructured(f"{node.name!r} merges values that are not the two sides of a branch")
        return self._sorted(common)

    def _sorted(self, union: set[Literal]) -> Guard:
        """Outer predicates first, so that each is known where it is asked."""
        return tuple(
            sorted(union, key=lambda lit: (len(self.guard_of.get(lit[0][0]) or ()), lit[0][0].index, lit[0][1]))
        )


def _is_there(node: Node) -> bool:
    return node.type in (FEED, "Const")


def sources(node: Node) -> list[Node]:
    """Where a node's inputs come from, without loops' back edges."""
    found = [n for n, _ in node.inputs if not (node.type in MERGE and n.type in NEXT)]
    return found + node.controls


def is_loop_switch(node: Node) -> bool:
    """Whether a Switch decides if a loop goes round once more, rather than between branches."""
    return node.type in SWITCH and node.inputs[1][0].type == "LoopCond"


def predicate_of(edge: Edge) -> Edge:
    """A predicate through nodes that only rename it, so that a branch's Switches are seen to share one."""
    node, _ = edge
    while node.type == "Identity" and not is_ref(*node.inputs[0]):
        edge = node.inputs[0]
        node = edge[0]
    return edge


def _joined(union: set[Literal] | None, guard: Guard) -> set[Literal] | None:
    if union is None or guard is None:
        return None
    if not guard:
        return union
    union = union | set(guard)
    return None if any((predicate, not taken) in union for predicate, taken in union) else union


def _check_types(merge: Node) -> None:
    """A loop variable must come round with the type it started with."""
    expected = merge.output_dtypes[0].base_dtype
    for slot, (source, output) in enumerate(merge.inputs):
        if source.output_dtypes[output].base_dtype != expected:
            raise errors.InvalidArgumentError(
                merge.op.node_def,
                merge.op,
                f"Input {slot} of node {merge.name} was passed {source.output_dtypes[output].name} from {source.name}:{output} "
                f"incompatible with expected {expected.name}.",
            )
