"""How many times as long others take for a step, as a picture. Needs matplotlib, which only this does."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks.tables import MODULES
from benchmarks.turns import Job, Outcomes


def plot_ratios(outcomes: Outcomes, path: Path) -> None:
    """A bar for each program and module beside Everflow; the same numbers give the same file."""
    matplotlib.rcParams["svg.hashsalt"] = "everflow"
    names = list(dict.fromkeys(job.program for job in outcomes))
    figure = Figure(figsize=(8, 1 + 0.32 * len(names)), layout="constrained")
    axes = figure.subplots()
    others = [module for module in list(MODULES)[1:] if any(job.module == module for job in outcomes)]
    height = 0.8 / max(len(others), 1)
    for row, module in enumerate(others):
        pairs = [(i, outcomes[Job(module, n)]) for i, n in enumerate(names) if Job(module, n) in outcomes]
        ratios = [o.median() / outcomes[Job("everflow", names[i])].median() for i, o in pairs]
        axes.barh([i + (row - 0.5) * height for i, _ in pairs], ratios, height, label=MODULES[module])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("times as long as Everflow for a step")
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
