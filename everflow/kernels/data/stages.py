"""Where the time of pipelines goes, stage by stage: clocks round each dataset, and what they say in words. Queues and
readers have theirs in `kernels/queues/stages.py`.

Nothing is measured unless EVERFLOW_PROFILE_INPUT is set when the program starts, as `everflow profile input` does; the
program's end prints the report.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everflow.kernels.data.datasets import Blocks, Dataset

IS_WATCHING = bool(os.environ.get("EVERFLOW_PROFILE_INPUT"))
_STARTED = time.perf_counter()


class Stage:
    """A dataset as the report shows it: what it is, what it is made of, how long it took by itself."""

    def __init__(self, name: str, inputs: Sequence[Stage], is_parallel: bool = False) -> None:
        self.name, self.inputs = name, list(inputs)
        self.is_parallel = is_parallel
        self.is_used = False  # by another stage
        for stage in inputs:
            stage.is_used = True
        self.elements = self.calls = 0
        self.seconds = self.seconds_with_inputs = 0.0
        self.in_blocks = False
        self.buffers: list[Any] = []  # what makes elements ahead

    @property
    def kind(self) -> str:
        return self.name.split("(")[0]

    @property
    def fill(self) -> tuple[float, int] | None:
        """How many elements were ready on average when one was asked for, and how many there could be; None where
        nothing was made ahead.
        """
        asked = sum(b.asked for b in self.buffers)
        if not asked:
            return None
        return sum(b.found_ready for b in self.buffers) / asked, self.buffers[0].size

    def how(self) -> str:
        """How it gives its elements, in words."""
        if self.fill is not None:
            return f"{self.fill[0]:.1f} of {self.fill[1]} ready when asked"
        if self.in_blocks:
            return f"many at a time, {self.elements / max(self.calls, 1):.0f} on average"
        return "several at a time" if self.is_parallel else "one by one"

    def advice(self, seconds: float) -> list[str]:
        """What to change in the pipeline that ends with it, in a program that took so long."""
        return advice(self, seconds)

    def below(self) -> Iterator[tuple[Stage, int]]:
        """It and all it is made of, with how deep they are; each once."""
        seen, waiting = set(), [(self, 0)]
        while waiting:
            stage, depth = waiting.pop()
            if stage not in seen:
                seen.add(stage)
                yield stage, depth
                waiting += [(inner, depth + 1) for inner in reversed(stage.inputs)]


STAGES: list[Stage] = []
LOCK = threading.Lock()  # of all that stages count
NOT_WAITED_FOR = "Input is not what this program waits for: leave it as it is."


class _Here(threading.local):
    """The calls that are under way in this thread: stages, and the seconds of calls inside of each."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self.inside: list[float] = []
        # What this thread has asked for since it last put something into a queue, and how long that took.
        self.asked: dict[Stage, float] = {}
        self.since: float | None = None


HERE = _Here()


def timed(stage: Stage, call: Callable[..., Any], size_of: Callable[[Any], int]) -> Callable[..., Any]:
    """A call that gives elements of a stage, so many of them, with a clock."""

    def measured(*arguments: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        HERE.stages.append(stage)
        HERE.inside.append(0.0)
        try:
            made = call(*arguments, **named)
            with LOCK:
                stage.elements += size_of(made)
            return made
        finally:
            seconds = time.perf_counter() - begin
            HERE.stages.pop()
            with LOCK:
                stage.calls += 1
                stage.seconds += seconds - HERE.inside.pop()
                stage.seconds_with_inputs += seconds
            if HERE.inside:
                HERE.inside[-1] += seconds
            else:
                HERE.asked[stage] = HERE.asked.get(stage, 0.0) + seconds
                HERE.since = begin if HERE.since is None else HERE.since

    return measured


def watched(made: Dataset, op_type: str, arguments: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """Let a dataset be measured, unless it is one that only passes on another."""
    if made.stage is not None:
        return
    parts = [a for argument in arguments for a in (argument if isinstance(argument, list) else [argument])]
    inputs = [a.stage for a in parts if getattr(a, "stage", None) is not None]
    stage = made.stage = _stage_of(_named(op_type, attributes), inputs, "Parallel" in op_type or "AndBatch" in op_type)
    start, make_blocks = made.start, made._make_blocks

    def started(iteration: Any) -> Callable[[], Any]:
        following = start(iteration)
        if hasattr(following, "found_ready"):
            stage.buffers.append(following)
        return timed(stage, following, lambda element: 1)

    def blocks() -> Blocks | None:
        found = make_blocks()
        if found is not None and found.stage is None:
            found.stage, start_blocks = stage, found.start

            def started_blocks(iteration: Any) -> Callable[[int], Any]:
                stage.in_blocks = True
                return timed(stage, start_blocks(iteration), _size_of)

            found.start = started_blocks
        return found

    made.start, made._make_blocks = started, blocks


def _stage_of(name: str, inputs: Sequence[Stage], is_parallel: bool) -> Stage:
    """The stage of a new dataset. Those that a stage makes while it runs, one after the other, are one stage below it."""
    outer = HERE.stages[-1] if HERE.stages else None
    if outer is None:
        STAGES.append(Stage(name, inputs, is_parallel))
        return STAGES[-1]
    for stage in outer.inputs:
        if stage.name == name:
            return stage
    made = Stage(name, inputs, is_parallel)
    outer.inputs = [*(s for s in outer.inputs if s not in inputs), made]
    made.is_used = True
    return made


def _size_of(block: Any) -> int:
    return len(block[0]) if isinstance(block, tuple) else len(block)


def _named(op_type: str, attributes: Mapping[str, Any]) -> str:
    """ParallelMapDataset of a function `read` → map(read)."""
    plain = re.sub(r"^(Experimental|Parallel)+|Dataset(V\d)?$", "", op_type)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
    for value in attributes.values():
        match = re.match(rf"__inference_Dataset_{words}_(.+)_\d+$", str(getattr(value, "name", "")))
        if match:
            return f"{words}({match[1]})"
    return words


# --- the report ------------------------------------------------------------------------------


def report(stages: Sequence[Stage], seconds: float) -> str:
    """What was measured in a program that took so many seconds."""
    tops = [s for s in stages if not s.is_used and s.elements]
    if not tops:
        return "No dataset and no queue gave an element."
    texts = []
    for number, top in enumerate(tops, 1):
        waited = top.seconds_with_inputs
        lines = [
            f"pipeline {number}: {top.elements:,} elements; the program waited {waited:.2f} s for them, "
            f"{100 * waited / seconds:.0f}% of its {seconds:.1f} s"
        ]
        whole = sum(s.seconds for s, _ in top.below()) or 1.0
        lines.append(f"  {'stage':36} {'elements':>11} {'µs each':>9} {'share':>6}  how")
        for stage, depth in top.below():
            if stage.kind == "optimize":  # it has no work of its own
                continue
            each = 1e6 * stage.seconds / max(stage.elements, 1)
            name = "  " * min(depth, 9) + stage.name
            lines.append(
                f"  {name:36.36} {stage.elements:11,} {each:9.1f} {100 * stage.seconds / whole:5.0f}%  {stage.how()}"
            )
        texts.append("\n".join(lines + [f"  → {sentence}" for sentence in top.advice(seconds)]))
    return "\n\n".join(texts)


# What to do about the stage that takes longest, by its kind.
_REMEDIES = {
    "map": "its function runs for one element after the other: use num_parallel_calls",
    "map_and_batch": "raise num_parallel_calls up to the number of processors",
    "filter": "filter as early as possible, on what the source gives",
    "generator": "Python makes the elements: let the generator yield whole batches and use unbatch, or read records instead",
    "flat_map": "small inner datasets cost more than their elements: make whole tensors and use unbatch",
    "tfrecord": "reading takes longest: keep compression off, or .cache() what fits into memory",
    "text_line": "reading takes longest: records take less time than lines to parse; .cache() what fits into memory",
    "shuffle": "elements are copied into the buffer: shuffle before maps that make them larger",
    "cache": "the first pass fills the cache; later ones read from it",
    "padded_batch": "batches of elements of similar length need less padding: bucket_by_sequence_length",
}


def advice(top: Stage, seconds: float) -> list[str]:
    """What to change, in words."""
    waited = top.seconds_with_inputs / seconds
    if waited < 0.05:
        return [NOT_WAITED_FOR]
    found = []
    stages = [stage for stage, _ in top.below()]
    ahead = [s for s in stages if s.kind == "prefetch"]
    if not ahead:
        found.append(
            "Nothing is made ahead: end the pipeline with .prefetch(1), so that it works while a step computes."
        )
    for stage in ahead:
        fill = stage.fill
        if fill is not None and fill[0] < 0.2 * fill[1]:
            found.append(
                "The prefetch buffer is nearly empty when asked: what is before it is slower than the program."
            )
    slowest = max((s for s in stages if s.kind != "prefetch"), key=lambda s: s.seconds, default=top)
    remedy = _REMEDIES.get(slowest.kind)
    if remedy is not None and not (slowest.kind == "map" and (slowest.is_parallel or slowest.in_blocks)):
        found.append(f"{slowest.name} takes longest: {remedy}.")
    elif slowest.kind == "map" and slowest.is_parallel:
        found.append(
            f"{slowest.name} takes longest, several calls at a time: do less in it, or .cache() what it makes."
        )
    elif slowest.kind == "map":
        found.append(
            f"{slowest.name} takes longest, for many elements at a time: do less in it, or .cache() what it makes."
        )
    else:
        found.append(f"{slowest.name} takes longest.")
    return found


def _print_report() -> None:
    print(f"\n{report(STAGES, time.perf_counter() - _STARTED)}", file=sys.stderr)


if IS_WATCHING:
    atexit.register(_print_report)
