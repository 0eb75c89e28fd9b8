"""`tf.autograph`: Python's branches and loops over tensors become those of the graph."""

from everflow.autograph import experimental
from everflow.ops.autograph.public import set_verbosity, to_code, to_graph, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
