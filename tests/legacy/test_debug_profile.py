"""`debug.cli`: how long nodes took, and parts of screens."""

from __future__ import annotations

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: off
from tensorflow.python.debug.cli import curses_ui, curses_widgets, debugger_cli_common, profile_analyzer_cli
# isort: on


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import everflow as tf\n\nx = tf.constant(1.0, name='x')\ny = tf.add(x, x, name='y')\n")
    with tf.Graph().as_default() as graph:
        exec(compile(path.read_text(), str(path), "exec"), {})
    return str(path), graph


def _run(*times):
    metadata = tf.RunMetadata()
    for device in dict.fromkeys(row[0] for row in times):
        stats = metadata.step_stats.dev_stats.add(device=device)
        for _, name, start, op_time, exec_time in (row for row in times if row[0] == device):
            stats.node_stats.add(
                node_name=name, all_start_micros=start, op_end_rel_micros=op_time, all_end_rel_micros=exec_time
            )
    return metadata


def test_a_table_for_each_device(program):
    path, graph = program
    run = _run(("a", "x", 5, 2, 30), ("a", "y", 9, 4, 2000), ("b", "y", 7, 1, 2), ("b", "_SOURCE", 1, 1, 1))
    analyzer = profile_analyzer_cli.ProfileAnalyzer(graph, run)
    output = analyzer.list_profile(["-s", "exec_time", "-r"])
    assert output.lines[2] == "Device 1 of 2: a"
    assert [line.split()[0] for line in output.lines[5:7]] == ["y", "x"]
    assert output.lines[6].split() == ["x", "Const", "5", "2us", "30us", "program.py:3(<module>)"]
    assert output.font_attr_segs[6][-1][2].content == f"ps {path} --init_line 3"
    assert output.lines[8].split() == ["Device", "Total", "6us", "2030us"]
    assert len(analyzer.list_profile(["-e", ">=1ms"]).lines) == len(output.lines) - 2
    assert analyzer.list_profile(["-d", "c"]).lines == [""]


def test_lines_with_what_they_took(program):
    path, graph = program
    analyzer = profile_analyzer_cli.ProfileAnalyzer(graph, _run(("a", "x", 5, 2, 30), ("a", "y", 9, 4, 2000)))
    output = analyzer.print_source([path, "--init_line", "3"])
    assert output.lines[4:6] == [
        "[|         ] 30us        1(1)      L3 x = tf.constant(1.0, name='x')",
        "[||||||||||] 2000us      1(1)      L4 y = tf.add(x, x, name='y')",
    ]
    assert output.annotations[debugger_cli_common.INIT_SCROLL_POS_KEY] == 4
    assert "passes these filters" in analyzer.print_source([path, "-n", "z"]).lines[0]


def test_history_of_screens():
    history = curses_widgets.CursesNavigationHistory(2)
    for command in ("a", "b", "c"):
        history.add_item(command, debugger_cli_common.RichTextLines([command]), 0)
    assert history.size() == 2 and history.can_go_back() and not history.can_go_forward()
    assert history.go_back().command == history.go_back().command == "b"
    assert history.render(40, "prev", "next").lines == ["| <-- --> | (-1) b"]
    with pytest.raises(ValueError, match="one screen"):
        curses_widgets.CursesNavigationHistory(0)


def test_a_bar_that_scrolls():
    bar = curses_ui.ScrollBar(0, 0, 1, 7, 2, 5)
    assert list(bar.layout().font_attr_segs) == [0, 3, 7]
    assert [bar.get_click_command(y) for y in (0, 1, 3, 4, 7, 8)] == [
        "up_a_line",
        "up",
        None,
        "down",
        "down_a_line",
        None,
    ]
