"""Messages that go to the log and into an event file at once, so that TensorBoard shows them beside the summaries."""

from __future__ import annotations

import time
from typing import Any

from everflow.platform import logging
from everflow.protos.event_pb2 import Event, LogMessage

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"

_LEVEL_PROTO_MAP = {
    DEBUG: LogMessage.DEBUGGING,
    INFO: LogMessage.INFO,
    WARN: LogMessage.WARN,
    ERROR: LogMessage.ERROR,
    FATAL: LogMessage.FATAL,
}
_PLATFORM_LOGGING_LEVEL_MAP = {
    DEBUG: logging.DEBUG,
    INFO: logging.INFO,
    WARN: logging.WARN,
    ERROR: logging.ERROR,
    FATAL: logging.FATAL,
}
_UNSET: Any = object()
# What goes into the file: the level from which on, and where to. None is a writer that wants nothing.
_state: dict[str, Any] = {"verbosity": WARN, "writer": _UNSET}


def set_summary_writer(summary_writer: Any) -> None:
    """Say which writer gets the messages; None: they only go to the log."""
    _state["writer"] = summary_writer


def _clear_summary_writer() -> None:
    _state["writer"] = _UNSET


def _check_verbosity(verbosity: str) -> None:
    if verbosity not in _LEVEL_PROTO_MAP:
        raise ValueError(f"{verbosity!r} is no level of messages: they are {', '.join(_LEVEL_PROTO_MAP)}")


def set_verbosity(verbosity: str) -> None:
    """Say from which level on messages go into the file."""
    _check_verbosity(verbosity)
    _state["verbosity"] = verbosity


def get_verbosity() -> str:
    """The level from which on messages go into the file."""
    return _state["verbosity"]


def log(level: str, message: str, *args: Any) -> None:
    """Log a message, `message % args`, and write it into the file where its level is high enough."""
    if _state["writer"] is _UNSET:
        raise RuntimeError("No writer is set: call set_summary_writer first, with None for no file at all")
    _check_verbosity(level)
    logging.log(_PLATFORM_LOGGING_LEVEL_MAP[level], message, *args)
    if _state["writer"] is None or _LEVEL_PROTO_MAP[level] < _LEVEL_PROTO_MAP[_state["verbosity"]]:
        return
    text = message % args if args else message
    held = LogMessage(level=_LEVEL_PROTO_MAP[level], message=text)
    _state["writer"].add_event(Event(wall_time=time.time(), log_message=held))


def debug(message: str, *args: Any) -> None:
    """Log at level DEBUG."""
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    """Log at level INFO."""
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    """Log at level WARN."""
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    """Log at level ERROR."""
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    """Log at level FATAL."""
    log(FATAL, message, *args)
