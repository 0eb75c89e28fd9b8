"""The `everflow` command. Each subcommand is a module here with `add_arguments(parser)` and `main(args)`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Collection

from everflow.version import EVERFLOW_VERSION, VERSION

# Subcommand, what it does.
COMMANDS = {
    "run": "run a program, with everflow as its tensorflow",
    "launch": "run a program as the processes of a cluster on this machine",
    "profile": "run a program, and say where the time of its input pipelines goes",
    "new": "write a program to begin with",
    "inspect": "say what a checkpoint, SavedModel, graph, TensorFlow Lite model, event file or TFRecord file holds",
    "plot": "draw the curves of a log folder",
    "freeze": "make one graph of a model, with its variables as constants",
    "tflite": "convert a model to TensorFlow Lite",
    "strip": "cut a graph down to what is between inputs and outputs",
    "shim": "let plain python find everflow as tensorflow, in this virtual environment",
    "kernel": "let Jupyter run notebooks with everflow as their tensorflow",
    "doctor": "say what this machine has, and what is missing for what",
    "completion": "print what makes a shell complete this command",
}


def parser_of(names: Collection[str]) -> argparse.ArgumentParser:
    """The parser of the command line, with all about the named subcommands: what is not named need not be loaded."""
    parser = argparse.ArgumentParser(
        prog="everflow", description=f"Everflow {EVERFLOW_VERSION}: TensorFlow {VERSION} programs on today's Python."
    )
    parser.add_argument("--version", action="version", version=f"everflow {EVERFLOW_VERSION} (TensorFlow {VERSION})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if name not in names:
            commands.add_parser(name, help=summary)
            continue
        module = importlib.import_module(f"{__name__}.{name}")
        command = commands.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            usage=getattr(module, "USAGE", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(main=module.main)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    args = parser_of(argv[:1]).parse_args(argv)
    try:
        return args.main(args) or 0
    except BrokenPipeError:
        # Whoever read what is printed has seen enough, as `head` does; Python's own last flush must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
