"""write_graph."""

import os

from google.protobuf import text_format

import everflow as tf


def test_write_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 0.1], name="c")
    folder = str(tmp_path / "new" / "folder")
    path = tf.train.write_graph(graph, folder, "graph.pbtxt")
    assert path == os.path.join(folder, "graph.pbtxt")
    with open(path) as f:
        assert text_format.Parse(f.read(), tf.GraphDef()) == graph.as_graph_def()
    with open(tf.io.write_graph(graph.as_graph_def(), folder, "graph.pb", as_text=False), "rb") as f:
        assert tf.GraphDef.FromString(f.read()) == graph.as_graph_def()
