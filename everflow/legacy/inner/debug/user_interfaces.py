"""tensorflow.python.debug.cli's `base_ui`, `readline_ui` and `ui_factory`: what reads commands and shows what they give."""

from __future__ import annotations

import argparse
import importlib.util
import readline
import sys
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework.errors import OpError
from everflow.legacy.inner.debug import cli_config, command_parser
from everflow.legacy.inner.debug.commands import (
    CommandHandlerRegistry,
    CommandHistory,
    CommandLineExit,
    TabCompletionRegistry,
)
from everflow.legacy.inner.debug.rich_text import RichTextLines

USER_LEFT = "explicit_user_exit"


class BaseUI:
    """Commands by their names and completions of what is typed; what it looks like is up to classes below."""

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None) -> None:
        self._on_ui_exit = on_ui_exit
        self._config = config or cli_config.CLIConfig()
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        self._tab_completion_registry.register_tab_comp_context(
            [""],
            [
                *self.CLI_EXIT_COMMANDS,
                CommandHandlerRegistry.HELP_COMMAND,
                *CommandHandlerRegistry.HELP_COMMAND_ALIASES,
            ],
        )
        self._config_argparser = self._parser_of_settings()
        self.register_command_handler(
            "config", self._config_command_handler, self._config_argparser.format_help(), prefix_aliases=["cfg"]
        )

    @staticmethod
    def _parser_of_settings() -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(description="Show settings and change them.", usage=argparse.SUPPRESS)
        kinds = parser.add_subparsers(dest="action")
        setting = kinds.add_parser("set")
        setting.add_argument("property_name", type=str)
        setting.add_argument("property_value", type=str)
        kinds.add_parser("show")
        return parser

    @property
    def config(self) -> Any:
        """The settings."""
        return self._config

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """What `help` begins with."""
        self._command_handler_registry.set_help_intro(help_intro=help_intro)

    def register_command_handler(
        self, prefix: str, handler: Callable, help_info: str, prefix_aliases: Sequence[str] | None = None
    ) -> None:
        """A command, and the function that gives its lines."""
        self._command_handler_registry.register_command_handler(
            prefix, handler, help_info, prefix_aliases=prefix_aliases
        )
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, *args: Any, **kwargs: Any) -> None:
        """What can follow after some words."""
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Follow commands until one ends it; what that one says is returned."""
        raise NotImplementedError("a user interface says how it runs")

    def _parse_command(self, command: str) -> tuple[str, list[str], str | None]:
        """(name, arguments, the file that the lines go to)"""
        words = command_parser.parse_command(command.strip())
        if not words:
            return "", [], None
        words, path = command_parser.extract_output_file_path(words)
        return words[0], words[1:], path

    def _analyze_tab_complete_input(self, text: str) -> tuple[str, str, str]:
        """(the command that is typed, the beginning of a word to complete, what stands before that)"""
        text = text.lstrip()
        before, space, word = text.rpartition(" ")
        return (before.split(" ")[0] if space else "", word, before + space)

    def _config_command_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The command `config`."""
        given = self._config_argparser.parse_args(args)
        if given.action == "set":
            self._config.set(given.property_name, given.property_value)
            return self._config.summarize(highlight=given.property_name)
        return self._config.summarize()


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
    if not (sys.stdin.isatty() and sys.stdout.isatty() and importlib.util.find_spec("_curses")):
        return ReadlineUI
    from everflow.legacy.inner.debug.curses_ui import CursesUI  # builds on this module

    return CursesUI


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
