"""What the commands of tensorflow.python.debug.cli.analyzer_cli are called and what they take."""

from __future__ import annotations

import argparse
from typing import Any

from everflow.legacy.inner.debug import command_parser

# parser: (command, its short name, the analyzer's method)
COMMANDS = {
    "list_tensors": ("list_tensors", "lt", "list_tensors"),
    "node_info": ("node_info", "ni", "node_info"),
    "list_inputs": ("list_inputs", "li", "list_inputs"),
    "list_outputs": ("list_outputs", "lo", "list_outputs"),
    "print_tensor": ("print_tensor", "pt", "print_tensor"),
    "print_source": ("print_source", "ps", "print_source"),
    "list_source": ("list_source", "ls", "list_source"),
    "eval": ("eval", "ev", "evaluate_expression"),
}


def _argument(*flags: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return flags, options


def _text(*flags: str, help: str, default: str = "") -> tuple[tuple[str, ...], dict[str, Any]]:
    return flags, {"type": str, "default": default, "help": help}


def _switch(*flags: str, help: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return flags, {"action": "store_true", "help": help, **options}


_NODE = _argument("node_name", type=str, help="which node; a tensor's name stands for its node")
_WALKING = [
    _switch("-c", "--control", help="with control edges, too"),
    _argument("-d", "--depth", type=int, help="how deep to go, together with -r"),
    _switch("-r", "--recursive", help="neighbours of neighbours, too"),
    _switch("-t", "--op_type", help="with op types"),
    _NODE,
]
_TABLE = {
    "list_tensors": (
        "List the tensors that a run dumped.",
        [
            _text("-f", "--tensor_filter", help="only those that pass this filter"),
            _text(
                "-fenn", "--filter_exclude_node_names", help="nodes that the filter leaves out, as a regular expression"
            ),
            _text("-n", "--node_name_filter", help="only of nodes whose names match"),
            _text("-t", "--op_type_filter", help="only of nodes whose op types match"),
            _text(
                "-s",
                "--sort_by",
                default="timestamp",
                help="what they are sorted by: timestamp, dump_size, op_type or tensor_name",
            ),
            _switch("-r", "--reverse", help="the last one first"),
        ],
    ),
    "node_info": (
        "Tell about a node.",
        [
            _NODE,
            _switch("-a", "--attributes", help="with its attributes"),
            _switch("-d", "--dumps", help="with its dumps"),
            _switch("-t", "--traceback", help="with the lines that made it"),
        ],
    ),
    "list_inputs": ("List the inputs of a node.", _WALKING),
    "list_outputs": ("List what uses a node.", _WALKING),
    "list_source": (
        "List the files that made nodes.",
        [
            _text("-p", "--path_filter", help="only files whose paths match"),
            _text("-n", "--node_name_filter", help="count only nodes whose names match"),
        ],
    ),
    "print_source": (
        "Print a file with what its lines made.",
        [
            _argument("source_file_path", type=str, help="which file"),
            _switch("-t", "--tensors", help="dumped tensors rather than nodes"),
            _argument(
                "-m", "--max_elements_per_line", type=int, default=10, help="how many of them to tell of a line at most"
            ),
            _argument("-b", "--line_begin", type=int, default=1, help="the line to show first"),
        ],
    ),
    "eval": (
        "Evaluate an expression of numpy, with dumped tensors in backticks.",
        [
            _argument("expression", type=str, help="such as: np.mean(`layer/MatMul:0`)"),
            _switch("-a", "--all", dest="print_all", help="print all of the value"),
            _argument("-w", "--write_path", default="", help="write the value to a numpy file"),
        ],
    ),
}


def build_parsers(depth: int) -> dict[str, argparse.ArgumentParser]:
    """A parser for the words behind each command; `depth` is how deep trees go unless one says."""
    made = {"print_tensor": command_parser.get_print_tensor_argparser("Print the value of a dumped tensor.")}
    for name, (description, arguments) in _TABLE.items():
        made[name] = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
        for flags, options in arguments:
            made[name].add_argument(
                *flags, **{"default": depth} if "-d" in flags and "type" in options else {}, **options
            )
    return made
