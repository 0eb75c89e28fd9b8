"""Draw the curves of a log folder: in the terminal, or to a file.

everflow plot logs
everflow plot logs --tag 'loss|accuracy' --smooth 0.6
everflow plot logs --to curves.png
"""

from __future__ import annotations

import argparse
import os
import re
import sys

from rich.text import Text

from everflow.cli import terminal
from everflow.framework.errors import OpError
from everflow.tools.event_logs import scalars

USAGE = "everflow plot FOLDER [--tag PATTERN] [--smooth WEIGHT] [--to FILE] [--width COLUMNS] [--height LINES]"
Curve = list[tuple[int, float]]
_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
# A character of Braille has two columns of four dots; the bit of each.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800
_MARGIN = 11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="the folder of event files, or one of them")
    parser.add_argument(
        "--tag", metavar="PATTERN", default="", help="only tags in which this regular expression is found"
    )
    parser.add_argument(
        "--smooth", metavar="WEIGHT", type=float, default=0.0, help="how much of the past to keep, below 1"
    )
    parser.add_argument("--to", metavar="FILE", help="draw to a file (PNG, SVG or PDF), which needs matplotlib")
    parser.add_argument("--width", type=int, metavar="COLUMNS", help="how wide to draw")
    parser.add_argument("--height", type=int, default=12, metavar="LINES", help="how high to draw each curve (12)")


def main(args: argparse.Namespace) -> int:
    try:
        if not os.path.exists(args.folder):
            raise ValueError(f"{args.folder} does not exist")
        if not 0 <= args.smooth < 1:
            raise ValueError(f"--smooth is from 0 up to 1, which it must not reach: {args.smooth}")
        found = _by_tag(scalars(args.folder), re.compile(args.tag), args.smooth)
        if not found:
            raise ValueError(f"{args.folder} has no scalars" + (f" with tags like {args.tag!r}" if args.tag else ""))
        if args.to:
            _to_file(found, args.to)
            print(f"{len(found)} curves in {args.to}" if len(found) > 1 else f"1 curve in {args.to}")
        else:
            _to_terminal(found, args.width, args.height)
    except (OSError, ValueError, re.error, ImportError, OpError) as e:
        print(f"everflow plot: {e}", file=sys.stderr)
        return 1
    return 0


def _by_tag(runs: dict[str, dict[str, Curve]], wanted: re.Pattern, weight: float) -> dict[str, dict[str, Curve]]:
    """{tag: {run: curve}}."""
    found: dict[str, dict[str, Curve]] = {}
    for run, tags in runs.items():
        for tag, curve in tags.items():
            finite = [(step, value) for step, value in curve if abs(value) < float("inf")]
            if wanted.search(tag) and finite:
                found.setdefault(tag, {})[run] = _smoothed(finite, weight)
    return dict(sorted(found.items()))


def _smoothed(curve: Curve, weight: float) -> Curve:
    """A moving average; its beginning is not drawn towards zero."""
    last, made = 0.0, []
    for count, (step, value) in enumerate(curve, 1):
        last = last * weight + (1 - weight) * value
        made.append((step, last / (1 - weight**count)))
    return made


def _to_terminal(found: dict[str, dict[str, Curve]], width: int | None, height: int) -> None:
    console = terminal.console(markup=False)
    columns = max(20, (width or (console.width if console.is_terminal else 80)) - _MARGIN)
    for i, (tag, runs) in enumerate(found.items()):
        if i:
            console.print()
        console.print(tag, style="bold", soft_wrap=True)
        for line in _drawn(runs, columns, height):
            console.print(line, soft_wrap=True)
        for number, (run, curve) in enumerate(runs.items()):
            colour = _COLOURS[number % len(_COLOURS)]
            said = f"{'' if run in ('', '.') else run + ': '}{curve[-1][1]:.6g} at step {curve[-1][0]:,}"
            console.print(" " * _MARGIN + said, style=colour, soft_wrap=True)


def _drawn(runs: dict[str, Curve], columns: int, height: int) -> list[Text]:
    """The curves as lines of text, with the axes' ends."""
    steps = [step for curve in runs.values() for step, _ in curve]
    values = [value for curve in runs.values() for _, value in curve]
    first, last, low, high = min(steps), max(steps), min(values), max(values)
    cells: dict[tuple[int, int], tuple[int, str]] = {}
    for number, curve in enumerate(runs.values()):
        for x, y in _dots(curve, (first, last, low, high), 2 * columns - 1, 4 * height - 1):
            bits, _ = cells.get((y // 4, x // 2), (0, ""))
            cells[y // 4, x // 2] = (bits | _DOTS[y % 4][x % 2], _COLOURS[number % len(_COLOURS)])
    lines = []
    for row in range(height):
        label = f"{high:.4g}" if row == 0 else f"{low:.4g}" if row == height - 1 else ""
        line = Text(f"{label:>{_MARGIN - 2}} │")
        for column in range(columns):
            bits, colour = cells.get((row, column), (0, ""))
            line.append(chr(_BLANK + bits) if bits else " ", style=colour)
        line.rstrip()
        lines.append(line)
    ends = f"{first:,}"
    return [
        *lines,
        Text(" " * (_MARGIN - 1) + "└" + "─" * columns),
        Text(f"{' ' * _MARGIN}{ends}{last:>{columns - len(ends)},}"),
    ]


def _dots(curve: Curve, bounds: tuple[float, float, float, float], right: int, bottom: int):
    """(x, y) of the dots of a curve, its points joined by straight lines; y counts from above."""
    first, last, low, high = bounds
    across, up = right / ((last - first) or 1), bottom / ((high - low) or 1)
    points = [(round((step - first) * across), bottom - round((value - low) * up)) for step, value in curve]
    before = points[0]
    for point in points:
        reach = max(abs(point[0] - before[0]), abs(point[1] - before[1]), 1)
        for i in range(reach + 1):
            yield tuple(b + round((p - b) * i / reach) for b, p in zip(before, point))
        before = point


def _to_file(found: dict[str, dict[str, Curve]], path: str) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError("drawing to a file needs matplotlib: pip install matplotlib") from e
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(5 * columns, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    for i, (tag, runs) in enumerate(found.items(), 1):
        axes = figure.add_subplot(rows, columns, i, title=tag, xlabel="step")
        for run, curve in runs.items():
            axes.plot([step for step, _ in curve], [value for _, value in curve], label=run, linewidth=1)
        if len(runs) > 1:
            axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    figure.savefig(path)
