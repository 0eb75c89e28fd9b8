"""tensorflow.python.debug.cli.base_ui: what every user interface of the debugger has."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from everflow.legacy.inner.debug import cli_config, command_parser
from everflow.legacy.inner.debug.commands import CommandHandlerRegistry, TabCompletionRegistry
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
