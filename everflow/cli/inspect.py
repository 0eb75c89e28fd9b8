"""Say what a file or folder holds: a checkpoint, SavedModel, graph, TensorFlow Lite model, event file, TFRecords.

everflow inspect model-1000
everflow inspect model-1000 --tensor net/weights
everflow inspect export
everflow inspect --plan graph.pb --fetch y:0 --feed x:0
"""

from __future__ import annotations

import argparse
import sys

from everflow.framework.errors import OpError

USAGE = "everflow inspect (PATH [--tensor NAME] | --plan GRAPH --fetch TENSOR ... [--feed TENSOR ...])"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="what to look into; a checkpoint by its name without .index"
    )
    parser.add_argument("--tensor", metavar="NAME", help="print the value of one tensor of a checkpoint")
    parser.add_argument("--plan", metavar="GRAPH", help="a GraphDef or MetaGraphDef whose plan to show")
    parser.add_argument("--fetch", nargs="+", default=[], metavar="TENSOR", help="what the plan's run is asked for")
    parser.add_argument("--feed", nargs="+", default=[], metavar="TENSOR", help="what it is fed")


def main(args: argparse.Namespace) -> int:
    from everflow.tools import descriptions  # loads google_crc32c

    if bool(args.path) == bool(args.plan) or (args.plan and not args.fetch):
        print(f"usage: {USAGE}", file=sys.stderr)
        return 2
    try:
        if args.plan:
            parts = descriptions.plan(args.plan, args.fetch, args.feed)
        elif args.tensor:
            parts = descriptions.tensor(args.path, args.tensor)
        else:
            parts = descriptions.describe(args.path)
    except (OSError, ValueError, KeyError, OpError) as e:
        print(
            f"everflow inspect: {e.args[0] if isinstance(e, KeyError) else getattr(e, 'message', e)}", file=sys.stderr
        )
        return 1
    show(parts)
    return 0


def show(parts: list) -> None:
    """Print the parts of a description; tables fit the terminal, and where there is none, each row is one line."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = sys.maxsize
    for i, part in enumerate(parts):
        console.print(*([""] if i else []), part, sep="\n", soft_wrap=isinstance(part, str))
