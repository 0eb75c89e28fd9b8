"""Flowcharts of the pages as SVG. They are written in Mermaid's language, which repositories show by themselves; here they
are drawn when the site is built, so that no page needs a script from elsewhere. What is known is what the pages use:
boxes, questions, arrows with words, and one frame around some of them.
"""

from __future__ import annotations

import html
import itertools
import re

from docsite.graph_picture import in_layers

_LINE, _PAD, _GAP, _ROW = 17, 10, 26, 40
_BOX = re.compile(r'(\w+)(?:\["(.*?)"\]|\{"(.*?)"\})?')
_ARROW = re.compile(r"\s*--(?: (.*?) --)?>\s*")
FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Chart:
    """What a chart says: boxes with their lines of text, arrows with their words, and what is in a frame."""

    def __init__(self, text: str) -> None:
        head, *lines = text.strip().splitlines()
        self.upwards = head.split()[1] == "BT"
        self.boxes: dict[str, list[str]] = {}
        self.questions: set[str] = set()
        self.arrows: dict[tuple[str, str], str] = {}
        self.frame: tuple[str, set[str]] = ("", set())
        inside = False
        for line in map(str.strip, lines):
            if match := re.fullmatch(r'subgraph \w+\["(.*)"\]', line):
                self.frame, inside = (match[1], set()), True
            elif line == "end":
                inside = False
            else:
                names = self._statement(line)
                if inside:
                    self.frame[1].update(names)

    def _statement(self, line: str) -> list[str]:
        words = _ARROW.split(line)  # box, words, box, words, box ...
        names = [self._box(part) for part in words[::2]]
        for (a, b), said in zip(itertools.pairwise(names), words[1::2]):
            self.arrows[a, b] = said or ""
        return names

    def _box(self, text: str) -> str:
        match = _BOX.fullmatch(text)
        if match is None:
            raise ValueError(f"a flowchart can't have {text!r}")
        name, label, question = match.groups()
        if label or question or name not in self.boxes:
            self.boxes[name] = (label or question or name).split("<br>")
        if question:
            self.questions.add(name)
        return name


def draw(text: str) -> str:
    """The picture of a chart."""
    chart = Chart(text)
    layers = in_layers(chart.boxes, set(chart.arrows))
    if chart.upwards:
        layers.reverse()
    widths = {name: 2 * _PAD + 7.2 * max(map(len, lines)) for name, lines in chart.boxes.items()}
    total = max(sum(widths[name] + _GAP for name in layer) for layer in layers) + 2 * _GAP
    total = max(total, 7.2 * len(chart.frame[0]) + 4 * _GAP)
    places, y = {}, float(_GAP)
    for layer in layers:
        x = (total - sum(widths[name] + _GAP for name in layer) + _GAP) / 2
        for name in layer:
            places[name] = (x, y, widths[name], 2 * _PAD + _LINE * len(chart.boxes[name]))
            x += widths[name] + _GAP
        y += max(places[name][3] for name in layer) + _ROW
    parts = [_frame(chart, places)] + [_arrow(places[a], places[b], said) for (a, b), said in chart.arrows.items()]
    parts += [_drawn(places[name], lines, name in chart.questions) for name, lines in chart.boxes.items()]
    size = f'viewBox="0 0 {total:.0f} {y - _ROW + _GAP:.0f}" style="max-width:{total:.0f}px"'
    return f'<svg class="flowchart" xmlns="http://www.w3.org/2000/svg" {size} role="img">{"".join(parts)}</svg>'


def _drawn(place: tuple[float, float, float, float], lines: list[str], question: bool) -> str:
    x, y, width, height = place
    rows = "".join(
        f'<text x="{x + width / 2:.0f}" y="{y + _PAD + _LINE * (i + 0.75):.0f}">{html.escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<rect class="{"question" if question else "box"}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" rx="{height / 2 if question else 5:.0f}"/>{rows}'
    )


def _arrow(a: tuple[float, float, float, float], b: tuple[float, float, float, float], said: str) -> str:
    down = a[1] < b[1]
    x1, y1 = a[0] + a[2] / 2, a[1] + (a[3] if down else 0)
    x2, y2 = b[0] + b[2] / 2, b[1] + (0 if down else b[3])
    middle, tip = (y1 + y2) / 2, -7 if down else 7
    # Past what lies between two boxes that are one above the other.
    aside = 130 if abs(x1 - x2) < 1 and abs(y1 - y2) > 2 * _ROW else 0
    word = (
        f'<text x="{(x1 + x2) / 2 - 0.8 * aside + 14:.0f}" y="{middle:.0f}">{html.escape(said)}</text>' if said else ""
    )
    bend = f"{x1 - aside:.0f},{middle:.0f} {x2 - aside:.0f},{middle:.0f}"
    curve = f"M{x1:.0f},{y1:.0f} C{bend} {x2:.0f},{y2 + tip:.0f}"
    head = f"{x2:.0f},{y2:.0f} {x2 - 4:.0f},{y2 + tip:.0f} {x2 + 4:.0f},{y2 + tip:.0f}"
    return f'<path class="arrow" d="{curve}"/><polygon class="head" points="{head}"/>{word}'


def _frame(chart: Chart, places: dict[str, tuple[float, float, float, float]]) -> str:
    title, names = chart.frame
    if not names:
        return ""
    inside = [places[name] for name in names]
    left, right = min(p[0] for p in inside) - 14, max(p[0] + p[2] for p in inside) + 14
    width = max(right - left, 7.2 * len(title) + 20)
    left = (left + right - width) / 2
    top = min(p[1] for p in inside) - 14
    height = max(p[1] + p[3] for p in inside) + 28 - top
    head = f'<text class="title" x="{left + width / 2:.0f}" y="{top + height - 8:.0f}">{html.escape(title)}</text>'
    return f'<rect class="frame" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" rx="6"/>{head}'
