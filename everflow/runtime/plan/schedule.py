"""Fifth stage: the order in which nodes run.

Creation order, inputs first. Where the graph leaves a use of a variable and a write to it unordered, uses run before the write, so that
a run gives the same result every time.
"""

from __future__ import annotations

import heapq

from everflow.framework import dtypes
from everflow.runtime.plan import aliasing
from everflow.runtime.plan.program import Node, Program, input_counts, is_ref

# They take a variable by reference or handle and leave its value alone.
_PASSING = frozenset(
    """
    RefIdentity RefSwitch RefMerge RefEnter RefExit RefNextIteration RefSelect IsVariableInitialized Switch Merge Enter Exit NextIteration
    Identity IdentityN ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp
    """.split()
)


class Schedule:
    """Nodes in the order they run, and the reads that must take a copy because a write comes before their last use."""

    def __init__(self, order: list[Node], copies: set[Node], delayed: int):
        self.order = order
        self.copies = copies
        self.delayed = delayed  # writes that waited for uses made after them


def schedule(program: Program) -> Schedule:
    """Order the nodes of a program."""
    writers, users = _variable_accesses(program)
    order, delayed = _order(program, writers, users)
    return Schedule(order, aliasing.snapshots_to_copy(program, order, writers), delayed)


def _variable_accesses(program: Program):
    """Variable node → its writers; variable node → the nodes that look at its value."""
    writers: dict[Node, list[Node]] = {}
    users: dict[Node, list[Node]] = {}
    alias_of: dict[tuple[Node, int], set[Node]] = {}  # edge → variables whose buffer it may show
    for node in program.nodes:
        shown: set[Node] = set()
        for position, edge in enumerate(node.inputs):
            source, output = edge
            if is_ref(source, output) or source.output_dtypes[output] is dtypes.resource:
                variable = aliasing.variable_of(node, position)
                if _writes(node, position):
                    writers.setdefault(variable, []).append(node)
                else:
                    users.setdefault(variable, []).append(node)
                if node.type not in aliasing.FRESH and is_ref(source, output):
                    shown.add(variable)
            elif edge in alias_of:
                for variable in alias_of[edge]:
                    users.setdefault(variable, []).append(node)
                if node.type not in aliasing.FRESH:
                    shown |= alias_of[edge]
        if shown:
            for i in range(len(node.output_dtypes)):
                if not is_ref(node, i):
                    alias_of[node, i] = shown
    return writers, {v: list(dict.fromkeys(nodes)) for v, nodes in users.items() if v in writers}


def _writes(node: Node, position: int) -> bool:
    if node.type in _PASSING or node.definition is None:
        return False
    if node.input_dtypes[position] is dtypes.resource:
        return variable_like(node.inputs[position][0])
    offset = 0
    for argument, count in input_counts(node):
        if offset <= position < offset + count:
            return argument.is_ref
        offset += count
    return False


def variable_like(source: Node) -> bool:
    """Whether a resource is a variable; queues, tables and iterators order themselves."""
    return source.type in ("VarHandleOp", "_Feed", "Switch", "Enter", "Identity", "Merge")


def _order(program: Program, writers, users):
    nodes = program.nodes
    place = {node: i for i, node in enumerate(nodes)}
    waiting: dict[Node, int] = {}
    followers: dict[Node, list[Node]] = {node: [] for node in nodes}
    for i, node in enumerate(nodes):
        sources = {s for s in {n for n, _ in node.inputs} | set(node.controls) if place[s] < i}
        waiting[node] = len(sources)
        for source in sources:
            followers[source].append(node)
    holds, held_by = _holds(nodes, place, writers, users)
    ready = [place[node] for node in nodes if not waiting[node]]
    heapq.heapify(ready)
    parked: set[int] = set()
    order: list[Node] = []
    delayed = 0
    while ready or parked:
        if not ready:  # uses that only other held writes let run: give way to the oldest write
            oldest = min(parked)
            parked.discard(oldest)
            holds[nodes[oldest]] = 0
            heapq.heappush(ready, oldest)
        node = nodes[heapq.heappop(ready)]
        if holds.get(node):
            parked.add(place[node])
            delayed += 1
            continue
        order.append(node)
        for writer in held_by.get(node, ()):
            holds[writer] -= 1
            if not holds[writer] and place[writer] in parked:
                parked.discard(place[writer])
                heapq.heappush(ready, place[writer])
        for follower in followers[node]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, place[follower])
    return order, delayed


def _holds(nodes, place, writers, users):
    """Writer → how many unordered uses it waits for; use → the writers that wait for it."""
    all_writers = [w for variable, found in writers.items() if variable in users for w in found]
    if not all_writers:
        return {}, {}
    bit = {w: 1 << i for i, w in enumerate(dict.fromkeys(all_writers))}
    above: dict[Node, int] = {}  # the writers that come before a node, as bits
    for i, node in enumerate(nodes):
        mask = 0
        for source in [n for n, _ in node.inputs] + node.controls:
            if place[source] < i:
                mask |= above[source] | bit.get(source, 0)
        above[node] = mask
    holds: dict[Node, int] = {}
    held_by: dict[Node, list[Node]] = {}
    for variable, found in writers.items():
        for use in users.get(variable, ()):
            for writer in found:
                if use is not writer and not above[use] & bit[writer]:
                    holds[writer] = holds.get(writer, 0) + 1
                    held_by.setdefault(use, []).append(writer)
    return holds, held_by
