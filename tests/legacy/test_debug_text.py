"""`debug.cli`: tensors as lines, settings, expressions, and commands at a terminal."""

from __future__ import annotations

import numpy as np
import pytest

import tests.served  # noqa: F401

# isort: off
from tensorflow.python.debug.cli import cli_config, cli_shared, debugger_cli_common, evaluator, readline_ui
from tensorflow.python.debug.cli import tensor_format
from tensorflow.python.debug.lib import source_utils
# isort: on


class TestTensors:
    def test_elements_are_found_in_the_text(self):
        text = tensor_format.format_tensor(np.arange(12.0).reshape(3, 4), "a:0", include_metadata=True)
        assert text.lines[:3] == ['Tensor "a:0":', "  dtype: float64", "  shape: (3, 4)"]
        for place in ([0, 0], [1, 2], [2, 3]):
            left_out, row, begin, end = tensor_format.locate_tensor_element(text, place)
            assert not left_out and float(text.lines[row][begin:end]) == 4 * place[0] + place[1]

    def test_elements_that_are_left_out(self):
        options = {"threshold": 100, "edgeitems": 2}
        text = tensor_format.format_tensor(np.zeros([11, 11]), "a", np_printoptions=options)
        assert tensor_format.locate_tensor_element(text, [[0, 1], [0, 5], [5, 0]])[0] == [False, False, True]
        with pytest.raises(ValueError, match="ascending"):
            tensor_format.locate_tensor_element(text, [[1, 0], [0, 0]])

    def test_elements_in_ranges_stand_out(self):
        text = cli_shared.format_tensor(
            np.array([1.0, 5.0, 9.0]), "a:0", {}, highlight_options=cli_shared.parse_ranges_highlight("[4, inf]")
        )
        assert text.lines[0].endswith("Highlighted([4, inf]): 2 of 3 element(s) (66.67%)")
        assert [text.lines[4][begin:end] for begin, end, _ in text.font_attr_segs[4]] == ["5.", "9."]

    def test_numbers_in_units(self):
        assert cli_shared.bytes_to_readable_str(1536, include_b=True) == "1.50kB"
        assert [cli_shared.time_to_readable_str(t) for t in (0, 999, 1500, 2.5e6)] == ["0", "999us", "1.5ms", "2.5s"]


def test_settings_are_kept(tmp_path):
    path = str(tmp_path / "settings")
    config = cli_config.CLIConfig(path)
    config.set("mouse_mode", "off")
    assert cli_config.CLIConfig(path).get("mouse_mode") is False
    with pytest.raises(KeyError):
        config.get("no_such_setting")


def test_expressions_of_dumped_tensors():
    class Dump:
        def get_tensors(self, node, slot, op, device_name=None):
            return [np.array([slot, 1.0]), np.array([slot, 2.0])]

    assert evaluator.ExpressionEvaluator(Dump()).evaluate("np.sum(`a/b:3[1]` * 2)") == 10.0
    assert evaluator._parse_debug_tensor_name("/job:w/replica:0/task:0/cpu:0:a:1")[:3] == (
        "/job:w/replica:0/task:0/cpu:0", "a", 1,
    )  # fmt: skip


def test_commands_at_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    ui = readline_ui.ReadlineUI(config=cli_config.CLIConfig(str(tmp_path / "settings")))
    ui.register_command_handler(
        "say", lambda args, screen_info=None: debugger_cli_common.RichTextLines(args), "Say it."
    )
    commands = iter(["say hello", f"say there > {tmp_path}/said", "nonsense", "exit"])
    monkeypatch.setattr(ui, "_get_user_command", lambda: next(commands))
    assert ui.run_ui() == "explicit_user_exit"
    printed = capsys.readouterr().out
    assert "hello" in printed and 'Invalid command prefix "nonsense"' in printed
    assert (tmp_path / "said").read_text() == "there\n"


def test_lines_of_files(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ny = 2")
    assert source_utils.load_source(str(tmp_path / "a.py")) == (["x = 1", "y = 2"], 4)
    assert source_utils.guess_is_tensorflow_py_library(source_utils.__file__)
    assert not source_utils.guess_is_tensorflow_py_library(str(tmp_path / "a.py"))
