"""The stages of planning in a row, and the `Plan` that comes out."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from everflow.native.background import BACKGROUND, is_possible
from everflow.platform.collecting import without_collecting
from everflow.runtime.denormals import flush
from everflow.runtime.plan.aliasing import Aliases
from everflow.runtime.plan.collectives import take_apart
from everflow.runtime.plan.control_flow import ControlFlow
from everflow.runtime.plan.emit import Emitted, emit
from everflow.runtime.plan.failures import translated
from everflow.runtime.plan.native.tiers import (
    ALWAYS,
    MANY_NODES,
    OFF,
    WHEN_IT_PAYS,
    Tier,
    is_allowed,
    is_wanted,
    runs_before,
)
from everflow.runtime.plan.patterns import Context, rewrite
from everflow.runtime.plan.place import Placer, place
from everflow.runtime.plan.program import FEED, Node, Program
from everflow.runtime.plan.prune import prune
from everflow.runtime.plan.schedule import schedule
from everflow.runtime.plan.specialize import ShapedPlans, know_feed_shapes, needs_no_feeds, pays
from everflow.runtime.plan.structure import structure
from everflow.runtime.plan.verify import verify
from everflow.runtime.state import Step
from everflow.runtime.threads import tried

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Tensor
    from everflow.runtime.hints import PlanFunction, Rewrite, Value
    from everflow.runtime.state import SessionState


class Plan:
    """A compiled run. It holds no values of its own, so any number of threads may call it at once."""

    def __init__(
        self,
        program: Program,
        changes: dict[str, int],
        emitted: Emitted,
        state: SessionState,
        threads: int = 0,
        native: str = OFF,
        to_numpy: bool = True,
    ) -> None:
        self.program = program
        self.changes = changes
        self.emitted = emitted
        self.copies = emitted.copies
        self.state = state
        self.devices = program.devices
        self.takes_step = emitted.takes_step
        self._threads = threads
        self._to_numpy = to_numpy
        self._is_whole_run = threads > 0
        self._former: Emitted | None = None  # what machine code took the place of; a run of it may still be under way
        self._native: tuple[Emitted, Program] | None = None  # machine code that waits for its turn
        self._left = 0  # runs until it is time for the next step towards that
        self._tier: Tier | None = None
        self.function = self._first_function(emitted, program)
        if native == ALWAYS or (native == WHEN_IT_PAYS and any(map(is_wanted, program.nodes()))):
            BACKGROUND.attempt(functools.partial(self._compile, is_allowed if native == ALWAYS else is_wanted))
            self._change()
        if native == WHEN_IT_PAYS:
            self._tier = Tier(self._compile, self._change)
            nodes = list(program.nodes())
            self._left = runs_before(nodes)
            self._begins_at = self._left - 1 if len(nodes) >= MANY_NODES else self._left // 2
        # Fetches that are fed: position of the fetch → position of the feed.
        ends = program.top.end.inputs
        self.fed_fetches = [
            (i, ends[p][0].value) for i, p in enumerate(program.fetches) if p is not None and ends[p][0].type == FEED
        ]

    def _first_function(self, emitted: Emitted, program: Program) -> PlanFunction:
        """What the plan calls from now on, until a trial of threads decides otherwise."""
        if not self._threads:
            return emitted.function

        def decide(function: PlanFunction) -> None:
            if self.emitted is emitted:
                self.function = function

        return tried(emitted.function, self._threads, decide, list(program.nodes()), list(self.program.nodes()))

    def _compile(self, may: Callable[[Node], bool] = is_allowed) -> None:
        """Make the plan with regions of nodes that `may` as machine code."""
        from everflow.runtime.plan.native.machine_code import with_machine_code  # a library that not every machine has

        program = self.program.copy()
        if with_machine_code(program, self.state, may, self._threads > 1):
            self._native = _emitted(program, self.state, to_numpy=self._to_numpy), program

    def _change(self) -> None:
        """From now on run the plan with machine code, if there is one."""
        if self._native is not None:
            self._former, self.emitted = self.emitted, self._native[0]
            self.function = self._first_function(*self._native)

    def __call__(self, feeds: Sequence[Value], step: Step | None = None) -> list[Any]:
        """One run: kernel values in, one value for each fetch out."""
        if step is None and self.takes_step:
            step = Step(self.state)
        if self._is_whole_run:
            flush(True)
        if self._left:
            self._left = left = self._left - 1  # a count that two threads make at once makes the wait longer, not wrong
            if self._tier is not None and left in (self._begins_at, 0):
                if left == 0:
                    self._tier.change()
                else:
                    self._tier.begin()
        try:
            return self.function(step, *feeds)
        except Exception as e:
            if step is not None:
                step.abandon()
            error = translated(e, self.emitted)
            if error is e and self._former is not None:
                error = translated(e, self._former)
            # What a kernel can only have raised by mistake is kept for whoever mends it.
            cause = (
                e
                if isinstance(e, (TypeError, AttributeError, LookupError, NameError)) and error is not e
                else error.__cause__
            )
        finally:
            if self._is_whole_run:
                flush(False)
        error.__cause__ = cause
        raise error


class Planner:
    """Makes the plans of some fetches (Tensors and Operations) and feeds (Tensors): what does not depend on shapes is
    done once.
    """

    @without_collecting()
    def __init__(
        self,
        fetches: list[Element],
        feeds: list[Tensor],
        state: SessionState,
        placer: Placer,
        rules: list[Rewrite],
        *,
        checks: bool = False,
        **options: Any,
    ) -> None:
        """`options`: see `plan`; `done` are operations that need not be waited for, `as_created` keeps the order of
        creation.
        """
        self.state, self.rules, self.checks = state, rules, checks
        done, as_created = options.pop("done", frozenset()), options.pop("as_created", False)
        self.options = options
        pruned = prune(fetches, feeds, done)
        place(pruned, placer)
        take_apart(pruned)
        flow = ControlFlow(pruned)
        delayed = schedule(pruned, flow, as_created=as_created)
        self._program = structure(pruned, flow, whole=not rules)
        self._program.delayed = delayed
        if checks:
            verify(self._program, "structure")

    @property
    def is_open(self) -> bool:
        """Whether plans for known shapes of the feeds would be shorter."""
        return bool(self.rules) and pays(self._program)

    @without_collecting()
    def plan(self, shapes: dict[int, tuple] | None = None, *, journal: bool = False, only: bool = False) -> Plan:
        """A plan for feeds of given shapes, or of any; the `only` one that is asked for may use up the program.

        Kernels may take `threads` threads; 0 leaves that, and how small numbers are treated, to whoever calls it.
        `to_numpy=False` gives kernel values, `recorder` is told of every node.
        """
        program = self._program if only else self._program.copy()
        program.keeps_journal = journal
        context = Context(program, self.state, checks=self.checks)
        if shapes is None and self.rules and needs_no_feeds(program):
            shapes = {}
        changes = {"shape propagation": know_feed_shapes(program, shapes, self.state)} if shapes is not None else {}
        changes.update(rewrite(context, self.rules))
        options = dict(self.options)
        threads, native = options.pop("threads", 0), options.pop("native", OFF)
        if "recorder" in options or not self.rules or self.checks or not is_possible():
            native = OFF  # traces show nodes, and who wants no rewriting wants this neither
        emitted = _emitted(program, self.state, **options)
        return Plan(program, changes, emitted, self.state, threads, native, options.get("to_numpy", True))


def _emitted(program: Program, state: SessionState, **options: Any) -> Emitted:
    program.renumber()
    aliases = Aliases(program)
    aliases.find_last_uses()
    return emit(program, aliases, state, **options)


def compile_plan(
    fetches: list[Element],
    feeds: list[Tensor],
    state: SessionState,
    placer: Placer,
    rules: list[Rewrite],
    *,
    journal: bool = False,
    **options: Any,
) -> Plan:
    """The plan of `fetches` from `feeds`, whatever their shapes; with a `journal` its program knows what rules changed."""
    return Planner(fetches, feeds, state, placer, rules, **options).plan(journal=journal, only=True)


def compile_shaped(
    fetches: list[Element],
    feeds: list[Tensor],
    state: SessionState,
    placer: Placer,
    rules: list[Rewrite],
    **options: Any,
) -> Plan | ShapedPlans:
    """A plan that is made again for the shapes its feeds have, where shape arithmetic can be saved by it."""
    start = time.perf_counter()
    planner = Planner(fetches, feeds, state, placer, rules, **options)
    if not planner.is_open:
        return planner.plan(only=True)
    general = planner.plan()
    return ShapedPlans(general, planner.plan, time.perf_counter() - start)
