"""tf.graph_util: changing GraphDefs for use without training."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.framework.graph_surgery import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)
from everflow.framework.importer import import_graph_def
