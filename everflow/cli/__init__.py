"""The `everflow` command. Each subcommand is a module here with `add_arguments(parser)` and `main(args)`."""

from __future__ import annotations

import argparse
import importlib

from everflow.version import EVERFLOW_VERSION, VERSION

# Subcommand, what it does.
COMMANDS = {
    "run": "run a program, with everflow as its tensorflow",
    "profile": "run a program, and say where the time of its input pipelines goes",
    "inspect": "say what a checkpoint, SavedModel, graph, TensorFlow Lite model, event file or TFRecord file holds",
    "freeze": "make one graph of a model, with its variables as constants",
    "tflite": "convert a model to TensorFlow Lite",
    "strip": "cut a graph down to what is between inputs and outputs",
}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="everflow", description=f"Everflow {EVERFLOW_VERSION}: TensorFlow {VERSION} programs on today's Python."
    )
    parser.add_argument("--version", action="version", version=f"everflow {EVERFLOW_VERSION} (TensorFlow {VERSION})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
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
    args = parser.parse_args(argv)
    return args.main(args) or 0
