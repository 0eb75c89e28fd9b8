"""tensorflow.python.debug.cli.cli_config: settings of the debugger, which a file in the user's home keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from everflow.legacy.inner.debug.rich_text import RichLine as RL
from everflow.legacy.inner.debug.rich_text import RichTextLines, rich_text_lines_from_rich_line_list

_TRUE, _FALSE = ("true", "t", "yes", "y", "1", "on"), ("false", "f", "no", "n", "0", "off")


class CLIConfig:
    """The settings; a change is written to the file at once."""

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULT_CONFIG = [("graph_recursion_depth", 20), ("mouse_mode", True)]

    def __init__(self, config_file_path: str | None = None) -> None:
        self._config_file_path = config_file_path or self._default_config_file_path()
        self._config = {**dict(self._DEFAULT_CONFIG), **self._load_from_file()}
        self._callbacks: dict[str, Callable[[dict], Any]] = {}
        self._save_to_file()

    def _default_config_file_path(self) -> str:
        return os.path.join(os.path.expanduser("~"), self._CONFIG_FILE_NAME)

    def _load_from_file(self) -> dict[str, Any]:
        """What the file says; nothing where it can't be read, as after somebody wrote into it by hand."""
        try:
            with open(self._config_file_path) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def _save_to_file(self) -> None:
        try:
            with open(self._config_file_path, "w") as file:
                json.dump(self._config, file)
        except OSError:
            pass  # a home that can't be written to: the settings last as long as the program

    def _check(self, name: str) -> None:
        if name not in self._config:
            raise KeyError(f"{name!r} is no setting; there are {sorted(self._config)}")

    def get(self, property_name: str) -> Any:
        """A setting's value."""
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Give a setting a value of its type, also as text."""
        self._check(property_name)
        before = self._config[property_name]
        if isinstance(before, bool) and isinstance(property_val, str):
            if property_val.lower() not in _TRUE + _FALSE:
                raise ValueError(f"{property_name} is on or off, not {property_val!r}")
            property_val = property_val.lower() in _TRUE
        self._config[property_name] = type(before)(property_val)
        self._save_to_file()
        if property_name in self._callbacks:
            self._callbacks[property_name](self._config)

    def set_callback(self, property_name: str, callback: Callable[[dict], Any]) -> None:
        """Have a function called with all settings when this one is set."""
        self._check(property_name)
        if not callable(callback):
            raise TypeError(f"a function is wanted, not {callback!r}")
        self._callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """A line for each setting; `highlight` is one that stands out."""
        lines = [RL("Command-line configuration:", "bold"), RL("")]
        for name, value in self._config.items():
            stands_out = "bold" if name == highlight else None
            line = RL("  ") + RL(name, ["underline", stands_out]) + RL(": ")
            lines.append(line + RL(str(value), font_attr=stands_out))
        return rich_text_lines_from_rich_line_list(lines)
