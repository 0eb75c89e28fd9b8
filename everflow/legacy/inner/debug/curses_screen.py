"""What the debugger's user interface in colours does to a terminal: lines, pads that scroll, and what is typed."""

from __future__ import annotations

import curses
import curses.textpad
from typing import Any

from everflow.legacy.inner.debug import cli_shared
from everflow.legacy.inner.debug.rich_text import MenuItem, RichTextLines

_COLORS = {
    cli_shared.COLOR_BLACK: curses.COLOR_BLACK,
    cli_shared.COLOR_BLUE: curses.COLOR_BLUE,
    cli_shared.COLOR_CYAN: curses.COLOR_CYAN,
    cli_shared.COLOR_GREEN: curses.COLOR_GREEN,
    cli_shared.COLOR_MAGENTA: curses.COLOR_MAGENTA,
    cli_shared.COLOR_RED: curses.COLOR_RED,
    cli_shared.COLOR_WHITE: curses.COLOR_WHITE,
    cli_shared.COLOR_YELLOW: curses.COLOR_YELLOW,
}
_STYLES = {"bold": curses.A_BOLD, "underline": curses.A_UNDERLINE}


class CursesScreen:
    """A terminal. All that reaches it goes through methods of this class."""

    _FOREGROUND_COLORS = _COLORS
    _BACKGROUND_COLORS = {"transparent": -1, cli_shared.COLOR_WHITE: curses.COLOR_WHITE, cli_shared.COLOR_BLACK: 0}

    _PROMPT_WIDTH = 7
    _max_x: int
    _max_y: int
    _mouse_enabled: bool
    _command_textbox: Any

    def _screen_init(self) -> None:
        """Take the terminal."""
        self._stdscr = curses.initscr()
        self._command_window = None
        self._color_pairs: dict[str, int] = {}
        self._screen_color_init()

    def _screen_color_init(self) -> None:
        """Give pairs of colours numbers, by names such as `red` and `red_on_white`."""
        curses.start_color()
        curses.use_default_colors()
        number = 0
        for foreground, front in self._FOREGROUND_COLORS.items():
            for background, behind in self._BACKGROUND_COLORS.items():
                number += 1
                curses.init_pair(number, front, behind)
                name = foreground if background == "transparent" else f"{foreground}_on_{background}"
                self._color_pairs[name] = curses.color_pair(number)
        self._color_pairs[cli_shared.COLOR_GRAY] = curses.A_DIM

    def _screen_launch(self, enable_mouse_on_start: bool) -> None:
        """Begin: keys come one by one, and mouse clicks if they are wanted."""
        curses.noecho()
        curses.cbreak()
        self._stdscr.keypad(True)
        self._mouse_enabled = enable_mouse_on_start
        self._screen_set_mousemask()
        self._screen_create_command_window()

    def _screen_set_mousemask(self) -> None:
        curses.mousemask(self._mouse_enabled)

    def _screen_create_command_window(self) -> None:
        """The last line, where commands are typed."""
        self._command_window = curses.newwin(1, self._max_x - self._PROMPT_WIDTH, self._max_y - 1, self._PROMPT_WIDTH)
        self._command_window.keypad(True)

    def _screen_create_command_textbox(self, existing_command: str | None = None) -> None:
        """Begin to type a command, perhaps after what is there already."""
        raise NotImplementedError("what is typed is up to the user interface")

    def _screen_refresh(self) -> None:
        self._stdscr.refresh()

    def _screen_refresh_size(self) -> None:
        self._max_y, self._max_x = self._stdscr.getmaxyx()

    def _screen_terminate(self) -> None:
        """Give the terminal back as it was."""
        self._stdscr.keypad(False)
        curses.nocbreak()
        curses.echo()
        curses.endwin()

    def _attributes(self, attrs: Any) -> int:
        """The number that stands for names of colours and styles; commands behind text don't show."""
        found = 0
        for attr in attrs if isinstance(attrs, (list, tuple)) else [attrs]:
            if isinstance(attr, MenuItem):
                found |= curses.A_UNDERLINE
            elif attr is not None:
                found |= _STYLES.get(attr, self._color_pairs.get(attr, 0))
        return found

    def _addstr(self, *args: Any) -> None:
        try:
            self._stdscr.addstr(*args)
        except curses.error:
            pass  # the last character of the last line can't be written without scrolling

    def _screen_draw_text_line(
        self, row: int, line: str, attr: int = curses.A_NORMAL, color: str | None = None
    ) -> None:
        """A line of the screen, in one colour."""
        self._addstr(row, 0, line[: self._max_x], attr | self._attributes(color))
        self._screen_refresh()

    def _screen_new_output_pad(self, rows: int, cols: int) -> Any:
        return curses.newpad(rows, cols)

    def _screen_display_output(self, output: RichTextLines) -> tuple[Any, int]:
        """(a pad with lines on it, how many rows it has)"""
        rows = len(output.lines)
        pad = self._screen_new_output_pad(rows, self._max_x - 2)
        for row, line in enumerate(output.lines):
            self._screen_add_line_to_output_pad(pad, row, line, color_segments=output.font_attr_segs.get(row))
        return pad, rows

    def _screen_add_line_to_output_pad(
        self, pad: Any, row: int, txt: str, color_segments: list[tuple[int, int, Any]] | None = None
    ) -> None:
        """A line with colours on a pad."""
        shown = txt[: self._max_x - 3]
        pad.addstr(row, 0, shown)
        for begin, end, attrs in color_segments or ():
            if begin < len(shown):
                pad.addstr(row, begin, shown[begin:end], self._attributes(attrs))

    def _screen_scroll_output_pad(
        self,
        pad: Any,
        viewport_top: int,
        viewport_left: int,
        screen_location_top: int,
        screen_location_left: int,
        screen_location_bottom: int,
        screen_location_right: int,
    ) -> None:
        """Show a part of a pad in a part of the screen."""
        self._refresh_pad(
            *(pad, viewport_top, viewport_left, screen_location_top, screen_location_left),
            *(screen_location_bottom, screen_location_right),
        )

    def _refresh_pad(self, pad: Any, *args: int) -> None:
        try:
            pad.refresh(*args)
        except curses.error:
            pass  # the terminal was made smaller meanwhile

    def _screen_getmouse(self) -> tuple[int, int, int, int, int]:
        return curses.getmouse()

    def _screen_gather_textbox_str(self) -> str:
        """What is typed so far."""
        return self._command_textbox.gather()

    def _screen_get_user_command(self) -> str:
        """What was typed until a key that ends it."""
        return self._command_textbox.edit(validate=self._on_textbox_keypress)

    def _on_textbox_keypress(self, x: int) -> int:
        """What the command line takes for a key."""
        raise NotImplementedError("what keys do is up to the user interface")
