"""tensorflow.python.autograph.utils.ag_logging: what a conversion tells of itself, and how much."""

from __future__ import annotations

import os
import sys
from typing import Any

from everflow import logging
from everflow.ops.autograph.public import trace  # noqa: F401  a name of this module

VERBOSITY_VAR_NAME = "AUTOGRAPH_VERBOSITY"
DEFAULT_VERBOSITY = 0
verbosity_level: int | None = None  # what was set; before that the environment says it
echo_log_to_stdout = hasattr(sys, "ps1")


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Tell so much from here on, and print it as well if asked to."""
    global verbosity_level, echo_log_to_stdout
    verbosity_level, echo_log_to_stdout = level, alsologtostdout


def get_verbosity() -> int:
    """How much is told."""
    if verbosity_level is not None:
        return verbosity_level
    return int(os.getenv(VERBOSITY_VAR_NAME, DEFAULT_VERBOSITY))


def has_verbosity(level: int) -> bool:
    """Whether what is of this level is told."""
    return get_verbosity() >= level


def _output_to_stdout(msg: str, *args: Any, **kwargs: Any) -> None:
    print(msg % args)


def _tell(how: Any, word: str, msg: str, *args: Any, **kwargs: Any) -> None:
    how(msg, *args, **kwargs)
    if echo_log_to_stdout:
        _output_to_stdout(word + msg, *args)


def error(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Tell of an error."""
    if has_verbosity(level):
        _tell(logging.error, "ERROR: ", msg, *args, **kwargs)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Tell of something."""
    if has_verbosity(level):
        _tell(logging.info, "", msg, *args, **kwargs)


def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    """Warn of something."""
    _tell(logging.warn, "WARNING: ", msg, *args, **kwargs)
