"""Graphs of TensorFlow's first version, in which op types may be that later versions did away with. Their kernels are there
for the graphs in old files.
"""

import everflow as tf


def old_graph() -> tf.Graph:
    """A graph that was imported from a file without a version, and so is of the first."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(tf.GraphDef(), name="")
    return graph
