"""Sixth stage: the order in which things run.

Creation order, inputs first. Where the graph leaves a use of a variable and a write to it unordered, uses run before the write, so that
a run gives the same result every time.
"""

from __future__ import annotations

import heapq

from everflow.framework import dtypes, errors
from everflow.runtime.plan import aliasing
from everflow.runtime.plan.program import Node, Program, input_counts, is_ref
from everflow.runtime.plan.structure import MERGE, NEXT, Loop, Structure, Together

# They take a variable by reference or handle and leave its value alone.
_PASSING = frozenset(
    """
    RefIdentity RefSwitch RefMerge RefEnter RefExit RefNextIteration RefSelect IsVariableInitialized Switch Merge Enter Exit NextIteration
    Identity IdentityN ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp
    """.split()
)


class Schedule:
    """Items in the order they run, and the reads that must take a copy because a write comes before their last use."""

    def __init__(self, items: list, copies: set[Node], delayed: int):
        self.items = items
        self.copies = copies
        self.delayed = delayed  # writes that waited for uses made after them


def schedule(program: Program, found: Structure, *, as_created: bool = False) -> Schedule:
    """Order the items of a program, and those inside its loops (which are ordered in place).

    `as_created` keeps the order in which the nodes were made, but for inputs: it was chosen for all parts of a graph that runs on several tasks.
    """
    accesses = variable_accesses(program)
    order = _created if as_created else _order
    delayed = 0
    for loop in found.loops.values():
        ordered, moved = order(loop.items, len(loop.path), found, accesses)
        loop.items = [i for i in ordered if i not in loop.body] + [i for i in ordered if i in loop.body]
        delayed += moved
    if not as_created:
        _let_waiting_meet(found)
    items, moved = order(found.items, 0, found, accesses)
    flat = flattened(items)
    return Schedule(items, aliasing.snapshots_to_copy(program, flat, accesses[0]), delayed + moved)


def flattened(items: list) -> list[Node]:
    """The nodes of scheduled items, those of loops in their place."""
    result = []
    for item in items:
        result += flattened(item.items) if isinstance(item, Loop) else _nodes(item)
    return result


# --- variables -----------------------------------------------------------------------------


def variable_accesses(program: Program):
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
        # Queues, tables and iterators order their uses themselves.
        return aliasing.variable_of(node, position).type in ("VarHandleOp", "_Feed")
    offset = 0
    for argument, count in input_counts(node):
        if offset <= position < offset + count:
            return argument.is_ref
        offset += count
    return False


# Ops that put something where others wait for it, and those that wait.
PUTTING = frozenset(
    {"QueueEnqueue", "QueueEnqueueMany", "QueueEnqueueV2", "QueueEnqueueManyV2", "QueueClose", "QueueCloseV2", "BarrierInsertMany"}
    | {"AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", "SparseAccumulatorApplyGradient", "Stage"}
)
TAKING = frozenset(
    {"QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo", "QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"}
    | {"ReaderRead", "ReaderReadV2", "ReaderReadUpTo", "ReaderReadUpToV2", "BarrierTakeMany"}
    | {"AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient", "Unstage"}
)

# Ops of iterators, which come first: an input that has ended should stop the run before anything is changed.
_ITERATING = frozenset({"MakeIterator", "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional"})

# --- ordering ------------------------------------------------------------------------------


def _nodes(item) -> list[Node]:
    return [item] if isinstance(item, Node) else item.nodes


def _let_waiting_meet(found: Structure) -> None:
    """Make one item of nodes that put into and take from the same store, in no order: a full queue lets nothing in before something is taken."""
    stores: dict = {}
    for item in found.items:
        if isinstance(item, Node) and (item.type in PUTTING or item.type in TAKING):
            stores.setdefault((_store(item), item.guard), []).append(item)
    for (_, guard), nodes in stores.items():
        if not all(any(n.type in kind for n in nodes) for kind in (PUTTING, TAKING)):
            continue
        nodes = _unordered(nodes, found)
        if all(any(n.type in kind for n in nodes) for kind in (PUTTING, TAKING)):
            group = Together(nodes, guard)
            found.groups.update(dict.fromkeys(nodes, group))
            found.items = list(dict.fromkeys(found.owner(i, 0) if isinstance(i, Node) else i for i in found.items))


def _store(node: Node):
    """What a node puts into or takes from."""
    if node.inputs and node.type != "Stage":
        return aliasing.variable_of(node)
    return node.attribute("container"), node.attribute("shared_name")


def _unordered(nodes: list[Node], found: Structure) -> list[Node]:
    """Those of some nodes that need not wait for each other."""
    place = {item: i for i, item in enumerate(found.items)}
    sources = {item: _item_sources(item, 0, found, place) for item in found.items}
    bit = {node: 1 << i for i, node in enumerate(nodes)}
    above: dict = {}
    for item in _topological(found.items, sources):
        above[item] = 0
        for source in sources[item]:
            above[item] |= above[source] | bit.get(source, 0)
    chosen: list[Node] = []
    for node in nodes:
        if not any(above[node] & bit[other] or above[other] & bit[node] for other in chosen):
            chosen.append(node)
    return chosen


def _waiting_last(items: list) -> list:
    """Items with those at the end that may wait for others of the same run: what is put into a queue comes before what is taken."""
    types = {node.type for item in items for node in _nodes(item)}
    if not types & PUTTING or not types & TAKING:
        return items
    return sorted(items, key=lambda item: any(node.type in TAKING for node in _nodes(item)))


def _inputs_first(items: list, sources: dict) -> list:
    """Items with those in front that bring in elements of datasets, after what they need."""
    needed = [item for item in items if isinstance(item, Node) and item.type in _ITERATING]
    if not needed:
        return items
    in_front = set(needed)
    while needed:
        fresh = sources[needed.pop()] - in_front
        in_front |= fresh
        needed += fresh
    return sorted(items, key=lambda item: item not in in_front)


def _created(items: list, depth: int, found: Structure, accesses):
    place = {item: i for i, item in enumerate(items)}
    return _topological(items, {item: _item_sources(item, depth, found, place) for item in items}), 0


def _order(items: list, depth: int, found: Structure, accesses):
    items = _waiting_last(items)
    place = {item: i for i, item in enumerate(items)}
    sources = {item: _item_sources(item, depth, found, place) for item in items}
    items = _inputs_first(items, sources)
    place = {item: i for i, item in enumerate(items)}
    _one_at_a_time(items, sources)
    waiting = {item: len(needed) for item, needed in sources.items()}
    followers: dict = {item: [] for item in items}
    for item, needed in sources.items():
        for source in needed:
            followers[source].append(item)
    holds, held_by = _holds(items, depth, found, sources, accesses, place)
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
        raise errors.InternalError(node.op.node_def, node.op, f"Planning left {node.name!r} waiting for itself; please report this graph")
    return order, delayed


def _one_at_a_time(items: list, sources: dict) -> None:
    """Let the critical sections of one lock follow each other: a run that took the lock twice would wait for itself."""
    sections: dict = {}
    for item in items:
        if isinstance(item, Node) and item.type == "MutexLock":
            ends = {end for end in items if isinstance(end, Node) and end.type == "ConsumeMutexLock" and end.inputs[0][0] is item}
            sections.setdefault(item.inputs[0], []).append((item, ends))
    for of_one_lock in sections.values():
        for (_, ends), (next_lock, _) in zip(of_one_lock, of_one_lock[1:], strict=False):
            sources[next_lock] |= ends


def _item_sources(item, depth: int, found: Structure, place) -> set:
    """The items at this level that must run before an item."""
    result = set()
    for node in _nodes(item):
        for source, _ in node.inputs:
            if not (node.type in MERGE and source.type in NEXT):
                result.add(found.owner(source, depth))
        result.update(found.owner(control, depth) for control in node.controls)
    result.discard(item)
    return {source for source in result if source in place}


def _holds(items, depth, found: Structure, sources, accesses, place):
    """Writer → how many unordered uses it waits for; use → the writers that wait for it."""

    def at_this_level(nodes):
        owners = dict.fromkeys(found.owner(n, depth) for n in nodes if len(n.frame) >= depth)
        return [o for o in owners if o in place]

    writers = {v: at_this_level(nodes) for v, nodes in accesses[0].items() if v in accesses[1]}
    users = {v: at_this_level(accesses[1][v]) for v in writers}
    all_writers = list(dict.fromkeys(w for found_writers in writers.values() for w in found_writers))
    if not all_writers:
        return {}, {}
    bit = {w: 1 << i for i, w in enumerate(all_writers)}
    above: dict = {}  # the writers that come before an item, as bits
    for item in _topological(items, sources):
        mask = 0
        for source in sources[item]:
            mask |= above[source] | bit.get(source, 0)
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


def _topological(items, sources) -> list:
    """Items with their sources first; a loop stands where its first node does, which may be before what it needs."""
    seen: set = set()
    result: list = []
    for start in items:
        stack = [(start, iter(sources[start]))]
        if start in seen:
            continue
        seen.add(start)
        while stack:
            item, rest = stack[-1]
            for source in rest:
                if source not in seen:
                    seen.add(source)
                    stack.append((source, iter(sources[source])))
                    break
            else:
                stack.pop()
                result.append(item)
    return result
