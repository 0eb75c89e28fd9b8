"""Freeze a model: one GraphDef, with the variables as constants.

everflow freeze export --outputs y --to frozen.pb
everflow freeze model-1000 --outputs y --to frozen.pb
everflow freeze model-1000 --graph graph.pbtxt --outputs y --to frozen.pb
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from everflow.saved_model.loader import maybe_saved_model_directory
from everflow.tools.freeze_graph import freeze_graph
from everflow.train.checkpoint_state import latest_checkpoint

USAGE = "everflow freeze MODEL --outputs NODE ... --to FILE [--graph FILE] [--tags TAGS]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help="a SavedModel's folder, a checkpoint, or a folder of checkpoints"
    )
    parser.add_argument(
        "--outputs", required=True, nargs="+", help="the nodes that are wanted, separated by spaces or commas"
    )
    parser.add_argument("--to", required=True, metavar="FILE", help="where to write the frozen graph")
    parser.add_argument(
        "--graph", metavar="FILE", help="the graph of a checkpoint (.pb or .pbtxt); its .meta file where not given"
    )
    parser.add_argument("--tags", default="serve", help="the tags of a SavedModel's graph, separated by commas")


def main(args: argparse.Namespace) -> int:
    options: dict[str, Any] = {
        "input_saver": "",
        "restore_op_name": "",
        "filename_tensor_name": "",
        "initializer_nodes": "",
    }
    options |= {"output_node_names": ",".join(args.outputs), "output_graph": args.to, "clear_devices": True}
    graph, meta, checkpoint, folder = "", "", "", ""
    if maybe_saved_model_directory(args.model):
        folder = args.model
    else:
        checkpoint = latest_checkpoint(args.model) if os.path.isdir(args.model) else args.model.removesuffix(".index")
        if checkpoint is None:
            print(f"everflow freeze: {args.model} holds neither a SavedModel nor a checkpoint", file=sys.stderr)
            return 1
        graph, meta = args.graph or "", "" if args.graph else checkpoint + ".meta"
    try:
        source = {"input_graph": graph, "input_binary": not graph.endswith("txt"), "input_meta_graph": meta}
        source |= {"input_checkpoint": checkpoint, "input_saved_model_dir": folder, "saved_model_tags": args.tags}
        made = freeze_graph(**source, **options)
    except (OSError, ValueError, AssertionError, RuntimeError) as e:
        print(f"everflow freeze: {e}", file=sys.stderr)
        return 1
    print(f"{len(made.node)} nodes, {os.path.getsize(args.to):,} bytes in {args.to}")
    return 0
