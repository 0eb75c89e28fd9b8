"""The op that docs/adding-ops.md shows how to register: it builds, runs, has a gradient, and goes through a file."""

import pathlib
import re

import numpy as np

import everflow as tf

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "adding-ops.md"


def test_the_documents_own_op_works():
    section = DOCUMENT.read_text().split("## An op of your own")[1]
    (source,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    with tf.Graph().as_default() as graph:
        space = {}
        exec(source, space)
        y = space["y"]
        x = y.op.inputs[0]
        (dx,) = tf.gradients(y, x)
        assert y.shape.as_list() == [2]
        with tf.Session() as sess:
            value, slope = sess.run([y, dx])
        graph_def = graph.as_graph_def()
    np.testing.assert_allclose(value, 2.0 * np.tanh([0.5, -1.0]), rtol=1e-6)
    np.testing.assert_allclose(slope, 2.0 * (1.0 - np.tanh([0.5, -1.0]) ** 2), rtol=1e-5)
    with tf.Graph().as_default(), tf.Session() as sess:
        (again,) = tf.import_graph_def(graph_def, return_elements=["ScaledTanh:0"])
        np.testing.assert_array_equal(sess.run(again), value)
