"""Graphs as short texts: a line for each node, with its inputs, the marks of clusters and its device."""

import everflow as tf

_MARKS = {
    "_tpu_replicate": "cluster",
    "_xla_outside_compilation": "outside",
    "_tpu_output_identity": "out",
    "_tpu_input_identity": "in",
}


def drawn(build):
    """What `build()` adds to a graph."""
    with tf.Graph().as_default() as graph:
        build()
    lines = []
    for node in graph.as_graph_def().node:
        marks = "".join(f" {word}" for mark, word in sorted(_MARKS.items()) if mark in node.attr)
        place = f" @{node.device}" if node.device else ""
        lines.append(f"{node.name} {node.op}({', '.join(node.input)}){marks}{place}")
    return lines


def expected(text):
    """The lines of a golden text."""
    return text.strip().splitlines()


def placeholder(*shape):
    return tf.placeholder(tf.float32, shape, name="x")
