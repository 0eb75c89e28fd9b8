"""Plans made again for the shapes that feeds really have, so that shape arithmetic is done once and not at each run."""

from __future__ import annotations

import threading

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.runtime.plan.knowledge import Knowledge, is_known
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, value_node
from everflow.runtime.plan.rules import SHAPE_OPS, reads_variable
from everflow.runtime.plan.stores import store_of
from everflow.runtime.plan.structure import ENTER, structure, tells_branch

# More different shapes than this, and the general plan serves the rest.
MOST_SPECIALIZED = 16


def pays(program: Program) -> bool:
    """Whether a program has feeds of open shapes and would be shorter if they were known."""
    return any(_is_open(f) for f in program.feeds) and any(n.type in SHAPE_OPS for n in program.nodes)


def needs_no_feeds(program: Program) -> bool:
    """Whether the graph says all shapes that feeds could tell, and has loops, into which only `know_feed_shapes` follows them."""
    return any(n.type in ENTER for n in program.nodes) and not any(_is_open(f) for f in program.feeds)


def _is_open(feed: Node) -> bool:
    """Whether a feed is a tensor of a shape that the graph leaves open."""
    return not is_known(feed.output_shapes[0]) and feed.output_dtypes[0] not in (dtypes.resource, dtypes.variant)


def know_feed_shapes(program: Program, shapes: dict[int, tuple], session) -> int:
    """Find what follows from the shapes of the feeds, and put constants where it is a value. Gives the number of nodes computed."""
    for node in program.feeds:
        if node.value in shapes:
            node.output_shapes = [TensorShape(list(shapes[node.value]))]
    found = structure(program)
    knowledge = Knowledge(program, session)
    for node in program.nodes:
        node.output_shapes = [knowledge.shapes[node, i] for i in range(len(node.output_dtypes))]
    pivots = {path: loop.pivots() for path, loop in found.loops.items()}
    edges: dict = {}
    added: dict[Node, list[Node]] = {}
    for node, values in knowledge.results.items():
        controls = _controls(node, pivots, found)
        if controls is None:
            continue
        for output, value in enumerate(values):
            made = value_node(program.new_index(), value, node.output_dtypes[output], node, output)
            made.controls = controls
            added.setdefault(node, []).append(made)
            edges[node, output] = (made, 0)
    if edges:
        program.insert(added)
        # Who waited for a computed node waits for the loop it is in; in branches it stays, for it tells the side.
        waits = {n: pivots[n.frame][n in found.loops[n.frame].body] if n.frame else None for n in added if not n.guard}
        program.replace(edges, waits)
        _drop_unread_stacks(program)
        program.keep_needed()
    return len(added)


def _controls(node: Node, pivots: dict, found) -> list[Node] | None:
    """What a value that stands for a node waits for, so that it stays in its branch and loop; None where that can't be said."""
    controls = list(node.controls)
    for source, _ in node.inputs:
        if (node.guard and source.type not in (FEED, VALUE)) or reads_variable(source):
            controls.append(tells_branch(source, node))
        elif source.type == VALUE:
            controls += source.controls
    if node.frame:
        loop = found.loops[node.frame]
        pivot = pivots[node.frame][node in loop.body]
        if pivot is None:
            return None
        controls.append(pivot)
    return list(dict.fromkeys(controls))


def _drop_unread_stacks(program: Program) -> None:
    """Let nobody push onto stacks from which nothing is popped any more."""
    needed = _needed(program)
    popped = {store_of(n) for n in program.nodes if n.type == "StackPopV2" and n in needed}
    pushes = [n for n in program.nodes if n.type == "StackPushV2" and store_of(n) not in popped]
    if pushes:
        program.replace({(n, 0): n.inputs[1] for n in pushes}, dict.fromkeys(pushes))


def _needed(program: Program) -> set[Node]:
    found: set[Node] = set()
    stack = [f[0] if isinstance(f, tuple) else f for f in program.fetches]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += [n for n, _ in node.inputs] + node.controls
    return found


class ShapedPlans:
    """A general plan, and those made from it for shapes that came twice. Called like a plan."""

    def __init__(self, general, make):
        self._general = general
        self._make = make  # {feed position: shape} → Plan
        self._plans: dict = {}
        self._seen: set = set()
        self._lock = threading.Lock()
        self._open = [i for i, f in enumerate(general.program.feeds) if _is_open(f)]
        for name in ("program", "changes", "partitions", "schedule", "emitted", "session", "fed_fetches", "takes_step"):
            setattr(self, name, getattr(general, name))

    def __call__(self, feeds, step=None) -> list:
        key = tuple([feeds[i].shape for i in self._open])
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan_for(key)
        return plan(feeds, step)

    def _plan_for(self, key):
        with self._lock:
            if key in self._seen and key not in self._plans:
                self._plans[key] = self._make(dict(zip(self._open, (tuple(shape) for shape in key), strict=True)))
            elif len(self._seen) < MOST_SPECIALIZED:
                self._seen.add(key)
            return self._plans.get(key, self._general)
