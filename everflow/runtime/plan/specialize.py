"""Plans made again for the shapes that feeds really have, so that shape arithmetic is done once and not at each run.

That pays only if it is done often enough: a plan for some shapes is made once running them by the general plan has
taken a good part of the time that making one took (whoever rents for long should have bought).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from everflow.framework import dtypes
from everflow.framework.forking import renewed
from everflow.framework.shapes import TensorShape
from everflow.runtime.plan.program import LOOP, Node, Program, is_known
from everflow.runtime.plan.shape_propagation import propagate_shapes
from everflow.runtime.plan.simplify import SHAPE_OPS

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.compile import Plan
    from everflow.runtime.state import SessionState, Step

# More different shapes than this, and the general plan serves the rest.
MOST_SPECIALIZED = 16
# How long the general plan may run for some shapes before they get one of their own, as a part of the time that making
# it took.
WORTH = 0.3
_SHAPE_OPS = frozenset(SHAPE_OPS.split())


def pays(program: Program) -> bool:
    """Whether a program has feeds of open shapes and would be shorter if they were known."""
    return any(_is_open(f) for f in program.feeds) and any(n.type in _SHAPE_OPS for n in program.nodes())


def needs_no_feeds(program: Program) -> bool:
    """Whether the graph says all shapes that feeds could tell, and has loops, into which only propagation follows them."""
    return any(n.type == LOOP for n in program.nodes()) and not any(_is_open(f) for f in program.feeds)


def _is_open(feed: Node) -> bool:
    """Whether a feed is a tensor of a shape that the graph leaves open."""
    return not is_known(feed.output_shapes[0]) and feed.output_dtypes[0] not in (dtypes.resource, dtypes.variant)


def know_feed_shapes(program: Program, shapes: dict[int, tuple], state: SessionState) -> int:
    """Find what follows from the shapes of the feeds; how many shapes that are."""
    for node in program.feeds:
        if node.value in shapes:
            node.output_shapes = [TensorShape(list(shapes[node.value]))]
    return propagate_shapes(program, state)


class ShapedPlans:
    """A general plan, and those made from it for shapes that came often enough. Called like a plan."""

    def __init__(self, general: Plan, make: Callable[[dict[int, tuple]], Plan], cost: float) -> None:
        self.general = general
        self._make = make  # {feed position: shape} → Plan
        self._cost = cost * WORTH  # seconds after which another is made
        self.plans: dict[tuple, Plan] = {}  # shapes of the open feeds → plan
        self._spent: dict[tuple, float] = {}  # shapes → seconds that the general plan ran for them
        self._lock = renewed(threading.Lock())
        self._open = [i for i, f in enumerate(general.program.feeds) if _is_open(f)]
        self.program, self.devices, self.state = general.program, general.devices, general.state
        self.fed_fetches, self.takes_step = general.fed_fetches, general.takes_step

    def __call__(self, feeds: Sequence[Value], step: Step | None = None) -> list[Any]:
        key = tuple([feeds[i].shape for i in self._open])
        plan = self.plans.get(key)
        if plan is not None:
            return plan(feeds, step)
        spent = self._spent.get(key)
        if spent is None:
            if len(self._spent) >= MOST_SPECIALIZED:
                return self.general(feeds, step)
        elif spent >= self._cost:
            return self._plan_for(key)(feeds, step)
        start = time.perf_counter()
        results = self.general(feeds, step)
        # The first run of some shapes also warms caches up, so it tells little; but it counts as one that a plan would
        # have saved.
        self._spent[key] = (spent or 0.0) + time.perf_counter() - start
        return results

    def _plan_for(self, key: tuple) -> Plan:
        with self._lock:
            if key not in self.plans:
                self.plans[key] = self._make(self.shapes_of(key))
            return self.plans[key]

    def shapes_of(self, key: tuple) -> dict[int, tuple]:
        """Feed position → its shape, for a key of `plans`."""
        return dict(zip(self._open, (tuple(shape) for shape in key), strict=True))
