"""What was measured, as tables in Markdown, and the page they stand in."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.programs import PASSES, SIZE
from benchmarks.turns import Job, Outcome, Outcomes

MODULES = {"everflow": "Everflow", "tensorflow": "TensorFlow 1.15.5", "torch": "eager torch"}
BEGIN, END = "<!-- make bench: from here -->", "<!-- make bench: to here -->"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines)


def number(value: float) -> str:
    """A number with three digits that say something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def with_spread(outcome: Outcome | None) -> str:
    if outcome is None:
        return "–"
    return f"{number(outcome.median())} ({' to '.join(map(number, outcome.spread()))})"


def steps_a_second(outcome: Outcome) -> str:
    return number(outcome.median("steps_a_second"))


def ratio(other: Outcome | None, ours: Outcome) -> str:
    return "–" if other is None else f"{other.median() / ours.median():.2f}"


def programs_table(outcomes: Outcomes) -> str:
    """Steps in milliseconds, and how many times as long others take."""
    rows = []
    for name in dict.fromkeys(job.program for job in outcomes):
        ours, *others = found = [outcomes.get(Job(module, name)) for module in MODULES]
        if ours is not None:
            rows.append([f"`{name}`", *map(with_spread, found), *(ratio(other, ours) for other in others)])
    means = [geometric_mean(outcomes, module) for module in list(MODULES)[1:]]
    rows.append(["geometric mean", *[""] * len(MODULES), *("–" if m is None else f"{m:.2f}" for m in means)])
    return table(["program", *MODULES.values(), "TensorFlow / Everflow", "torch / Everflow"], rows)


def geometric_mean(outcomes: Outcomes, module: str) -> float | None:
    """How many times as long a module takes, over all programs that both have."""
    pairs = [(o, outcomes.get(job.under("everflow"))) for job, o in outcomes.items() if job.module == module]
    ratios = [other.median() / ours.median() for other, ours in pairs if ours is not None]
    return statistics.geometric_mean(ratios) if ratios else None


# What is told of how a program begins: (figure, column).
BEGINNINGS = (
    ("until_first", "loading to first result, s"),
    ("first", "first step, s"),
    ("peak", "peak of process, MB"),
)


def beginnings_table(outcomes: Outcomes) -> str:
    """How long it takes until there is a result, and the most memory that the whole process has."""
    rows = []
    for name in dict.fromkeys(job.program for job in outcomes):
        found = [outcomes.get(Job(module, name)) for module in MODULES]
        figures = ["–" if o is None else number(o.median(figure)) for figure, _ in BEGINNINGS for o in found]
        rows.append([f"`{name}`", *figures])
    return table(["program", *(f"{what}: {name}" for _, what in BEGINNINGS for name in MODULES.values())], rows)


def scaling_table(outcomes: Outcomes, figure: Callable[[Outcome], str] = with_spread) -> str:
    """A row for each program with some arguments, a column for each module."""
    rows = []
    for job in dict.fromkeys(j.under("") for j in outcomes):
        found = [outcomes.get(job.under(module)) for module in MODULES]
        size = ", ".join(f"{k} {v:,}" for k, v in job.arguments) or f"{job.callers or job.threads} threads"
        nodes = next((number(o.median("nodes")) for o in found if o is not None), "–")
        rows.append([f"`{job.program}`", size, nodes, *("–" if o is None else figure(o) for o in found[:2])])
    return table(["program", "of", "nodes", *list(MODULES.values())[:2]], rows)


def bandwidth_table(outcomes: Outcomes) -> str:
    """What programs about memory reach of what a copy does."""
    copied = _bytes_a_second(outcomes[Job("torch", "plain_copy")], 2)
    rows = [["a plain copy", "2", f"{copied / 1e9:.1f}", "", "", ""]]
    for name, passes in PASSES.items():
        row = [f"`{name}`", str(passes)]
        for module in ("everflow", "tensorflow"):
            outcome = outcomes.get(Job(module, name))
            reached = None if outcome is None else _bytes_a_second(outcome, passes)
            row += ["–", "–"] if reached is None else [f"{reached / 1e9:.1f}", f"{reached / copied:.0%}"]
        rows.append(row)
    return table(["", "passes", "Everflow, GB/s", "of a copy", "TensorFlow 1.15.5, GB/s", "of a copy"], rows)


def _bytes_a_second(outcome: Outcome, passes: int) -> float:
    return passes * SIZE * 4 / (outcome.median() * 1e-3)


def write_page(page: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Put what was measured between the marks of a page."""
    whole = page.read_text()
    if whole.count(begin) != 1 or whole.count(end) != 1:
        raise ValueError(f"{page} needs one line {begin!r} and one {end!r} to say where measurements go")
    before, rest = whole.split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")
