"""tf.contrib.copy_graph: operations and variables of one graph copied into another."""

from everflow.contrib.copy_graph.copying import copy_op_to_graph, copy_variable_to_graph, get_copied_op

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]
