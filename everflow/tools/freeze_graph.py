"""Turn a graph and a checkpoint, or a SavedModel, into one GraphDef with the variables as constants.

python -m everflow.tools.freeze_graph --input_graph=G.pbtxt --input_checkpoint=model-100 --output_node_names=y
--output_graph=frozen.pb
"""

from __future__ import annotations

import argparse

from everflow.framework import raw_ops as raw
from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import convert_variables_to_constants
from everflow.framework.importer import import_graph_def
from everflow.ops.control_flow.grouping import group
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.saver_pb2 import SaverDef
from everflow.runtime.session import Session
from everflow.saved_model.loader import load
from everflow.tools.graph_files import add_flags, comma_separated, copy_graph, read_message, write_message
from everflow.tools.saved_model_utils import get_meta_graph_def
from everflow.train.checkpoint_reader import NewCheckpointReader
from everflow.train.checkpoint_state import checkpoint_exists
from everflow.train.importing import import_meta_graph
from everflow.train.saver import Saver

_VARIABLE_LISTS = ("variable_names_whitelist", "variable_names_blacklist")
# What both functions below take, from the checkpoint to the flags of freezing, and after the meta graph.
_COMMON = """input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph, clear_devices,
    initializer_nodes, variable_names_whitelist="", variable_names_blacklist="" """


@takes(
    f"""input_graph_def, input_saver_def, {_COMMON}, input_meta_graph_def=None, input_saved_model_dir=None,
    saved_model_tags=None, checkpoint_version=2"""
)
def freeze_graph_with_def_protos(input_graph_def, input_meta_graph_def, input_checkpoint, output_node_names, **options):
    """As `freeze_graph`, from messages in memory. `restore_op_name` and `filename_tensor_name` have no use any more."""
    input_saved_model_dir, clear_devices = options["input_saved_model_dir"], options["clear_devices"]
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint or ""):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("output_node_names is empty: name the nodes whose values are wanted, separated by commas.")
    if clear_devices:
        input_graph_def = _without_devices(input_graph_def)
        if input_meta_graph_def is not None:
            copied = MetaGraphDef()
            copied.CopyFrom(input_meta_graph_def)
            copied.graph_def.CopyFrom(_without_devices(copied.graph_def))
            input_meta_graph_def = copied
    with Graph().as_default() as graph, Session(graph=graph) as sess:
        if input_meta_graph_def is not None:
            import_meta_graph(input_meta_graph_def, clear_devices=clear_devices).restore(sess, input_checkpoint)
            source = input_meta_graph_def.graph_def
        elif input_saved_model_dir:
            load(sess, comma_separated(options["saved_model_tags"]), input_saved_model_dir)
            source = input_graph_def
        else:
            import_graph_def(input_graph_def, name="")
            saver_def, version = options["input_saver_def"], options["checkpoint_version"]
            if saver_def is not None:
                Saver(saver_def=saver_def, write_version=version).restore(sess, input_checkpoint)
            else:
                _restore_by_name(sess, input_checkpoint, version)
            if options["initializer_nodes"]:
                sess.run(comma_separated(options["initializer_nodes"]))
            source = input_graph_def
        lists = {name: comma_separated(options[name]) or None for name in _VARIABLE_LISTS}
        frozen = convert_variables_to_constants(sess, source, comma_separated(output_node_names), **lists)
    if options["output_graph"]:
        write_message(options["output_graph"], frozen)
        logging.info("%d ops in the final graph.", len(frozen.node))
    return frozen


def _without_devices(graph_def):
    if graph_def is None:
        return None
    cleared = copy_graph(graph_def)
    for node in cleared.node:
        node.device = ""
    return cleared


def _restore_by_name(sess, checkpoint, version):
    """Restore the variables of a graph that comes without a Saver: those whose names are in the checkpoint."""
    refs, assigns = {}, []
    for name in NewCheckpointReader(checkpoint).get_variable_to_shape_map():
        try:
            tensor = sess.graph.get_tensor_by_name(name + ":0")
        except KeyError:
            # Training state that this graph has no place for.
            continue
        if tensor.op.type == "VarHandleOp":
            (value,) = raw.RestoreV2(checkpoint, [name], [""], dtypes=[tensor.op.get_attr("dtype")])
            assigns.append(raw.AssignVariableOp(resource=tensor, value=value))
        elif tensor.op.type in ("Variable", "VariableV2"):
            refs[name] = tensor
    if assigns:
        sess.run(group(*assigns))
    if refs:
        Saver(var_list=refs, write_version=version).restore(sess, checkpoint)


@takes(
    f"""input_graph, input_saver, input_binary, {_COMMON}, input_meta_graph=None, input_saved_model_dir=None,
    saved_model_tags="serve", checkpoint_version=2"""
)
def freeze_graph(input_graph, input_saver, input_binary, input_meta_graph, **options):
    """The frozen GraphDef of a graph file, a meta graph or a SavedModel, written to `output_graph` where that is given.

    >>> freeze_graph("g.pb", "", True, "model-100", "y", "", "", "frozen.pb", True, "")
    """
    graph_def = meta_graph_def = saver_def = None
    if options["input_saved_model_dir"]:
        graph_def = get_meta_graph_def(options["input_saved_model_dir"], options["saved_model_tags"]).graph_def
    elif input_graph:
        graph_def = read_message(input_graph, GraphDef, input_binary)
    if input_meta_graph:
        meta_graph_def = read_message(input_meta_graph, MetaGraphDef, input_binary, "meta graph")
    if input_saver:
        saver_def = read_message(input_saver, SaverDef, input_binary, "saver")
    messages = {"input_saver_def": saver_def, "input_meta_graph_def": meta_graph_def}
    return freeze_graph_with_def_protos(input_graph_def=graph_def, **messages, **options)


def add_arguments(parser):
    """The flags of the command line."""
    add_flags(
        parser,
        """
        --input_graph              | text    | a GraphDef file
        --input_saver              | text    | a SaverDef file
        --input_checkpoint         | text    | a checkpoint
        --output_graph             | text    | where to write the frozen graph
        --output_node_names        | text    | the outputs, separated by commas
        --initializer_nodes        | text    | nodes to run before freezing, separated by commas
        --variable_names_whitelist | text    | freeze these variables only
        --variable_names_blacklist | text    | leave these variables as they are
        --input_meta_graph         | text    | a MetaGraphDef file, in place of --input_graph
        --input_saved_model_dir    | text    | a SavedModel, in place of --input_graph and --input_checkpoint
        --restore_op_name          | default="save/restore_all" | no use any more
        --filename_tensor_name     | default="save/Const:0"     | no use any more
        --saved_model_tags         | default="serve"            | the tags of the SavedModel's graph, separated by commas
        --checkpoint_version       | number  | 1 or 2
        --input_binary             | false   | whether the inputs are binary
        --clear_devices            | true    | whether to drop devices from nodes
        """,
        number={"type": int, "default": 2},
    )


def main(unused_args, flags):
    """Freeze what the flags name."""
    if flags.checkpoint_version not in (1, 2):
        raise ValueError(f"Invalid checkpoint version (must be '1' or '2'): {flags.checkpoint_version}")
    return freeze_graph(
        **{name: value for name, value in vars(flags).items() if name != "command" and not callable(value)}
    )


def run_main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    main(None, parser.parse_args())


if __name__ == "__main__":
    run_main()
