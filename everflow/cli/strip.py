"""Cut a GraphDef down to what is between inputs and outputs; --optimize also folds what only training needs.

everflow strip frozen.pb --inputs x --outputs y --to small.pb
"""

from __future__ import annotations

import argparse
import sys

from everflow.framework.dtypes import as_dtype
from everflow.protos.graph_pb2 import GraphDef
from everflow.tools.graph_files import comma_separated, read_message, write_message
from everflow.tools.optimize_for_inference import optimize_for_inference
from everflow.tools.strip_unused import strip_unused

USAGE = "everflow strip GRAPH --inputs NODE ... --outputs NODE ... --to FILE [--dtype TYPE[,TYPE]] [--optimize]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help="a GraphDef file, .pb or .pbtxt")
    parser.add_argument(
        "--inputs", required=True, nargs="+", help="the nodes to become placeholders, separated by spaces or commas"
    )
    parser.add_argument(
        "--outputs", required=True, nargs="+", help="the nodes that are wanted, separated by spaces or commas"
    )
    parser.add_argument("--to", required=True, metavar="FILE", help="where to write, .pb or .pbtxt")
    parser.add_argument("--dtype", default="float32", help="the type of the inputs, or one for each")
    parser.add_argument("--optimize", action="store_true", help="fold batch normalization, drop identities and checks")


def main(args: argparse.Namespace) -> int:
    try:
        graph_def = read_message(args.graph, GraphDef, not args.graph.endswith("txt"))
        types = [int(as_dtype(name)) for name in comma_separated(args.dtype)]
        work = optimize_for_inference if args.optimize else strip_unused
        inputs, outputs = (comma_separated(",".join(words)) for words in (args.inputs, args.outputs))
        made = work(graph_def, inputs, outputs, types[0] if len(types) == 1 else types)
        write_message(args.to, made, not args.to.endswith("txt"))
    except (OSError, ValueError, KeyError, AssertionError, TypeError) as e:
        print(f"everflow strip: {e}", file=sys.stderr)
        return 1
    print(f"{len(made.node)} of {len(graph_def.node)} nodes in {args.to}")
    return 0
