"""How many times as long others take for a step, as a picture. Needs matplotlib, which only this does."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks.tables import MODULES
from benchmarks.turns import Job, Outcomes


def plot_ratios(outcomes: Outcomes, path: Path) -> None:
    """A bar for each program and module beside Everflow."""
    names = list(dict.fromkeys(job.program for job in outcomes))
    others = [module for module in list(MODULES)[1:] if any(job.module == module for job in outcomes)]
    bars = {
        MODULES[module]: [
            outcomes[Job(module, n)].median() / outcomes[Job("everflow", n)].median()
            if Job(module, n) in outcomes
            else None
            for n in names
        ]
        for module in others
    }
    plot_bars(names, bars, "times as long as Everflow for a step", path)


def plot_bars(names: list[str], bars: dict[str, list[float | None]], what: str, path: Path) -> None:
    """Ratios, a row for each name and a colour for each label; the same numbers give the same file."""
    matplotlib.rcParams["svg.hashsalt"] = "everflow"
    figure = Figure(figsize=(8, 1 + 0.32 * len(names)), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / max(len(bars), 1)
    for row, (label, ratios) in enumerate(bars.items()):
        known = [(i + (row - 0.5) * height, ratio) for i, ratio in enumerate(ratios) if ratio is not None]
        axes.barh([place for place, _ in known], [ratio for _, ratio in known], height, label=label)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(what)
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
