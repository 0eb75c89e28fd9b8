"""What was measured, as tables in Markdown, and the page they stand in."""

from __future__ import annotations

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


def ratio(other: Outcome | None, ours: Outcome) -> str:
    return "–" if other is None else f"{other.median() / ours.median():.2f}"


def programs_table(outcomes: Outcomes) -> str:
    """Steps in milliseconds, and how many times as long others take."""
    rows = []
    for name in dict.fromkeys(job.program for job in outcomes):
        ours, *others = found = [outcomes.get(Job(module, name)) for module in MODULES]
        if ours is not None:
            rows.append([f"`{name}`", *map(with_spread, found), *(ratio(other, ours) for other in others)])
    return table(["program", *MODULES.values(), "TensorFlow / Everflow", "torch / Everflow"], rows)


def beginnings_table(outcomes: Outcomes) -> str:
    """First steps in seconds, and peak memory beyond what the libraries take."""
    rows = []
    for name in dict.fromkeys(job.program for job in outcomes):
        found = [outcomes.get(Job(module, name)) for module in MODULES]
        figures = ["–" if o is None else number(o.median(figure)) for figure in ("first", "megabytes") for o in found]
        rows.append([f"`{name}`", *figures])
    head = [f"{name}: {what}" for what in ("first step, s", "peak, MB") for name in MODULES.values()]
    return table(["program", *head], rows)


def scaling_table(outcomes: Outcomes, figure: Callable[[Outcome], str] = with_spread) -> str:
    """A row for each program with some arguments, a column for each module."""
    rows = []
    for job in dict.fromkeys(Job("", j.program, j.arguments, j.callers) for j in outcomes):
        found = [outcomes.get(Job(module, job.program, job.arguments, job.callers)) for module in MODULES]
        size = ", ".join(f"{k} {v:,}" for k, v in job.arguments) or f"{job.callers} threads"
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
