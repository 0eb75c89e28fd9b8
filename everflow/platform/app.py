"""tf.app: the entry point of a program, `tf.app.run(main)`."""

from __future__ import annotations

import sys

from absl import app as _absl_app

from everflow.platform import flags
from everflow.platform import logging as _logging  # noqa: F401  its logger has to be there before absl's


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
    main = main or sys.modules["__main__"].main
    _absl_app.run(main=main, argv=argv, flags_parser=lambda args: flags.FLAGS(args, known_only=True))
