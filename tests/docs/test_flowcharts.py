"""Flowcharts of the pages, drawn."""

import re

import pytest

from docsite import flowcharts
from docsite.blocks import ROOT

CHART = """
flowchart TB
  a["first<br>two lines"] --> b{"known?"}
  b -- yes --> d["<last>"]
  b -- no --> c
  subgraph inside["a frame"]
    c --> d
  end
"""


def test_what_a_chart_says():
    chart = flowcharts.Chart(CHART)
    assert chart.boxes == {"a": ["first", "two lines"], "b": ["known?"], "c": ["c"], "d": ["<last>"]}
    assert chart.arrows == {("a", "b"): "", ("b", "d"): "yes", ("b", "c"): "no", ("c", "d"): ""}
    assert chart.questions == {"b"} and chart.frame == ("a frame", {"c", "d"})


def test_pictures():
    picture = flowcharts.draw(CHART)
    assert re.findall(r"<text[^>]*>(.*?)</text>", picture).count("&lt;last&gt;") == 1
    assert picture.count('class="arrow"') == 4 and picture.count('class="box"') == 3
    heights = dict(re.findall(r'y="(\d+)">(first|known\?|c|&lt;last&gt;)<', picture))
    assert [heights[y] for y in sorted(heights, key=int)] == ["first", "known?", "c", "&lt;last&gt;"]


def test_what_is_not_known_is_refused():
    with pytest.raises(ValueError, match="a flowchart can't have"):
        flowcharts.draw("flowchart TB\n  a((circle)) --> b")


def test_the_charts_of_the_pages_are_drawn():
    charts = [c for page in (ROOT / "docs").rglob("*.md") for c in flowcharts.FENCE.findall(page.read_text())]
    assert charts
    for chart in charts:
        assert flowcharts.draw(chart).startswith("<svg")
