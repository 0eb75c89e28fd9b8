"""`debug.cli.curses_ui`: what the debugger shows on a screen, and what keys and clicks do, without a terminal."""

from __future__ import annotations

import curses

import numpy as np
import pytest

import tests.served  # noqa: F401

# isort: off
from tensorflow.python.debug.cli import cli_config, curses_ui, debugger_cli_common, tensor_format
# isort: on


class _Screen(curses_ui.CursesUI):
    """A user interface whose screen is `size`, and whose user types `typed`: text, or keys, or (x, y) of clicks."""

    def __init__(self, folder, typed, size=(40, 80)):
        self.size, self.typed = size, [*typed, "exit"]
        self.offered, self.toasts, self.rows = [], [], []
        super().__init__(config=cli_config.CLIConfig(config_file_path=str(folder / "config")))
        self._command_history_store = debugger_cli_common.CommandHistory(history_file_path=str(folder / "history"))
        for name, answer in (("count", _count), ("array", _array), ("fail", _fail), ("leave", _leave)):
            self.register_command_handler(name, answer, f"Help of {name}.")
        self.register_tab_comp_context(["count"], ["north", "nothing", "south"])

    def _screen_refresh_size(self):
        self._max_y, self._max_x = self.size

    def _screen_launch(self, enable_mouse_on_start):
        self._mouse_enabled = enable_mouse_on_start

    def _screen_nothing(self, *args, **kwargs):
        return "a pad"

    _screen_init = _screen_terminate = _screen_create_command_window = _screen_set_mousemask = _screen_nothing
    _screen_new_output_pad = _screen_add_line_to_output_pad = _screen_draw_text_line = _screen_nothing
    _screen_scroll_output_pad = _refresh_pad = _screen_nothing

    def _screen_create_command_textbox(self, existing_command=None):
        self.offered.append(existing_command)

    def _screen_gather_textbox_str(self):
        return self.gathered

    def _screen_get_user_command(self):
        command, self.gathered = self.typed.pop(0), ""
        if isinstance(command, tuple):
            self._textbox_curr_terminator = curses.KEY_MOUSE
            return self._fetch_hyperlink_command(*command)
        keys = [command] if isinstance(command, int) else [*map(ord, command), ord("\n")]
        for key in keys:
            if self._on_textbox_keypress(key) == self.CLI_TERMINATOR_KEY:
                break
            self.gathered += chr(key) if key < 256 else ""
        return self.gathered

    def _scroll_output(self, direction, line_index=None):
        super()._scroll_output(direction, line_index=line_index)
        self.rows.append(self._output_pad_row)

    def _toast(self, message, color=None, line_index=None):
        if message != self._UI_WAIT_MESSAGE:
            self.toasts.append(message)


def _count(args, screen_info=None):
    link = debugger_cli_common.MenuItem("", "count 2")
    menu = debugger_cli_common.Menu()
    menu.append(debugger_cli_common.MenuItem("again", "count 3"))
    lines = [f"number {i}" for i in range(int(args[0]))]
    annotations = {debugger_cli_common.MAIN_MENU_KEY: menu} if "menu" in args else {}
    return debugger_cli_common.RichTextLines(lines, {1: [(0, 6, link)]}, annotations)


def _array(args, screen_info=None):
    return tensor_format.format_tensor(np.ones([50, 2]), "a", np_printoptions={"threshold": 1000})


def _fail(args, screen_info=None):
    raise ValueError("no")


def _leave(args, screen_info=None):
    raise debugger_cli_common.CommandLineExit(exit_token="left")


@pytest.fixture
def ran(tmp_path):
    def run(*typed, **options):
        screen = _Screen(tmp_path, typed, **options)
        screen.token = screen.run_ui()
        return screen

    return run


def _shown(screen):
    return screen._curr_unwrapped_output.lines


def test_commands_are_answered(ran):
    screen = ran("count 3", "", "count 4")
    assert _shown(screen) == ["number 0", "number 1", "number 2", "number 3"]
    assert screen.token == debugger_cli_common.EXPLICIT_USER_EXIT
    assert ran("leave").token == "left"
    assert _shown(ran("sing")) == ['ERROR: Invalid command prefix "sing"']
    assert _shown(ran("fail"))[0].startswith("Error occurred during handling of command: fail")


def test_scrolling(ran):
    screen = ran("count 60", curses.KEY_NPAGE, curses.KEY_END, curses.KEY_PPAGE, curses.KEY_HOME)
    assert screen.rows == [0, 1, 59, 58, 0]
    assert screen._scroll_info.startswith("--- Scroll (PgDn): 0.00% ---") and screen._scroll_info.endswith(
        " Mouse: ON ---"
    )
    assert len(ran("count 3", size=(40, 8))._curr_wrapped_output.lines) == 6 + 34  # each line in two


def test_searching(ran):
    screen = ran("count 30", "/2$", "/", "/", "/", "/x", "/[")
    assert screen.rows == [0, 2, 12, 22]
    assert screen.toasts == ["Pattern not found", "Pattern not found", 'ERROR: Invalid regular expression: "["']


def test_elements_of_arrays(ran):
    screen = ran("array", "@[10, 0]", "@[50, 0]", "@", size=(20, 80))
    assert screen.rows == [0, 12] and "[10,0]-[24,0]" in screen._scroll_info
    assert screen.toasts[-2:] == ["ERROR: Indices exceed tensor dimensions.", "ERROR: Empty indices."]


def test_links_menus_and_history_of_screens(ran):
    assert len(_shown(ran("count 5", (1, 3)))) == 2
    assert len(_shown(ran("count 5 menu", (3, 2)))) == 3
    assert len(_shown(ran("count 5", "count 6", (3, 1)))) == 5  # the arrow that goes back
    screen = ran("count 5", "count 6", "prev", "prev", "next", "next")
    assert len(_shown(screen)) == 6
    assert [toast.split()[2] for toast in screen.toasts] == ["OLDEST", "LATEST"]


def test_commands_of_before(ran):
    screen = ran("count 1", "count 2", curses.KEY_UP, curses.KEY_UP, curses.KEY_UP, curses.KEY_DOWN, curses.KEY_DOWN)
    assert screen.offered == ["", "", "", "count 2", "count 1", "count 1", "count 2", ""]


def test_completion(ran):
    screen = ran("cou\t", "count no\t", "x\t")
    assert screen.offered == ["", "count", "count no", "x"] and screen.token


def test_mouse_and_files(ran, tmp_path):
    screen = ran("mouse off", "mouse", "mouse maybe", f"count 2 > {tmp_path / 'lines'}")
    assert screen.toasts[:3] == ["INFO: Mouse mode: off", "INFO: Mouse mode: off", "ERROR: Invalid mouse mode: maybe"]
    assert (tmp_path / "lines").read_text() == "number 0\nnumber 1\n"


def test_another_size(ran):
    screen = ran("count 3")
    screen.size = (20, 6)
    screen._on_textbox_keypress(curses.KEY_RESIZE)
    assert screen._curr_wrapped_output.lines[:2] == ["numb", "er 0"]
