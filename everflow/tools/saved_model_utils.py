"""What is in a SavedModel: its tag sets and meta graphs."""

from __future__ import annotations

from everflow.saved_model.loader import parse_saved_model
from everflow.tools.graph_files import comma_separated


def read_saved_model(saved_model_dir):
    """The SavedModel proto of a folder."""
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir):
    """[[tag, …]] of all meta graphs, in order."""
    return [list(graph.meta_info_def.tags) for graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir, tag_set):
    """The meta graph of a comma-separated set of tags; RuntimeError where there is none."""
    wanted = set(comma_separated(tag_set))
    for graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel {saved_model_dir}"
    )
