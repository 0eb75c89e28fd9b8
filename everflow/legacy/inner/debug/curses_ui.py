"""tensorflow.python.debug.cli.curses_ui: the debugger's user interface with colours, links, menus and a mouse."""

from __future__ import annotations

import curses
import curses.textpad
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.errors import OpError
from everflow.legacy.inner.debug import command_parser, curses_widgets, tensor_format
from everflow.legacy.inner.debug.base_ui import USER_LEFT, BaseUI
from everflow.legacy.inner.debug.commands import CommandHistory, CommandLineExit
from everflow.legacy.inner.debug.curses_screen import CursesScreen
from everflow.legacy.inner.debug.curses_widgets import (
    _SCROLL_DOWN,
    _SCROLL_DOWN_A_LINE,
    _SCROLL_UP,
    _SCROLL_UP_A_LINE,
    ScrollBar,
)
from everflow.legacy.inner.debug.rich_text import (
    INIT_SCROLL_POS_KEY,
    MAIN_MENU_KEY,
    REGEX_MATCH_LINES_KEY,
    MenuItem,
    RichTextLines,
    regex_find,
    wrap_rich_text_lines,
)

_SCROLL_REFRESH, _SCROLL_HOME, _SCROLL_END = "refresh", "home", "end"
_SCROLL_TO_LINE_INDEX = "scroll_to_line_index"
_KEYS_THAT_SCROLL = {
    curses.KEY_PPAGE: _SCROLL_UP_A_LINE,
    curses.KEY_NPAGE: _SCROLL_DOWN_A_LINE,
    curses.KEY_HOME: _SCROLL_HOME,
    curses.KEY_END: _SCROLL_END,
}


def _get_command_from_line_attr_segs(mouse_x: int, attr_segs: Sequence[tuple[int, int, Any]]) -> str | None:
    """The command behind a place in a line."""
    for start, end, attrs in attr_segs:
        if start <= mouse_x < end:
            for attr in attrs if isinstance(attrs, (list, tuple)) else [attrs]:
                if isinstance(attr, MenuItem):
                    return attr.content
    return None


class CursesUI(CursesScreen, BaseUI):
    """A screen: a title, a line of history, a menu, lines that scroll, how far they did, and a command."""

    CLI_TERMINATOR_KEY, CLI_TAB_KEY, BACKSPACE_KEY = 7, ord("\t"), ord("\b")
    CLI_CR_KEYS = [ord("\n"), ord("\r"), curses.KEY_ENTER]
    REGEX_SEARCH_PREFIX, TENSOR_INDICES_NAVIGATION_PREFIX = "/", "@"
    _NAVIGATION_BACK_COMMAND, _NAVIGATION_FORWARD_COMMAND = "prev", "next"
    _KEY_MAP = {127: curses.KEY_BACKSPACE, 330: 4}  # Backspace and Delete as terminals send them
    _SCREEN_WIDTH_LIMIT = 220
    _HISTORY = 200
    _SEARCH_HIGHLIGHT_FONT_ATTR = _ARRAY_INDICES_COLOR_PAIR = _STATUS_BAR_COLOR_PAIR = "black_on_white"
    _ERROR_TOAST_COLOR_PAIR = _NAVIGATION_WARNING_COLOR_PAIR = "red_on_white"
    _INFO_TOAST_COLOR_PAIR, _UI_WAIT_COLOR_PAIR = "blue_on_white", "magenta_on_white"
    _UI_WAIT_MESSAGE = "Processing..."
    _single_instance_lock = threading.Lock()

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None) -> None:
        BaseUI.__init__(self, on_ui_exit=on_ui_exit, config=config)
        self._screen_init()
        self._screen_refresh_size()
        self._init_layout()
        self._command_history_store = CommandHistory()
        self._active_command_history: list[str] = []
        self._command_pointer, self._pending_command, self._typed = 0, "", ""
        self._nav_history = curses_widgets.CursesNavigationHistory(self._HISTORY)
        self._mouse_enabled = self.config.get("mouse_mode")
        self._output_pad = self._nav_bar = self._main_menu = None
        self._curr_unwrapped_output: Any = None
        self._curr_wrapped_output: Any = None
        self._output_pad_row, self._curr_search_regex, self._unwrapped_regex_match_lines = 0, None, []
        self._output_num_rows = 0
        self.register_command_handler(
            "mouse", self._mouse_mode_command_handler, "Say whether clicks are heard: on or off.", prefix_aliases=["m"]
        )

    def _init_layout(self) -> None:
        """Which rows there are for what."""
        self._title_row, self._nav_bar_row, self._main_menu_row = 0, 1, 2
        self._output_top_row = 2
        self._output_scroll_row = self._max_y - 3
        self._toast_row = self._candidates_row = self._max_y - 4
        self._output_array_rows = self._max_y - 6

    def get_help(self) -> RichTextLines:
        """The help of all commands."""
        return self._command_handler_registry.get_help()

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Follow commands until one ends it; what that one says is returned."""
        with self._single_instance_lock:
            self._screen_launch(enable_mouse_on_start=enable_mouse_on_start)
            signal.signal(signal.SIGINT, self._interrupt_handler)
            if title is not None:
                self._title(title, title_color=title_color)
            if init_command is not None:
                self._dispatch_command(init_command)
            token = self._ui_loop()
            if self._on_ui_exit:
                self._on_ui_exit()
            self._screen_terminate()
            return token

    def _interrupt_handler(self, signal_num: int, frame: Any) -> None:
        self._screen_terminate()
        sys.exit(0)

    def _title(self, title: str, title_color: str | None = None) -> None:
        line = f"--- {title} "
        self._screen_draw_text_line(self._title_row, line + "-" * (self._max_x - len(line)), color=title_color)

    # --- what is typed

    def _ui_loop(self) -> Any:
        existing, token = "", None
        while token is None:
            self._screen_create_command_textbox(existing)
            command, terminator, is_changed = self._get_user_command()
            existing = ""
            if terminator == self.CLI_TAB_KEY:
                existing = self._tab_complete(command)
            elif is_changed:
                existing = command
            elif terminator in self.CLI_CR_KEYS or terminator == curses.KEY_MOUSE:
                token = self._dispatch_command(command)
        return token

    def _get_user_command(self) -> tuple[str, int | None, bool]:
        """(what was typed, the key that ended it, whether that is another command of the history)"""
        self._textbox_curr_terminator: int | None = None
        self._textbox_pending_command_changed = False
        command = self._strip_terminator(self._screen_get_user_command()).strip()
        if self._textbox_pending_command_changed:
            command = self._pending_command
        return command, self._textbox_curr_terminator, self._textbox_pending_command_changed

    def _strip_terminator(self, command: str) -> str:
        while command and ord(command[-1]) in self.CLI_CR_KEYS:
            command = command[:-1]
        return command

    def _screen_create_command_textbox(self, existing_command: str | None = None) -> None:
        self._stdscr.addstr(self._max_y - 1, 0, self.CLI_PROMPT, curses.A_BOLD)
        self._screen_refresh()
        self._command_window.clear()
        self._command_textbox = curses.textpad.Textbox(self._command_window, insert_mode=True)
        self._auto_key_in(existing_command or "")

    def _auto_key_in(self, command: str, erase_existing: bool = False) -> None:
        """Type a command for the user."""
        if erase_existing:
            self._erase_existing_command()
        for key in map(ord, command):
            self._command_textbox.do_command(key)

    def _erase_existing_command(self) -> None:
        for _ in self._screen_gather_textbox_str():
            self._command_textbox.do_command(self.BACKSPACE_KEY)

    def _on_textbox_keypress(self, x: int) -> int:
        """What the command line takes for a key: the terminator where the key is one for the screen."""
        if not isinstance(x, int):
            raise TypeError(f"A key is an int, not a {type(x).__name__}")
        if x in self.CLI_CR_KEYS or x == self.CLI_TAB_KEY:
            self._textbox_curr_terminator = x
            return self.CLI_TERMINATOR_KEY
        if x in _KEYS_THAT_SCROLL:
            self._scroll_output(_KEYS_THAT_SCROLL[x])
            return x
        if x in (curses.KEY_UP, curses.KEY_DOWN):
            self._turn_history(-1 if x == curses.KEY_UP else 1)
            self._textbox_curr_terminator = x
            return self.CLI_TERMINATOR_KEY
        if x == curses.KEY_RESIZE:
            self._screen_refresh_size()
            self._init_layout()
            self._screen_create_command_window()
            self._redraw_output()
        elif x == curses.KEY_MOUSE and self._mouse_enabled:
            return self._clicked()
        else:
            self._command_pointer = 0  # what is typed now isn't a command of the history any more
        return self._KEY_MAP.get(x, x)

    def _clicked(self) -> int:
        try:
            _, mouse_x, mouse_y, _, buttons = self._screen_getmouse()
        except curses.error:
            return 0
        bar = self._scroll_bar() if mouse_x >= self._max_x - 2 else None
        if bar is not None and (command := bar.get_click_command(mouse_y)) is not None:
            self._scroll_output(command)
        elif command := self._fetch_hyperlink_command(mouse_x, mouse_y):
            self._auto_key_in(command, erase_existing=True)
            self._textbox_curr_terminator = self.CLI_CR_KEYS[0]
            return self.CLI_TERMINATOR_KEY
        return curses.KEY_MOUSE

    def _turn_history(self, step: int) -> None:
        """Go to an earlier or later command of those that begin as what was typed."""
        if self._command_pointer == 0 and step < 0:
            self._typed = self._screen_gather_textbox_str()
            self._active_command_history = self._command_history_store.lookup_prefix(self._typed, self._HISTORY)
        most = len(self._active_command_history)
        self._command_pointer = min(max(self._command_pointer - step, 0), most)
        at = self._command_pointer
        self._pending_command = self._active_command_history[-at] if at else self._typed
        self._textbox_pending_command_changed = True

    def _tab_complete(self, command_str: str) -> str:
        """What a command is completed to; the ways to go on are shown where there are several."""
        context, prefix, before = self._analyze_tab_complete_input(command_str)
        candidates, common = self._tab_completion_registry.get_completions(context, prefix)
        self._display_candidates(candidates if candidates and len(candidates) > 1 else [])
        return before + common if candidates and common else command_str

    def _display_candidates(self, candidates: list[str]) -> None:
        if self._curr_unwrapped_output is not None:
            self._scroll_output(_SCROLL_REFRESH)  # over what was shown of the last one
        if candidates:
            shown, _ = wrap_rich_text_lines(RichTextLines(" ".join(candidates)), self._max_x - 3)
            self._display_lines(shown, 1)

    def _display_lines(self, output: RichTextLines, min_num_rows: int) -> None:
        """Lines just above how far the output is scrolled."""
        pad, rows = self._screen_display_output(output)
        top = self._candidates_row - max(rows, min_num_rows) + 1
        self._screen_scroll_output_pad(pad, 0, 0, top, 0, self._candidates_row, self._max_x - 2)

    # --- commands

    def _dispatch_command(self, command: str) -> Any:
        """Follow one command; what it says where it ends the session, else None."""
        if not command:
            return None
        if self._output_pad:
            self._toast(self._UI_WAIT_MESSAGE, color=self._UI_WAIT_COLOR_PAIR)
        if command in self.CLI_EXIT_COMMANDS:
            return USER_LEFT
        if command in (self._NAVIGATION_BACK_COMMAND, self._NAVIGATION_FORWARD_COMMAND):
            self._navigate_screen_output(command)
            return None
        self._command_pointer, self._typed = 0, ""
        self._command_history_store.add_command(command)
        if self._looks_within(command):
            return None
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            self._error_toast(str(error))
            return None
        if not prefix:
            return None
        if not self._command_handler_registry.is_registered(prefix):
            output = RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'])
        else:
            try:
                output = self._command_handler_registry.dispatch_command(
                    prefix, args, screen_info={"cols": min(self._max_x - 2, self._SCREEN_WIDTH_LIMIT)}
                )
            except CommandLineExit as left:
                return left.exit_token if left.exit_token is not None else USER_LEFT
        self._nav_history.add_item(command, output, 0)
        if output is not None:
            self._curr_search_regex = None
            self._display_output(output)
            if path:
                self._write(output, path)
        return None

    def _looks_within(self, command: str) -> bool:
        """Whether a command was a search in what is shown, or a way to an element of an array there."""
        if command.startswith(self.REGEX_SEARCH_PREFIX) and self._curr_unwrapped_output is not None:
            pattern = command[len(self.REGEX_SEARCH_PREFIX) :]
            if pattern or self._curr_search_regex:
                self._search(pattern)
            return True
        if command.startswith(self.TENSOR_INDICES_NAVIGATION_PREFIX):
            self._go_to_element(command[len(self.TENSOR_INDICES_NAVIGATION_PREFIX) :].strip())
            return True
        return False

    def _search(self, pattern: str) -> None:
        try:
            self._display_output(self._curr_unwrapped_output, highlight_regex=pattern or self._curr_search_regex)
        except ValueError:
            self._error_toast(f'Invalid regular expression: "{pattern}"')
            return
        self._curr_search_regex = pattern or self._curr_search_regex

    def _go_to_element(self, indices: str) -> None:
        try:
            if not indices:
                raise ValueError("Empty indices.")
            place = command_parser.parse_indices(indices)
            is_left_out, line, _, _ = tensor_format.locate_tensor_element(self._curr_wrapped_output, place)
        except Exception as error:  # whatever is wrong with what was typed is shown
            self._error_toast(str(error))
            return
        if is_left_out:
            self._error_toast("The element is not shown: it is among those that are left out")
        else:
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=line)

    def _write(self, output: RichTextLines, path: str) -> None:
        try:
            output.write_to_file(path)
        except (OSError, OpError):
            self._error_toast(f"Failed to write output to {path}")
        else:
            self._info_toast(f"Wrote output to {path}")

    def _navigate_screen_output(self, command: str) -> None:
        """Back to the screen before, or forward again."""
        is_back = command == self._NAVIGATION_BACK_COMMAND
        if not (self._nav_history.can_go_back() if is_back else self._nav_history.can_go_forward()):
            word = "OLDEST" if is_back else "LATEST"
            self._toast(f"At the {word} in navigation history!", color=self._NAVIGATION_WARNING_COLOR_PAIR)
            return
        item = self._nav_history.go_back() if is_back else self._nav_history.go_forward()
        row = item.scroll_position
        self._display_output(item.screen_output)
        if row:
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=row)

    def _mouse_mode_command_handler(self, args: Sequence[str], screen_info: Any = None) -> None:
        """The command `mouse`."""
        wanted = args[0].lower() if args else None
        if wanted in ("on", "1", "true", "off", "0", "false"):
            self._set_mouse_enabled(wanted in ("on", "1", "true"))
        elif wanted is not None:
            self._error_toast(f"Invalid mouse mode: {wanted}")
            return
        self._info_toast(f"Mouse mode: {'on' if self._mouse_enabled else 'off'}")

    def _set_mouse_enabled(self, enabled: bool) -> None:
        if self._mouse_enabled == enabled:
            return
        self._mouse_enabled = enabled
        self._screen_set_mousemask()
        self._redraw_output()

    def _fetch_hyperlink_command(self, mouse_x: int, mouse_y: int) -> str:
        """The command behind a place on the screen, or nothing."""
        if mouse_y == self._nav_bar_row and self._nav_bar:
            return _get_command_from_line_attr_segs(mouse_x, self._nav_bar.font_attr_segs.get(0, ())) or ""
        if mouse_y == self._main_menu_row and self._main_menu:
            return _get_command_from_line_attr_segs(mouse_x, self._main_menu.font_attr_segs.get(0, ())) or ""
        if self._curr_wrapped_output is None or not self._output_top_row <= mouse_y < self._output_scroll_row:
            return ""
        line = self._output_pad_row + mouse_y - self._output_top_row
        return _get_command_from_line_attr_segs(mouse_x, self._curr_wrapped_output.font_attr_segs.get(line, ())) or ""

    # --- what is shown

    def _display_output(
        self, output: RichTextLines | None, is_refresh: bool = False, highlight_regex: str | None = None
    ) -> None:
        """Show lines from their beginning, or from the first, or next, place that a pattern matches."""
        if output is None:
            return
        if highlight_regex:
            output = regex_find(output, highlight_regex, font_attr=self._SEARCH_HIGHLIGHT_FONT_ATTR)
        else:
            self._curr_unwrapped_output = output
        self._display_nav_bar()
        self._display_main_menu(output)
        wrapped, first = wrap_rich_text_lines(output, self._max_x - 2)
        self._output_num_rows = wrapped.num_lines()
        wrapped.extend(RichTextLines([""] * (self._max_y - 6)))
        self._curr_wrapped_output = wrapped
        self._output_pad, _ = self._screen_display_output(wrapped)
        if is_refresh:
            self._scroll_output(_SCROLL_REFRESH)
        elif highlight_regex:
            self._scroll_to_match(highlight_regex, [first[line] for line in output.annotations[REGEX_MATCH_LINES_KEY]])
        elif INIT_SCROLL_POS_KEY in output.annotations:
            line = min(output.annotations[INIT_SCROLL_POS_KEY], len(first) - 1)
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=first[line])
        else:
            self._output_pad_row = 0
            self._scroll_output(_SCROLL_HOME)

    def _scroll_to_match(self, pattern: str, lines: list[int]) -> None:
        if pattern == self._curr_search_regex:
            lines = [line for line in lines if line > self._output_pad_row]
        if lines:
            self._scroll_output(_SCROLL_TO_LINE_INDEX, line_index=lines[0])
        else:
            self._toast("Pattern not found", color=self._ERROR_TOAST_COLOR_PAIR)

    def _redraw_output(self) -> None:
        """Show again what is shown."""
        shown = self._curr_unwrapped_output
        if shown is None:
            return
        self._display_nav_bar()
        self._display_main_menu(shown)
        self._display_output(shown, is_refresh=True)

    def _display_nav_bar(self) -> None:
        self._nav_bar = self._nav_history.render(
            self._max_x - 1, self._NAVIGATION_BACK_COMMAND, self._NAVIGATION_FORWARD_COMMAND
        )
        self._nav_bar_pad, _ = self._screen_display_output(self._nav_bar)
        self._screen_render_nav_bar()

    def _screen_render_nav_bar(self) -> None:
        self._refresh_pad(self._nav_bar_pad, 0, 0, self._nav_bar_row, 0, self._nav_bar_row, self._max_x - 1)

    def _display_main_menu(self, output: RichTextLines) -> None:
        menu = output.annotations.get(MAIN_MENU_KEY)
        self._main_menu = None
        self._output_top_row = self._main_menu_row
        if menu is not None:
            self._main_menu = menu.format_as_single_line(prefix="| ", divider=" | ", enabled_item_attrs=["underline"])
            self._main_menu_pad, _ = self._screen_display_output(self._main_menu)
            self._output_top_row += 1
            self._screen_render_menu_pad()

    def _screen_render_menu_pad(self) -> None:
        self._refresh_pad(self._main_menu_pad, 0, 0, self._main_menu_row, 0, self._main_menu_row, self._max_x - 1)

    def _scroll_output(self, direction: str, line_index: int | None = None) -> None:
        """Go up or down in what is shown."""
        if self._output_pad is None:
            return
        last, page = max(self._output_num_rows - 1, 0), self._max_y - 6
        row = {
            _SCROLL_REFRESH: self._output_pad_row,
            _SCROLL_UP: self._output_pad_row - page,
            _SCROLL_DOWN: self._output_pad_row + page,
            _SCROLL_UP_A_LINE: self._output_pad_row - 1,
            _SCROLL_DOWN_A_LINE: self._output_pad_row + 1,
            _SCROLL_HOME: 0,
            _SCROLL_END: last,
            _SCROLL_TO_LINE_INDEX: line_index,
        }.get(direction)
        if row is None:
            raise ValueError(f"There is no way to scroll {direction!r} to {line_index!r}")
        if direction == _SCROLL_TO_LINE_INDEX and not 0 <= row <= last:
            raise ValueError(f"There is no line {row} to scroll to")
        self._output_pad_row = min(max(row, 0), last)
        if self._nav_history.size():
            self._nav_history.update_scroll_position(self._output_pad_row)
        self._screen_scroll_output_pad(
            self._output_pad, self._output_pad_row, 0, self._output_top_row, 0, self._output_scroll_row, self._max_x - 2
        )
        bar = self._scroll_bar()
        if bar is not None:
            self._scroll_bar_shown(bar)
        self._scroll_info = self._compile_ui_status_summary()
        self._screen_draw_text_line(self._output_scroll_row, self._scroll_info, color=self._STATUS_BAR_COLOR_PAIR)

    def _scroll_bar(self) -> ScrollBar | None:
        top, bottom = self._output_top_row, self._output_scroll_row - 1
        if bottom - top < 3 or self._curr_wrapped_output is None:
            return None
        return ScrollBar(
            *(self._max_x - 2, top, self._max_x - 1, bottom), self._output_pad_row, max(self._output_num_rows, 0)
        )

    def _scroll_bar_shown(self, bar: ScrollBar) -> None:
        """The bar at the right edge, where there is a terminal."""
        if hasattr(self, "_stdscr"):
            for row, line in enumerate(bar.layout().lines):
                attr = self._attributes(bar.layout().font_attr_segs.get(row, [(0, 0, None)])[0][2])
                self._addstr(self._output_top_row + row, self._max_x - 2, line, attr)

    def _compile_ui_status_summary(self) -> str:
        """How far the output is scrolled, what elements are at its edges, and whether the mouse is heard."""
        info, row, last = "", self._output_pad_row, self._output_num_rows - 1
        if last > 0:
            ways = "PgDn" if row == 0 else "PgUp" if row == last else "PgDn/PgUp"
            info = f"--- Scroll ({ways}): {100.0 * row / last:.2f}% "
        places = self._show_array_indices()
        if places:
            info += "-".join(self._format_indices(places[key]) if places[key] else "" for key in (0, -1)) + " "
        mouse = f" Mouse: {'ON' if self._mouse_enabled else 'OFF'} ---"
        room = self._max_x + 1 - len(info) - len(mouse)
        return info + "-" * room + mouse if room > 0 else info.ljust(self._max_x, "-")

    def _show_array_indices(self) -> dict[int, list[int] | None] | None:
        """{0: the place of the first element on the screen, -1: that of the last line}, with words about them there."""
        shown = {key: self._show_array_index_at_line(line) for key, line in ((0, 0), (-1, self._output_array_rows))}
        return shown if any(shown.values()) else None

    def _show_array_index_at_line(self, line_index: int) -> list[int] | None:
        annotations = self._curr_wrapped_output.annotations if self._curr_wrapped_output else {}
        place = annotations.get(self._output_pad_row + line_index, {})
        place = place.get(tensor_format.BEGIN_INDICES_KEY) if isinstance(place, dict) else None
        if place is None:
            return None
        self._toast(
            self.TENSOR_INDICES_NAVIGATION_PREFIX + self._format_indices(place),
            color=self._ARRAY_INDICES_COLOR_PAIR,
            line_index=self._output_top_row + line_index,
        )
        return place

    def _format_indices(self, indices: Sequence[int]) -> str:
        return repr(indices).replace(" ", "")

    def _toast(self, message: str, color: str | None = None, line_index: int | None = None) -> None:
        """Words over the last line of what is shown, or over another line."""
        row = self._toast_row if line_index is None else line_index
        pad, _ = self._screen_display_output(
            RichTextLines(message, font_attr_segs={0: [(0, len(message), color or "white")]})
        )
        self._screen_scroll_output_pad(pad, 0, 0, row, 0, row, min(len(message), self._max_x - 2))

    def _error_toast(self, message: str) -> None:
        self._toast(self.ERROR_MESSAGE_PREFIX + message, color=self._ERROR_TOAST_COLOR_PAIR)

    def _info_toast(self, message: str) -> None:
        self._toast(self.INFO_MESSAGE_PREFIX + message, color=self._INFO_TOAST_COLOR_PAIR)
