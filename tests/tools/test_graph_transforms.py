"""Transforms keep values, and do what their names say; parsing of their parameters."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.tools.graph_transforms import TRANSFORMS, TransformGraph, parse_transforms


@pytest.fixture(scope="module")
def model():
    """(graph, an image, what comes out)"""
    rng = np.random.RandomState(1)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 8, 8, 2], name="x")
        kernel = tf.constant(rng.randn(3, 3, 2, 4).astype(np.float32), name="kernel")
        y = tf.nn.convolution(x, kernel * 0.5, "SAME", dilation_rate=[2, 2])
        y = tf.identity(y * [1.0, 2.0, 3.0, 4.0])
        with tf.control_dependencies([tf.no_op(name="before")]):
            y = y + tf.constant([1.0] * 4, name="one") - tf.constant([1.0] * 4, name="same")
        tf.nn.relu(y, name="y")
        tf.exp(x, name="unused")
    graph_def = graph.as_graph_def()
    image = rng.randn(1, 8, 8, 2)
    return graph_def, image, _value(graph_def, image)


def _value(graph_def, image):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run("y:0", {"x:0": image})


PARAMETERS = {
    "rename_op": "(old_op_name=Relu, new_op_name=Relu)",
    "rename_node": "(old_node_name=one, new_node_name=uno)",
    "remove_attribute": "(attribute_name=_output_shapes)",
    "rename_attribute": "(old_attribute_name=none, new_attribute_name=nothing)",
    "remove_nodes": "(op=Identity)",
    "round_weights": "(num_steps=100000)",
}


@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_values_stay(model, name):
    graph_def, image, expected = model
    before = graph_def.SerializeToString(deterministic=True)
    made = TransformGraph(graph_def, ["x"], ["y"], [name + PARAMETERS.get(name, "")])
    np.testing.assert_allclose(_value(made, image), expected, atol=1e-2 if name == "round_weights" else 1e-4)
    assert graph_def.SerializeToString(deterministic=True) == before


def test_all_together(model):
    graph_def, image, expected = model
    made = TransformGraph(
        graph_def,
        ["x"],
        ["y"],
        ["strip_unused_nodes remove_nodes(op=Identity) fold_constants(ignore_errors=true)", "flatten_atrous_conv", "fold_constants",
         "fold_batch_norms", "remove_control_dependencies", "merge_duplicate_nodes", "strip_unused_nodes", "sort_by_execution_order"],
    )  # fmt: skip
    assert sorted(n.op for n in made.node) == ["AddV2", "Const", "Const", "Conv2D", "Placeholder", "Relu", "Sub"]
    np.testing.assert_allclose(_value(made, image), expected, atol=1e-4)


def test_parsing():
    assert parse_transforms('a b(x=1, x=2, y="2,3") c()') == [
        ("a", {}),
        ("b", {"x": ["1", "2"], "y": ["2,3"]}),
        ("c", {}),
    ]
    for wrong in ("a((", "a(x)", "a(x=1", "1"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            parse_transforms(wrong)
