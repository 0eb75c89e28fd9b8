"""Commands of tensorflow.python.debug.cli.debugger_cli_common: who answers which, how they are completed, and those that
were given before.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from everflow.legacy.inner.debug.rich_text import (  # noqa: F401  The module's other names are handed on from here.
    INIT_SCROLL_POS_KEY,
    MAIN_MENU_KEY,
    REGEX_MATCH_LINES_KEY,
    Menu,
    MenuItem,
    RichLine,
    RichTextLines,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)
from everflow.version import VERSION

EXPLICIT_USER_EXIT = "explicit_user_exit"
HELP_INDENT = "  "


class CommandLineExit(Exception):
    """Raised by a command that ends the session; the token says how."""

    def __init__(self, exit_token: Any = None) -> None:
        super().__init__()
        self._exit_token = exit_token

    exit_token = property(lambda self: self._exit_token)


def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    """Which version this is, and which of what it needs."""
    lines = [f"TensorFlow version: {VERSION}", ""]
    if include_dependency_versions:
        lines += ["Needed by it:", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


class CommandHandlerRegistry:
    """Who answers which command: functions of the words behind it, which give text."""

    HELP_COMMAND, HELP_COMMAND_ALIASES = "help", ["h"]
    VERSION_COMMAND, VERSION_COMMAND_ALIASES = "version", ["ver"]

    def __init__(self) -> None:
        self._handlers: dict[str, Callable] = {}
        self._aliases: dict[str, list[str]] = {}
        self._prefixes: dict[str, str] = {}  # alias → command
        self._help: dict[str, str] = {}
        self._intro: RichTextLines | None = None
        self.register_command_handler(
            self.HELP_COMMAND, self._help_handler, "Say what commands do.", prefix_aliases=self.HELP_COMMAND_ALIASES
        )
        self.register_command_handler(
            self.VERSION_COMMAND,
            self._version_handler,
            "Say which versions these are.",
            prefix_aliases=self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(
        self, prefix: str, handler: Callable, help_info: str, prefix_aliases: Iterable[str] | None = None
    ) -> None:
        """Let `handler(argv, screen_info=...)` answer a command, also under other names."""
        if not prefix:
            raise ValueError("A command needs a name")
        if not callable(handler):
            raise ValueError(f"What answers {prefix!r} must be a function, not {handler!r}")
        if not isinstance(help_info, str):
            raise ValueError(f"The help of {prefix!r} must be text, not {help_info!r}")
        aliases = list(prefix_aliases or [])
        for name in [prefix, *aliases]:
            if self.is_registered(name):
                raise ValueError(f"There is a command {name!r} already")
        self._handlers[prefix], self._help[prefix], self._aliases[prefix] = handler, help_info, aliases
        self._prefixes.update(dict.fromkeys(aliases, prefix))

    def is_registered(self, prefix: str) -> bool:
        """Whether there is a command of a name."""
        return self._resolve_prefix(prefix) is not None

    def _resolve_prefix(self, token: str) -> str | None:
        return token if token in self._handlers else self._prefixes.get(token)

    def dispatch_command(self, prefix: str, argv: Any, screen_info: Any = None) -> RichTextLines | None:
        """What a command answers; where it fails, that it did."""
        if not prefix:
            raise ValueError("No command was given")
        command = self._resolve_prefix(prefix)
        if command is None:
            raise ValueError(f"There is no command {prefix!r}")
        try:
            output = self._handlers[command](argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:
            return RichTextLines([f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"'])
        except Exception as error:  # whatever goes wrong in a command is shown, and the next one can be typed
            first = f"Error occurred during handling of command: {prefix} {' '.join(argv)}:"
            lines = [first, f"{type(error)}: {error}", "", *traceback.format_exc().splitlines()]
            return RichTextLines(lines)
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(f"The command {prefix!r} must give RichTextLines or None, not a {type(output).__name__}")
        return output

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """What comes before the help of all commands."""
        self._intro = help_intro

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        """The help of a command, or of all."""
        if cmd_prefix:
            return RichTextLines(self._get_help_for_command_prefix(cmd_prefix))
        found = RichTextLines([])
        if self._intro is not None:
            found.extend(self._intro)
        for prefix in sorted(self._handlers):
            found.extend(RichTextLines([*self._get_help_for_command_prefix(prefix), "", ""]))
        return found

    def _get_help_for_command_prefix(self, cmd_prefix: str) -> list[str]:
        command = self._resolve_prefix(cmd_prefix)
        if command is None:
            return [f'Invalid command prefix: "{cmd_prefix}"']
        aliases = [f"{HELP_INDENT}Aliases: {', '.join(self._aliases[command])}"] if self._aliases[command] else []
        return [command, *aliases, "", *(HELP_INDENT + line for line in self._help[command].split("\n"))]

    def _help_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["help takes one command, or none"])
        return self.get_help(args[0] if args else None)

    def _version_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        return get_tensorflow_version_lines(include_dependency_versions=True)


class TabCompletionRegistry:
    """What a word can be completed to, by the word before it."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}  # contexts that were registered together share a list

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """Give words after which there are completions, and these."""
        for what, value in (("context_words", context_words), ("comp_items", comp_items)):
            if not isinstance(value, list):
                raise TypeError(f"{what} must be a list, not a {type(value).__name__}")
        self._items.update(dict.fromkeys(context_words, sorted(comp_items)))

    def deregister_context(self, context_words: list[str]) -> None:
        """Have no completions after these words any more."""
        for word in context_words:
            if word not in self._items:
                raise KeyError(f"There are no completions after {word!r}")
        for word in context_words:
            del self._items[word]

    def extend_comp_items(self, context_word: str, new_comp_items: list[str]) -> None:
        """Have more completions after a word, and the words that go with it."""
        self._known(context_word).extend(new_comp_items)
        self._known(context_word).sort()

    def remove_comp_items(self, context_word: str, comp_items: list[str]) -> None:
        """Have some completions no longer; ValueError where one isn't there."""
        known = self._known(context_word)
        for item in comp_items:
            known.remove(item)

    def _known(self, context_word: str) -> list[str]:
        if context_word not in self._items:
            raise KeyError(f"There are no completions after {context_word!r}")
        return self._items[context_word]

    def get_completions(self, context_word: str, prefix: str) -> tuple[list[str] | None, str | None]:
        """(completions that begin so, what they have in common); None twice after a word that isn't known."""
        if context_word not in self._items:
            return None, None
        matches = sorted(item for item in self._items[context_word] if item.startswith(prefix))
        return matches, self._common_prefix(matches)

    def _common_prefix(self, m: list[str]) -> str:
        return os.path.commonprefix(m)


class CommandHistory:
    """The commands that were given last, which a file keeps."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None) -> None:
        self._limit = limit
        self._path = history_file_path or self._get_default_history_file_path()
        self._commands: list[str] = []
        if os.path.isfile(self._path):
            with open(self._path) as file:
                self._commands = file.read().splitlines()[-limit:]
            self._write("w", self._commands)

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _write(self, mode: str, commands: list[str]) -> None:
        with open(self._path, mode) as file:
            file.writelines(f"{command}\n" for command in commands)

    def add_command(self, command: str) -> None:
        """Take a command down, unless it is the same as the last one."""
        if not isinstance(command, str):
            raise TypeError(f"A command is text, not {command!r}")
        if self._commands and command == self._commands[-1]:
            return
        self._commands = [*self._commands, command][-self._limit :]
        self._write("a", [command])

    def most_recent_n(self, n: int) -> list[str]:
        """The last n commands."""
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        """The last n commands that begin so."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]
