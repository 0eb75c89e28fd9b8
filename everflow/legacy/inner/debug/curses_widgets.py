"""tensorflow.python.debug.cli.curses_widgets, and `ScrollBar` of curses_ui: parts of a screen of text."""

from __future__ import annotations

from typing import Any

from everflow.legacy.inner.debug import cli_shared
from everflow.legacy.inner.debug.rich_text import MenuItem, RichTextLines, rich_text_lines_from_rich_line_list

RL = cli_shared.RL
# What one can ask of a screen that is larger than the terminal.
_SCROLL_UP, _SCROLL_UP_A_LINE, _SCROLL_DOWN, _SCROLL_DOWN_A_LINE = "up", "up_a_line", "down", "down_a_line"


class NavigationHistoryItem:
    """A command, what it showed, and how far down that one had gone."""

    def __init__(self, command: str, screen_output: RichTextLines, scroll_position: int) -> None:
        self.command = command
        self.screen_output = screen_output
        self.scroll_position = scroll_position


class CursesNavigationHistory:
    """The screens that were seen last, to go back to and forward again."""

    BACK_ARROW_TEXT, FORWARD_ARROW_TEXT = "<--", "-->"

    def __init__(self, capacity: int) -> None:
        if capacity <= 0:
            raise ValueError(f"A history holds one screen at least, not {capacity}")
        self._capacity = capacity
        self._items: list[NavigationHistoryItem] = []
        self._pointer = -1

    def add_item(self, command: str, screen_output: RichTextLines, scroll_position: int) -> None:
        """Put a screen behind the one that is seen; those that came after that one are forgotten."""
        added = NavigationHistoryItem(command, screen_output, scroll_position)
        self._items = [*self._items[: self._pointer + 1], added][-self._capacity :]
        self._pointer = len(self._items) - 1

    def update_scroll_position(self, new_scroll_position: int) -> None:
        """Keep how far down the screen that is seen is."""
        if not self._items:
            raise ValueError("There is no screen in the history")
        self._items[self._pointer].scroll_position = new_scroll_position

    def size(self) -> int:
        """How many screens there are."""
        return len(self._items)

    def pointer(self) -> int:
        """The number of the one that is seen."""
        return self._pointer

    def go_back(self) -> NavigationHistoryItem:
        """The screen before; the first one again where there is none."""
        return self._go(-1)

    def go_forward(self) -> NavigationHistoryItem:
        """The screen after; the last one again where there is none."""
        return self._go(1)

    def _go(self, step: int) -> NavigationHistoryItem:
        if not self._items:
            raise ValueError("There is no screen in the history")
        self._pointer = min(max(self._pointer + step, 0), len(self._items) - 1)
        return self._items[self._pointer]

    def can_go_back(self) -> bool:
        """Whether there is a screen before."""
        return self._pointer >= 1

    def can_go_forward(self) -> bool:
        """Whether there is a screen after."""
        return self._pointer + 1 < len(self._items)

    def render(
        self,
        max_length: int,
        backward_command: str,
        forward_command: str,
        latest_command_attribute: Any = "black_on_white",
        old_command_attribute: Any = "magenta_on_white",
    ) -> RichTextLines:
        """A line with arrows to click at, and the command whose screen is seen."""
        back = MenuItem("", backward_command) if self.can_go_back() else None
        forward = MenuItem("", forward_command) if self.can_go_forward() else None
        line = RL("| ") + RL(self.BACK_ARROW_TEXT, back) + " " + RL(self.FORWARD_ARROW_TEXT, forward)
        if self._items:
            line += " | "
            command = self._items[self._pointer].command
            behind = len(self._items) - 1 - self._pointer
            attribute = old_command_attribute if behind else latest_command_attribute
            if behind:
                line += RL(f"(-{behind}) ", attribute)
            room = max_length - len(line)
            if room > 0:
                line += RL(command[:room], attribute)
        return rich_text_lines_from_rich_line_list([line])


class ScrollBar:
    """A bar beside a screen: how far down one is, and what a click on it does."""

    BASE_ATTR = cli_shared.COLOR_BLACK + "_on_" + cli_shared.COLOR_WHITE

    def __init__(
        self, min_x: int, min_y: int, max_x: int, max_y: int, scroll_position: int, output_num_rows: int
    ) -> None:
        if max_y - min_y < 3:
            raise ValueError(f"Four lines are wanted for a bar at least, not {max_y - min_y + 1}")
        self._min_y, self._max_y = min_y, max_y
        self._width = max_x - min_x + 1
        self._position, self._rows = scroll_position, output_num_rows

    def _block_y(self, screen_coord_sys: bool = False) -> int:
        """The line of the block that shows where one is, in the bar or on the screen."""
        row = 1 + int(self._position / (self._rows - 1) * (self._max_y - self._min_y - 2))
        return row + self._min_y if screen_coord_sys else row

    def layout(self) -> RichTextLines:
        """The bar's lines."""
        lines = [RL(" " * self._width) for _ in range(self._max_y - self._min_y + 1)]
        if self._rows > 1:
            for row, text in ((0, "UP"), (-1, "DN"), (self._block_y(), "")):
                lines[row] = RL(text.ljust(self._width), self.BASE_ATTR)
        return rich_text_lines_from_rich_line_list(lines)

    def get_click_command(self, mouse_y: int) -> str | None:
        """What a click on a line asks for."""
        if self._rows <= 1 or not self._min_y <= mouse_y <= self._max_y:
            return None
        if mouse_y == self._min_y:
            return _SCROLL_UP_A_LINE
        if mouse_y == self._max_y:
            return _SCROLL_DOWN_A_LINE
        block = self._block_y(screen_coord_sys=True)
        if mouse_y == block:
            return None
        return _SCROLL_DOWN if mouse_y > block else _SCROLL_UP
