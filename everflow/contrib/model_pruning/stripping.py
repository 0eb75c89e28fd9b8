"""A pruned model without what pruning needed: masks multiplied into the weights once and for all."""

from __future__ import annotations

from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import convert_variables_to_constants, extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos import graph_pb2
from everflow.runtime.session import Session
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.importing import import_meta_graph


def graph_def_from_checkpoint(checkpoint_dir, output_node_names):
    """The graph of the latest checkpoint in a folder, as far as the outputs need it, with variables as constants."""
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with Graph().as_default() as graph, Session(graph=graph) as sess:
        import_meta_graph(path + ".meta", clear_devices=True).restore(sess, path)
        return convert_variables_to_constants(sess, graph.as_graph_def(), output_node_names)


def strip_pruning_vars_fn(input_graph_def, output_node_names):
    """A frozen graph in which each masked weight is one constant.

    >>> frozen = tf.contrib.model_pruning.graph_def_from_checkpoint("logs", ["logits"])
    >>> small = tf.contrib.model_pruning.strip_pruning_vars_fn(frozen, ["logits"])
    """
    masked = [node.name for node in input_graph_def.node if node.op == "Mul" and "masked_weight" in node.name]
    with Graph().as_default() as graph, Session(graph=graph) as sess:
        import_graph_def(input_graph_def, name="")
        values = dict(zip(masked, sess.run([name + ":0" for name in masked])))
    stripped = graph_pb2.GraphDef(library=input_graph_def.library, versions=input_graph_def.versions)
    for node in input_graph_def.node:
        made = stripped.node.add()
        if node.name in values:
            made.name, made.op = node.name, "Const"
            made.attr["dtype"].CopyFrom(node.attr["T"])
            made.attr["value"].tensor.CopyFrom(make_tensor_proto(values[node.name]))
        else:
            made.CopyFrom(node)
    return extract_sub_graph(stripped, output_node_names)
