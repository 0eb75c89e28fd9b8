"""The order in which things run: that in which they were made, inputs first.

Where a graph leaves a use of a variable and a write to it unordered, uses run before the write, so that a run gives the
same result every time. After this stage the order is all that is left of control dependencies.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from everflow.framework import dtypes
from everflow.kernels.facts import Memory, Waits
from everflow.runtime.plan.collectives import turn
from everflow.runtime.plan.control_flow import CONTROL_FLOW, AtOnce, ControlFlow, Frame, Unstructured, origin
from everflow.runtime.plan.program import FEED, Node, input_counts, is_ref
from everflow.runtime.plan.prune import MERGE, NEXT, Pruned

if TYPE_CHECKING:
    from everflow.runtime.hints import Item

# Item → those that must run before it.
_Needed: TypeAlias = "dict[Item, set[Item]]"


@dataclass(slots=True)
class Accesses:
    """Who changes a variable's value, and who looks at it; by the node that made the variable."""

    writers: dict[Node, list[Node]]
    users: dict[Node, list[Node]]


def schedule(pruned: Pruned, flow: ControlFlow, *, as_created: bool = False) -> int:
    """Put the items of a graph, and those inside its loops, into the order they run. Gives how many writes had to wait
    for uses.

    `as_created` keeps the order in which the nodes were made, but for inputs: it was chosen for all parts of a graph
    that runs on several tasks.
    """
    accesses = variable_accesses(pruned.nodes)
    order = _created if as_created else _ordered
    delayed = 0
    for loop in flow.frames.values():
        ordered, moved = order(loop.items, len(loop.path), flow, accesses)
        loop.items = [i for i in ordered if i not in loop.body] + [i for i in ordered if i in loop.body]
        delayed += moved
    if not as_created:
        _let_waiting_meet(flow)
    flow.items, moved = order(flow.items, 0, flow, accesses)
    return delayed + moved


def flattened(items: list[Item]) -> list[Node]:
    """The nodes of scheduled items, those of loops in their place."""
    result = []
    for item in items:
        result += flattened(item.items) if isinstance(item, Frame) else _nodes(item)
    return result


# --- variables -----------------------------------------------------------------------------


def variable_of(node: Node, position: int = 0) -> Node:
    """The node that made the variable behind a ref or resource input, followed through ops that pass it on."""
    source, output = node.inputs[position]
    while source.inputs and (is_ref(source, output) or source.output_dtypes[output] is dtypes.resource):
        source, output = source.inputs[0]
    return source


def variable_accesses(nodes: list[Node]) -> Accesses:
    """The writers of variables, and the users of those that are written."""
    writers: dict[Node, list[Node]] = {}
    for node in nodes:
        for variable in written_by(node):
            writers.setdefault(variable, []).append(node)
    users: dict[Node, dict[Node, None]] = {}
    shown_by: dict[tuple[Node, int], set[Node]] = {}  # edge → variables whose buffer it may show
    for node in nodes if writers else ():
        shown: set[Node] = set()
        is_fresh = node.facts.result.memory is Memory.FRESH
        for position, edge in enumerate(node.inputs):
            source, output = edge
            if is_ref(source, output) or source.output_dtypes[output] is dtypes.resource:
                variable = variable_of(node, position)
                if variable not in writers:
                    continue
                if not _writes(node, position):
                    users.setdefault(variable, {})[node] = None
                if is_ref(source, output) and not is_fresh:
                    shown.add(variable)
            elif edge in shown_by:
                for variable in shown_by[edge]:
                    users.setdefault(variable, {})[node] = None
                if not is_fresh:
                    shown |= shown_by[edge]
        if shown:
            for i in range(len(node.output_dtypes)):
                if not is_ref(node, i):
                    shown_by[node, i] = shown
    return Accesses(writers, {v: list(nodes) for v, nodes in users.items()})


def written_by(node: Node) -> list[Node]:
    """The variables that a node changes."""
    if node.facts.writes == () or not node.inputs:
        return []
    return [
        variable_of(node, position)
        for position, (source, output) in enumerate(node.inputs)
        if (is_ref(source, output) or source.output_dtypes[output] is dtypes.resource) and _writes(node, position)
    ]


def _writes(node: Node, position: int) -> bool:
    """Whether a node changes the variable that one of its inputs refers to."""
    declared = node.facts.writes
    if declared == () or node.blocks or node.type in CONTROL_FLOW:
        return False
    is_handle = node.inputs[position][0].output_dtypes[node.inputs[position][1]] is dtypes.resource
    # Queues, tables and iterators order their uses themselves.
    if is_handle and declared is None and variable_of(node, position).type not in ("VarHandleOp", FEED):
        return False
    if node.definition is None:  # a function may do anything with the handles it is given
        return is_handle
    offset = 0
    for number, (argument, count) in enumerate(input_counts(node)):
        if offset <= position < offset + count:
            return (is_handle or argument.is_ref) if declared is None else number in declared
        offset += count
    return False


# --- what waits for each other ----------------------------------------------------------------


def _nodes(item: Item) -> list[Node]:
    return [item] if isinstance(item, Node) else item.nodes


_MEETING = (Waits.PUTS, Waits.TAKES)


def _let_waiting_meet(flow: ControlFlow) -> None:
    """Make one item of nodes that put into and take from the same store, in no order: a full queue lets nothing in
    before something is taken.
    """
    stores: dict = {}
    for item in flow.items:
        if isinstance(item, Node) and item.facts.waits in _MEETING:
            stores.setdefault((_store(item), flow.guard(item)), []).append(item)
    for nodes in stores.values():
        if not _meet(nodes):
            continue
        nodes = _unordered(nodes, flow)
        if _meet(nodes):
            flow.groups.update(dict.fromkeys(nodes, AtOnce(nodes)))
            flow.items = list(dict.fromkeys(flow.owner(i, 0) if isinstance(i, Node) else i for i in flow.items))


def _meet(nodes: list[Node]) -> bool:
    return {n.facts.waits for n in nodes} == set(_MEETING)


def _store(node: Node) -> Hashable:
    """What a node puts into or takes from."""
    if "shared_name" in node.definition.attr_by_name:  # a staging area
        return node.attribute("container"), node.attribute("shared_name")
    return variable_of(node)


def _unordered(nodes: list[Node], flow: ControlFlow) -> list[Node]:
    """Those of some nodes that need not wait for each other."""
    place = {item: i for i, item in enumerate(flow.items)}
    needed = {item: _item_sources(item, 0, flow, place) for item in flow.items}
    bit: dict[Item, int] = {node: 1 << i for i, node in enumerate(nodes)}
    above: dict = {}
    for item in _topological(flow.items, needed):
        above[item] = 0
        for source in needed[item]:
            above[item] |= above.get(source, 0) | bit.get(source, 0)
    chosen: list[Node] = []
    for node in nodes:
        if not any(above[node] & bit[other] or above[other] & bit[node] for other in chosen):
            chosen.append(node)
    return chosen


def _waiting_last(items: list[Item]) -> list[Item]:
    """Items with those at the end that may wait for others of the same run: what is put into a queue comes before what
    is taken.
    """
    kinds = {node.facts.waits for item in items for node in _nodes(item)}
    if not kinds.issuperset(_MEETING):
        return items
    return sorted(items, key=lambda item: any(node.facts.waits is Waits.TAKES for node in _nodes(item)))


def _exchanges_apart(items: list[Item]) -> list[Item]:
    """Items with those in front that begin an exchange with others, and those at the end that wait for one."""
    turns: dict[Item, int] = {item: turn(item) for item in items if isinstance(item, Node)}
    return sorted(items, key=lambda item: turns.get(item, 0)) if any(turns.values()) else items


def _inputs_first(items: list[Item], needed: _Needed) -> list[Item]:
    """Items with those in front that bring in input, after what they need: where it has ended, the run should stop
    before it changes anything.
    """
    left: list[Item] = [item for item in items if isinstance(item, Node) and item.facts.first]
    if not left:
        return items
    in_front = set(left)
    while left:
        fresh = needed[left.pop()] - in_front
        in_front |= fresh
        left += fresh
    return sorted(items, key=lambda item: item not in in_front)


# --- ordering -------------------------------------------------------------------------------


def _created(items: list[Item], depth: int, flow: ControlFlow, accesses: Accesses) -> tuple[list[Item], int]:
    place = {item: i for i, item in enumerate(items)}
    return _topological(items, {item: _item_sources(item, depth, flow, place) for item in items}), 0


def _ordered(items: list[Item], depth: int, flow: ControlFlow, accesses: Accesses) -> tuple[list[Item], int]:
    items = _waiting_last(items)
    place = {item: i for i, item in enumerate(items)}
    needed = {item: _item_sources(item, depth, flow, place) for item in items}
    items = _inputs_first(_exchanges_apart(items), needed)
    place = {item: i for i, item in enumerate(items)}
    _one_at_a_time(items, needed)
    waiting = {item: len(sources) for item, sources in needed.items()}
    followers: dict = {item: [] for item in items}
    for item, sources in needed.items():
        for source in sources:
            followers[source].append(item)
    holds, held_by = _holds(items, depth, flow, needed, accesses, place)
    ready = [place[item] for item in items if not waiting[item]]
    heapq.heapify(ready)
    parked: set[int] = set()
    order: list = []
    delayed = 0
    while ready or parked:
        if not ready:  # uses that only other held writes let run: give way to the oldest write
            oldest = min(parked)
            parked.discard(oldest)
            holds[items[oldest]] = 0
            heapq.heappush(ready, oldest)
        item = items[heapq.heappop(ready)]
        if holds.get(item, 0) > 0:
            parked.add(place[item])
            delayed += 1
            continue
        order.append(item)
        for writer in held_by.get(item, ()):
            holds[writer] -= 1
            if not holds[writer] and place[writer] in parked:
                parked.discard(place[writer])
                heapq.heappush(ready, place[writer])
        for follower in followers[item]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, place[follower])
    if len(order) < len(items):
        stuck = next(item for item in items if waiting[item])
        node = _nodes(stuck)[0]
        raise Unstructured(f"{node.name!r}, as a part of its loop, waits for what that loop gives")
    return order, delayed


def _one_at_a_time(items: list[Item], needed: _Needed) -> None:
    """Let the critical sections of one lock follow each other: a run that took the lock twice would wait for itself."""
    ends: dict[Node, set[Node]] = {}
    sections: dict = {}
    for item in items:
        if isinstance(item, Node) and item.type == "ConsumeMutexLock":
            ends.setdefault(item.inputs[0][0], set()).add(item)
        elif isinstance(item, Node) and item.type == "MutexLock":
            sections.setdefault(origin(item.inputs[0]), []).append(item)
    for of_one_lock in sections.values():
        for lock, following in zip(of_one_lock, of_one_lock[1:], strict=False):
            needed[following] |= ends.get(lock, set())


def _item_sources(item: Item, depth: int, flow: ControlFlow, place: dict[Item, int]) -> set[Item]:
    """The items at this level that must run before an item."""
    if flow.is_straight and isinstance(item, Node):
        sources: set[Any] = {source for source, _ in item.inputs}
        sources.update(item.controls)
        return {flow.groups.get(s, s) for s in sources} if flow.groups else sources
    result: set[Item] = set()
    for node in _nodes(item):
        for source, _ in node.inputs:
            if not (node.type in MERGE and source.type in NEXT):
                result.add(flow.owner(source, depth))
        result.update(flow.owner(control, depth) for control in node.controls)
    result.discard(item)
    return {source for source in result if source in place}


def _holds(
    items: list[Item], depth: int, flow: ControlFlow, needed: _Needed, accesses: Accesses, place: dict[Item, int]
) -> tuple[dict[Item, int], dict[Item, list[Item]]]:
    """Writer → how many unordered uses it waits for; use → the writers that wait for it."""

    def at_this_level(nodes: list[Node]) -> list[Item]:
        owners = dict.fromkeys(flow.owner(n, depth) for n in nodes if len(flow.frame(n)) >= depth)
        return [o for o in owners if o in place]

    writers = {v: at_this_level(nodes) for v, nodes in accesses.writers.items() if v in accesses.users}
    users = {v: at_this_level(accesses.users[v]) for v in writers}
    all_writers = list(dict.fromkeys(w for found in writers.values() for w in found))
    if not all_writers:
        return {}, {}
    bit = {w: 1 << i for i, w in enumerate(all_writers)}
    above: dict = {}  # the writers that come before an item, as bits; a loop that waits for itself is told of later
    for item in _topological(items, needed):
        mask = 0
        for source in needed[item]:
            mask |= above.get(source, 0) | bit.get(source, 0)
        above[item] = mask
    holds: dict = {}
    held_by: dict = {}
    for variable, its_writers in writers.items():
        for use in users[variable]:
            for writer in its_writers:
                if use is not writer and not above[use] & bit[writer]:
                    holds[writer] = holds.get(writer, 0) + 1
                    held_by.setdefault(use, []).append(writer)
    return holds, held_by


def _topological(items: list[Item], needed: _Needed) -> list[Item]:
    """Items with their sources first; a loop stands where its first node does, which may be before what it needs."""
    seen: set = set()
    result: list = []
    for start in items:
        if start in seen:
            continue
        stack = [(start, iter(needed[start]))]
        seen.add(start)
        while stack:
            item, rest = stack[-1]
            for source in rest:
                if source not in seen:
                    seen.add(source)
                    stack.append((source, iter(needed[source])))
                    break
            else:
                stack.pop()
                result.append(item)
    return result
