"""The stages of planning in a row, and the `Plan` that comes out."""

from __future__ import annotations

from everflow.runtime.denormals import flush
from everflow.runtime.plan.emit import Emitted, emit
from everflow.runtime.plan.failures import translated
from everflow.runtime.plan.partition import Partitions, partition
from everflow.runtime.plan.place import Placer, place
from everflow.runtime.plan.program import FEED, Program
from everflow.runtime.plan.prune import prune
from everflow.runtime.plan.rewrite import rewrite
from everflow.runtime.plan.schedule import Schedule, schedule
from everflow.runtime.plan.specialize import ShapedPlans, know_feed_shapes, needs_no_feeds, pays
from everflow.runtime.plan.structure import structure
from everflow.runtime.state import Step
from everflow.runtime.threads import tried


class Plan:
    """A compiled run. It holds no values of its own, so any number of threads may call it at once."""

    def __init__(
        self,
        program: Program,
        changes: dict[str, int],
        partitions: Partitions,
        order: Schedule,
        emitted: Emitted,
        session,
        threads: int = 0,
    ):
        self.program = program
        self.changes = changes
        self.partitions = partitions
        self.schedule = order
        self.emitted = emitted
        self.session = session
        self.function = tried(emitted.function, threads, self._call_from_now) if threads else emitted.function
        self.takes_step = emitted.takes_step
        self._is_whole_run = threads > 0
        # Fetches that are fed: position of the fetch → position of the feed.
        self.fed_fetches = [(i, f[0].value) for i, f in enumerate(program.fetches) if isinstance(f, tuple) and f[0].type == FEED]

    def _call_from_now(self, function) -> None:
        self.function = function

    def __call__(self, feeds, step: Step | None = None) -> list:
        """One run: kernel values in, one value for each fetch out."""
        if step is None and self.takes_step:
            step = Step(self.session)
        if self._is_whole_run:
            flush(True)
        try:
            return self.function(step, *feeds)
        except Exception as e:
            if step is not None:
                step.abandon()
            error = translated(e, self.emitted)
            # What a kernel can only have raised by mistake is kept for whoever mends it.
            cause = e if isinstance(e, (TypeError, AttributeError, LookupError, NameError)) and error is not e else error.__cause__
        finally:
            if self._is_whole_run:
                flush(False)
        error.__cause__ = cause
        raise error


def compile_plan(
    fetches: list,
    feeds: list,
    session,
    placer: Placer,
    rules: list,
    *,
    recorder=None,
    to_numpy: bool = True,
    done=frozenset(),
    shapes: dict[int, tuple] | None = None,
    as_created: bool = False,
    threads: int = 0,
) -> Plan:
    """Make the plan of `fetches` (Tensors and Operations) from `feeds` (Tensors), which have the given shapes where they are known.

    Kernels may take `threads` threads; 0 leaves that, and how small numbers are treated, to whoever calls the plan.
    """
    program = prune(fetches, feeds, done)
    if shapes is None and rules and needs_no_feeds(program):
        shapes = {}
    changes = {"shapes of feeds": know_feed_shapes(program, shapes, session)} if shapes is not None else {}
    changes.update(rewrite(program, rules, session))
    place(program, placer)
    partitions = partition(program)
    order = schedule(program, structure(program), as_created=as_created)
    emitted = emit(program, order, session, recorder=recorder, to_numpy=to_numpy)
    return Plan(program, changes, partitions, order, emitted, session, threads)


def compile_shaped(fetches: list, feeds: list, session, placer: Placer, rules: list, **options):
    """A plan that is made again for the shapes its feeds have, where shape arithmetic can be saved by it."""
    general = compile_plan(fetches, feeds, session, placer, rules, **options)
    if not rules or not pays(general.program):
        return general
    return ShapedPlans(general, lambda shapes: compile_plan(fetches, feeds, session, placer, rules, shapes=shapes, **options))
