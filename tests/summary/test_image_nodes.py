"""The nodes of image summaries."""

import everflow as tf


def test_the_default_color_is_written_as_the_op_definition_has_it():
    with tf.Graph().as_default() as graph:
        tf.summary.image("x", tf.zeros([1, 2, 2, 3]))
    (node,) = [n for n in graph.as_graph_def().node if n.op == "ImageSummary"]
    color = node.attr["bad_color"].tensor
    assert list(color.int_val) == [255, 0, 0, 255] and not color.tensor_content
