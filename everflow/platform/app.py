"""tf.app: the entry point of a program, `tf.app.run(main)`."""

from __future__ import annotations

import sys

from absl import app as _absl_app
from absl import logging as _absl_logging

from everflow.platform import flags
from everflow.platform import logging as _logging  # its logger has to be there before absl's


def _is_new(record):
    """Whether absl's handler should write a record: not one that tf.logging has written to standard error itself, which
    would be there twice. Files of absl's get all of them.
    """
    logger = _logging.get_logger()
    is_terminal = _absl_logging.get_absl_handler().python_handler.stream in (sys.stderr, sys.__stderr__)
    return not (is_terminal and record.name == logger.name and logger.handlers)


def run(main=None, argv=None):
    """Parse flags, call `main` with the rest of the command line, and exit with what it returns. Flags that nobody defined
    are left in what main gets.

    Args:
        main: A function of the list of arguments; the `main` of the program itself if None.
        argv: The command line; `sys.argv` if None.

    Returns:
        Nothing; the program ends.

    Raises:
        SystemExit: With what `main` returned.

    Example:
        >>> def main(argv):
        ...     print("arguments:", argv[1:])
        >>> try:
        ...     tf.app.run(main, ["program", "data.csv"])
        ... except SystemExit as end:
        ...     print("ended with", end.code)
        arguments: ['data.csv']
        ended with None
    """
    _absl_logging.get_absl_handler().addFilter(_is_new)
    main = main or sys.modules["__main__"].main
    _absl_app.run(main=main, argv=argv, flags_parser=lambda args: flags.FLAGS(args, known_only=True))
