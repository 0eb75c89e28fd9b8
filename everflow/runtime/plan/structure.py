"""Fifth stage: loops and branches, recovered from the dataflow ops that hold them in a graph.

A frame (what lies between Enter and Exit) becomes a `Loop`; a node behind a Switch gets a guard: the predicates that must hold for it
to run. Everything else stays a plain node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from everflow.framework import errors
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, is_ref

SWITCH = frozenset(["Switch", "RefSwitch"])
MERGE = frozenset(["Merge", "RefMerge"])
ENTER = frozenset(["Enter", "RefEnter"])
EXIT = frozenset(["Exit", "RefExit"])
NEXT = frozenset(["NextIteration", "RefNextIteration"])
CONTROL_FLOW = SWITCH | MERGE | ENTER | EXIT | NEXT | {"LoopCond"}


@dataclass(slots=True, eq=False)
class Loop:
    """A while loop. `variables` are the Merge nodes that take a first value from an Enter and later ones from a NextIteration."""

    path: tuple  # names of the frames around it and its own
    nodes: list[Node] = field(default_factory=list)  # all nodes inside, also those of loops within
    items: list = field(default_factory=list)  # nodes and loops directly inside, in creation order
    variables: list[Node] = field(default_factory=list)
    predicate: tuple[Node, int] | None = None
    body: set = field(default_factory=set)  # the items that run only when the predicate holds
    guard: tuple = ()

    @property
    def index(self) -> int:
        return self.nodes[0].index

    def entry(self, merge: Node) -> tuple[Node, int]:
        return next(e for e in merge.inputs if e[0].type not in NEXT)

    def following(self, merge: Node) -> tuple[Node, int] | None:
        return next((e for e in merge.inputs if e[0].type in NEXT), None)

    def pivots(self) -> tuple[Node | None, Node | None]:
        """Nodes that tell where in a loop others belong: one of the condition, one of the body; neither waits for anything computed there."""
        first = next((n for n in self.nodes if n in self.body and n.frame == self.path and n.guard == self.guard and _comes_first(n)), None)
        return (self.variables[0] if self.variables else None), first


def _comes_first(node: Node) -> bool:
    """Whether a node of a loop's body takes nothing but loop variables and what comes from outside."""
    return not node.controls and all(n.type in SWITCH or n.type in ENTER or n.type in (FEED, VALUE, "Const") for n, _ in node.inputs)


@dataclass(slots=True, eq=False)
class Together:
    """Nodes that run at the same time, because one may wait for what another does."""

    nodes: list[Node]
    guard: tuple


@dataclass(slots=True)
class Structure:
    """The items at the top, and which loop or group each node is in."""

    items: list
    loops: dict[tuple, Loop]
    groups: dict[Node, Together] = field(default_factory=dict)

    def owner(self, node: Node, depth: int):
        """The item that stands for a node among items that are `depth` frames deep."""
        path = node.frame or ()
        return self.groups.get(node, node) if len(path) <= depth else self.loops[path[: depth + 1]]


def structure(program: Program) -> Structure:
    """Find the loops and guards of a program; sets `frame` and `guard` of its nodes."""
    if not any(node.type in CONTROL_FLOW for node in program.nodes):
        for node in program.nodes:
            node.frame, node.guard = (), ()
        return Structure(program.nodes, {})
    _find_frames(program)
    loops = _find_loops(program)
    _find_guards(program, loops)
    top: list = []
    found = Structure(top, loops)
    for node in program.nodes:
        path = node.frame
        for depth in range(len(path)):
            inside = loops[path[: depth + 1]]
            (top if depth == 0 else loops[path[:depth]].items).append(inside)
        (loops[path].items if path else top).append(node)
    for items in [top] + [loop.items for loop in loops.values()]:
        items[:] = dict.fromkeys(items)
    for loop in loops.values():
        loop.body = {found.owner(n, len(loop.path)) for n in _body_nodes(loop)}
    return found


# --- frames --------------------------------------------------------------------------------


def _find_frames(program: Program) -> None:
    """Give each node the path of frames it runs in; Enter and Exit count as inside their loop."""
    for node in program.nodes:
        path: tuple = ()
        for source in _sources(node):
            outside = source.frame[:-1] if source.type in EXIT else source.frame
            if outside is not None and len(outside) > len(path):
                path = outside
        if node.type in ENTER:
            path += (node.attribute("frame_name"),)
        node.frame = path
    depth = 1
    while inside := [n for n in program.nodes if len(n.frame) >= depth]:
        conditions = Counter(n.frame for n in inside if n.type == "LoopCond" and len(n.frame) == depth)
        for path in [path for path, count in conditions.items() if count > 1]:
            _tell_namesakes_apart([n for n in inside if n.frame[:depth] == path], path)
        depth += 1


def _tell_namesakes_apart(nodes: list[Node], path: tuple) -> None:
    """Loops that were imported several times have frames of one name; each gets a path of its own by what hangs together."""
    among = set(nodes)
    joined: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for source in [n for n, _ in node.inputs] + node.controls:
            if source in among and not (source.type in EXIT and source.frame == path):
                joined[node].append(source)
                joined[source].append(node)
    number = 0
    while among:
        stack = [next(n for n in nodes if n in among)]
        while stack:
            node = stack.pop()
            if node in among:
                among.remove(node)
                node.frame = (*path[:-1], f"{path[-1]} {number}", *node.frame[len(path) :])
                stack += joined[node]
        number += 1


def _sources(node: Node) -> list[Node]:
    """Where a node's inputs come from, without loops' back edges."""
    found = [n for n, _ in node.inputs if not (node.type in MERGE and n.type in NEXT)]
    return found + node.controls


def _find_loops(program: Program) -> dict[tuple, Loop]:
    loops: dict[tuple, Loop] = {}
    for node in program.nodes:
        path = node.frame
        for depth in range(len(path)):
            loops.setdefault(path[: depth + 1], Loop(path[: depth + 1])).nodes.append(node)
        if not path:
            continue
        loop = loops[path]
        if node.type in MERGE and any(n.type in NEXT for n, _ in node.inputs):
            loop.variables.append(node)
        elif node.type == "LoopCond":
            loop.predicate = (node, 0)
    for loop in loops.values():
        if loop.predicate is None:
            node = loop.nodes[0]
            raise errors.InvalidArgumentError(
                node.op.node_def, node.op, f"The while loop around {node.name!r} has no LoopCond: it could never end"
            )
        for merge in loop.variables:
            _check_types(merge)
    return loops


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


def is_loop_switch(node: Node) -> bool:
    """Whether a Switch decides if a loop goes round once more, rather than between branches."""
    return node.type in SWITCH and node.inputs[1][0].type == "LoopCond"


def _body_nodes(loop: Loop) -> set[Node]:
    """The nodes that run only when the loop goes round once more."""
    depth = len(loop.path)
    found: set[Node] = set()
    for node in loop.nodes:
        for source, output in node.inputs:
            if source.type in NEXT:
                continue
            if source in found or (is_loop_switch(source) and len(source.frame) == depth and output == 1):
                found.add(node)
        if any(source in found for source in node.controls):
            found.add(node)
        if node.type in EXIT and len(node.frame) == depth:
            found.discard(node)
    return found


# --- guards --------------------------------------------------------------------------------

DEAD = None  # the guard of a node that can never run: it needs both sides of a branch


def _find_guards(program: Program, loops: dict) -> None:
    for node in program.nodes:
        if node.type == "ControlTrigger":  # runs whatever its control inputs did
            guards = [set(c.guard) for c in node.controls if c.guard is not DEAD]
            node.guard = _sorted(set.intersection(*guards) if guards else set())
            continue
        if node.type in MERGE:
            node.guard = _merge_guard(node)
            continue
        union: set | None = set()
        for edge in node.inputs:
            union = _joined(union, edge_guard(edge))
        for control in node.controls:
            union = _joined(union, control.guard)
        node.guard = DEAD if union is None else _sorted(union)
    for loop in loops.values():
        loop.guard = _loop_guard(loop)


def _loop_guard(loop: Loop):
    """A loop runs when its variables have first and next values; what else enters it may be of a branch that only some of its nodes take."""
    inside = set(loop.nodes)
    union: set | None = set()
    for merge in loop.variables:
        union = _joined(union, loop.entry(merge)[0].guard)
        following = loop.following(merge)[0].guard
        union = _joined(union, following if following is DEAD else [literal for literal in following if literal[0][0] not in inside])
    return DEAD if union is None else _sorted(union)


def edge_guard(edge) -> tuple | None:
    """What must hold for an edge to carry a value."""
    node, output = edge
    if node.guard is DEAD or node.type not in SWITCH or is_loop_switch(node):
        return node.guard
    union = _joined(set(node.guard), ((predicate_of(node.inputs[1]), output == 1),))
    return DEAD if union is None else tuple(union)


def tells_branch(source: Node, node: Node) -> Node:
    """Whom to wait for instead of taking a value of `source`, as `node` does: of a branch's Switch only its takers know the side."""
    return node if source.type in SWITCH and not is_loop_switch(source) else source


def predicate_of(edge) -> tuple[Node, int]:
    """A predicate through nodes that only rename it, so that a branch's Switches are seen to share one."""
    node, _ = edge
    while node.type == "Identity" and not is_ref(*node.inputs[0]):
        edge = node.inputs[0]
        node = edge[0]
    return edge


def _joined(union: set | None, guard) -> set | None:
    if union is None or guard is DEAD:
        return None
    union = union | set(guard)
    return None if any((predicate, not taken) in union for predicate, taken in union) else union


def _merge_guard(node: Node):
    """A Merge runs when one of its inputs does: what all of them need, less the choice between them."""
    alive = [set(g) for g in (edge_guard(e) for e in node.inputs if e[0].type not in NEXT) if g is not DEAD]
    if not alive:
        return DEAD
    union = set.intersection(*alive)
    for control in node.controls:
        union = _joined(union, control.guard)
    return DEAD if union is None else _sorted(union)


def _sorted(union: set) -> tuple:
    """Outer predicates first, so that each is known where it is asked."""
    return tuple(sorted(union, key=lambda literal: (len(literal[0][0].guard or ()), literal[0][0].index, literal[0][1])))
