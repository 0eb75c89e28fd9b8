"""tensorflow.python.debug.cli's `base_ui`, `readline_ui` and `ui_factory`: what reads commands and shows what they give."""

from __future__ import annotations

import readline
import sys
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.errors import OpError
from everflow.legacy.inner.debug.base_ui import USER_LEFT, BaseUI
from everflow.legacy.inner.debug.commands import CommandHistory, CommandLineExit
from everflow.legacy.inner.debug.curses_ui import CursesUI
from everflow.legacy.inner.debug.rich_text import RichTextLines


class ReadlineUI(BaseUI):
    """Commands at a terminal, line by line."""

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None) -> None:
        super().__init__(on_ui_exit=on_ui_exit, config=config)
        self._history = CommandHistory()
        self._init_input()

    def _init_input(self) -> None:
        readline.set_completer(self._readline_complete)
        readline.set_completer_delims("\n")
        readline.parse_and_bind("tab: complete")

    def _readline_complete(self, text: str, state: int) -> str | None:
        """The completion of this number."""
        context, word, before = self._analyze_tab_complete_input(text)
        found, _ = self._tab_completion_registry.get_completions(context, word)
        full = [before + one for one in found or ()]
        return f"{full[state]} " if state < len(full) else None

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Follow commands until one ends it; what that one says is returned."""
        print(title)
        left = self._dispatch_command(init_command) if init_command is not None else None
        token = self._ui_loop() if left is None else left
        if self._on_ui_exit:
            self._on_ui_exit()
        return token

    def _ui_loop(self) -> Any:
        token = None
        while token is None:
            token = self._dispatch_command(self._get_user_command())
        return token

    def _get_user_command(self) -> str:
        return input(self.CLI_PROMPT).strip()

    def _dispatch_command(self, command: str) -> Any:
        """Follow one command; what it says where it ends the session, else None."""
        if command in self.CLI_EXIT_COMMANDS:
            return USER_LEFT
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            print(error)
            return None
        if not self._command_handler_registry.is_registered(prefix):
            self._display_output(RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"']))
            return None
        try:
            shown = self._command_handler_registry.dispatch_command(prefix, args, screen_info=None)
        except CommandLineExit as left:
            return left.exit_token if left.exit_token is not None else USER_LEFT
        self._display_output(shown)
        if path:
            try:
                shown.write_to_file(path)
                print(f"Wrote output to {path}")
            except (OSError, OpError) as error:
                print(f"{path} can't be written: {error}")
        return None

    def _display_output(self, screen_output: RichTextLines) -> None:
        for line in screen_output.lines:
            print(line)


# What somebody may ask for.
SUPPORTED_UI_TYPES = ("curses", "readline")


def _curses_ui() -> type[BaseUI]:
    """Screens of text where there is a terminal to draw them on; commands line by line elsewhere."""
    return CursesUI if sys.stdin.isatty() and sys.stdout.isatty() else ReadlineUI


def get_ui(
    ui_type: str,
    on_ui_exit: Callable[[], Any] | None = None,
    available_ui_types: Sequence[str] | None = None,
    config: Any = None,
) -> BaseUI:
    """A user interface of a type."""
    if available_ui_types is not None and ui_type not in available_ui_types or ui_type not in SUPPORTED_UI_TYPES:
        raise ValueError(f"{ui_type!r} is no user interface here; there are {sorted(SUPPORTED_UI_TYPES)}")
    kind = _curses_ui() if ui_type == "curses" else ReadlineUI
    return kind(on_ui_exit=on_ui_exit, config=config)
