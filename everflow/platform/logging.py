"""tf.logging: the "tensorflow" logger of Python's logging, with TensorFlow 1's functions and levels."""

from __future__ import annotations

import functools
import itertools
import logging as _logging
import sys
import threading
from collections import defaultdict

from everflow.framework.forking import renewed

DEBUG = _logging.DEBUG
ERROR = _logging.ERROR
FATAL = _logging.FATAL
INFO = _logging.INFO
WARN = _logging.WARN

_lock = renewed(threading.Lock())
_calls: defaultdict[tuple, itertools.count] = defaultdict(itertools.count)


class _StderrHandler(_logging.StreamHandler):
    """Writes to whatever sys.stderr is at that moment, so that redirecting it works."""

    def __init__(self):
        _logging.Handler.__init__(self)

    @property
    def stream(self):
        return sys.stderr


@functools.cache
def get_logger() -> _logging.Logger:
    """The logger behind this module; it writes to stderr unless the program has set up logging itself.

    Returns:
        A `logging.Logger`.

    Example:
        >>> tf.get_logger().name
        'tensorflow'
    """
    logger = _logging.getLogger("tensorflow")
    if not logger.handlers and not _logging.getLogger().handlers:
        handler = _StderrHandler()
        handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


def log(level, msg, *args, **kwargs):
    """Log `msg % args` at a level.

    Args:
        level: `tf.logging.DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`.
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.log(tf.logging.INFO, "step %d", 3)
    """
    _emit(level, msg, args, kwargs)


def debug(msg, *args, **kwargs):
    """Log `msg % args` for whoever looks for a mistake.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.debug("step %d: loss %.2f", 3, 0.25)
    """
    _emit(DEBUG, msg, args, kwargs)


def info(msg, *args, **kwargs):
    """Log `msg % args` to tell how things go.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.info("step %d: loss %.2f", 3, 0.25)
    """
    _emit(INFO, msg, args, kwargs)


def warn(msg, *args, **kwargs):
    """Log `msg % args` as a warning.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.warn("step %d: loss %.2f", 3, 0.25)
    """
    _emit(WARN, msg, args, kwargs)


def warning(msg, *args, **kwargs):
    """Log `msg % args` as a warning.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.warning("step %d: loss %.2f", 3, 0.25)
    """
    _emit(WARN, msg, args, kwargs)


def error(msg, *args, **kwargs):
    """Log `msg % args` as an error.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.error("step %d: loss %.2f", 3, 0.25)
    """
    _emit(ERROR, msg, args, kwargs)


def fatal(msg, *args, **kwargs):
    """Log at the highest level. The program goes on.

    Args:
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.fatal("step %d: loss %.2f", 3, 0.25)
    """
    _emit(FATAL, msg, args, kwargs)


def vlog(level, msg, *args, **kwargs):
    """Log at a level given as a number; as TensorFlow 1 has it, the number is one of Python's levels.

    Args:
        level: The number.
        msg: The text, with `%s` and the like for what follows.
        *args: What fills the text in.
        **kwargs: What Python's `logging` takes.

    Returns:
        None.

    Example:
        >>> tf.logging.vlog(1, "step %d", 3)
    """
    _emit(level, msg, args, kwargs)


def TaskLevelStatusMessage(msg):
    """Log a message about the whole task, as an error.

    Args:
        msg: The text, with `%s` and the like for what follows.

    Returns:
        None.

    Example:
        >>> tf.logging.TaskLevelStatusMessage("ready")
    """
    _emit(ERROR, msg, (), {})


def _emit(level, msg, args, kwargs):
    # Two frames up is whoever called the public function.
    kwargs.setdefault("stacklevel", 3)
    get_logger().log(level, msg, *args, **kwargs)


def _times_called() -> int:
    """How often the calling line's function has been called from there before."""
    frame = sys._getframe(2)
    with _lock:
        return next(_calls[frame.f_code.co_filename, frame.f_lineno])


def log_every_n(level, msg, n, *args):
    """Log at the first and every n-th call from the same line.

    Args:
        level: `tf.logging.DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`.
        msg: The text, with `%s` and the like for what follows.
        n: How many calls.
        *args: What fills the text in.

    Returns:
        None.

    Example:
        >>> for step in range(4):
        ...     tf.logging.log_every_n(tf.logging.INFO, "step %d", 2, step)
    """
    if _times_called() % n == 0:
        _emit(level, msg, args, {})


def log_first_n(level, msg, n, *args):
    """Log at the first n calls from the same line.

    Args:
        level: `tf.logging.DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`.
        msg: The text, with `%s` and the like for what follows.
        n: How many calls.
        *args: What fills the text in.

    Returns:
        None.

    Example:
        >>> for step in range(4):
        ...     tf.logging.log_first_n(tf.logging.INFO, "step %d", 2, step)
    """
    if _times_called() < n:
        _emit(level, msg, args, {})


def log_if(level, msg, condition, *args):
    """Log where the condition holds.

    Args:
        level: `tf.logging.DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`.
        msg: The text, with `%s` and the like for what follows.
        condition: Whether.
        *args: What fills the text in.

    Returns:
        None.

    Example:
        >>> tf.logging.log_if(tf.logging.INFO, "step %d", True, 3)
    """
    if condition:
        _emit(level, msg, args, {})


def flush():
    """Have what was logged written out.

    Returns:
        None.

    Example:
        >>> tf.logging.flush()
    """
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity():
    """The lowest level that is logged.

    Returns:
        A number.

    Example:
        >>> tf.logging.get_verbosity() in (tf.logging.DEBUG, tf.logging.INFO, tf.logging.WARN, tf.logging.ERROR)
        True
    """
    return get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Log messages of level `v` and above; `v` is a number or a name such as "DEBUG".

    Args:
        v: The level.

    Returns:
        None.

    Example:
        >>> before = tf.logging.get_verbosity()
        >>> tf.logging.set_verbosity(tf.logging.ERROR)
        >>> tf.logging.info("not shown")
        >>> tf.logging.set_verbosity(before)
    """
    get_logger().setLevel(v)


get_logger()  # before the program sets up the root logger: both then show what is logged, as in TensorFlow 1
