"""Say what a file or folder holds: a checkpoint, SavedModel, graph, TensorFlow Lite model, event file, TFRecords.

everflow inspect model-1000
everflow inspect model-1000 --tensor net/weights
everflow inspect export
everflow inspect logs --json
everflow inspect --plan graph.pb --fetch y:0 --feed x:0
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rich import box
from rich.table import Table

from everflow.cli import terminal
from everflow.framework.errors import OpError
from everflow.tools import descriptions

USAGE = "everflow inspect [--json] (PATH [--tensor NAME] | --plan GRAPH --fetch TENSOR ... [--feed TENSOR ...])"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="what to look into; a checkpoint by its name without .index"
    )
    parser.add_argument("--tensor", metavar="NAME", help="print the value of one tensor of a checkpoint")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--plan", metavar="GRAPH", help="a GraphDef or MetaGraphDef whose plan to show")
    parser.add_argument("--fetch", nargs="+", default=[], metavar="TENSOR", help="what the plan's run is asked for")
    parser.add_argument("--feed", nargs="+", default=[], metavar="TENSOR", help="what it is fed")


def main(args: argparse.Namespace) -> int:
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
        said = e.args[0] if isinstance(e, KeyError) else getattr(e, "message", e)
        print(f"everflow inspect: {' '.join(str(said).split())}", file=sys.stderr)
        return 1
    if args.json:
        print(_json(args.path or args.plan, parts))
    else:
        show(parts)
    return 0


def show(parts: list[Any]) -> None:
    """Print the parts of a description, numbers to the right."""
    console = terminal.console(markup=False)
    for i, part in enumerate(parts):
        shown = part if isinstance(part, str) else _table(part)
        console.print(*([""] if i else []), shown, sep="\n", soft_wrap=isinstance(part, str))


def _table(part: Any) -> Table:
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i, name in enumerate(part.header):
        numbers = bool(part.rows) and all(isinstance(row[i], int) for row in part.rows)
        made.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in part.rows:
        made.add_row(*(f"{cell:,}" if isinstance(cell, int) else f"{cell}" for cell in row))
    return made


def _json(path: str, parts: list[Any]) -> str:
    """The same for programs: texts, and tables as rows of {column: value}."""
    made = [
        {"text": part} if isinstance(part, str) else {"rows": [dict(zip(part.header, row)) for row in part.rows]}
        for part in parts
    ]
    return json.dumps({"path": path, "parts": made}, indent=1)
